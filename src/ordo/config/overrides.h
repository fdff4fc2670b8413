// SPDX-License-Identifier: Apache-2.0
// `a.b.c=value` from the command line, as a last layer over the files.
#pragma once
#include <span>
#include <string>

#include "ordo/config/config.h"
#include "ordo/config/node.h"

namespace ordo {

// Broader keys first, else in their order: the last of several for one key wins. What is malformed goes to the
// problems.
void apply_overrides(Node& root, std::span<const std::string> overrides, Problems& problems);

}  // namespace ordo
