// SPDX-License-Identifier: Apache-2.0
// `a.b.c=value` from the command line, as a last layer over the files.
#pragma once
#include <functional>
#include <span>
#include <string>

#include "ordo/config/config.h"
#include "ordo/config/node.h"

namespace ordo {

// Broader keys first, else in their order: the last of several for one key wins. What is malformed goes to the
// problems. Overrides that are `left_to_others` are passed over.
void apply_overrides(Node& root, std::span<const std::string> overrides, Problems& problems,
                     const std::function<bool(const std::string&)>& left_to_others = {});
Source command_line(size_t override);  // the place of the override of this number, from 0

}  // namespace ordo
