// SPDX-License-Identifier: Apache-2.0
// Pieces of messages that several visitors share.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ordo/config/fields.h"

namespace ordo {

std::string shown(std::string_view text);      // short, without control characters: fit for a message
std::string range_text(const Limits& limits);  // "at least 1", "in [0, 1)"; "" without limits
bool in_range(double value, const Limits& limits);
std::string did_you_mean(std::string_view word,
                         const std::vector<std::string>& names);      // "did you mean 'rope'?", or ""
std::string child_path(std::string_view path, std::string_view key);  // "a" and "b" -> "a.b"
std::vector<std::string> names_of(const Kinds& kinds);
std::vector<std::string> names_of(Names names);
const KindInfo* find_kind(const Kinds& kinds, std::string_view kind);

}  // namespace ordo
