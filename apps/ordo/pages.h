// SPDX-License-Identifier: Apache-2.0
// The manual's pages about things that are no command and no key of a config.
#pragma once
#include <span>
#include <string_view>

namespace ordo::cli {

struct Page {
  std::string_view name, summary, text;
};
std::span<const Page> pages();

}  // namespace ordo::cli
