// SPDX-License-Identifier: Apache-2.0
// From a tree of nodes into structs, strictly.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ordo/config/config.h"
#include "ordo/config/node.h"

namespace ordo {

// Where a file's relative paths start: file as shown -> its folder. Files that are not listed: the current folder.
using Folders = std::map<std::string, std::filesystem::path>;

// Fills the structs behind `walk`; what is wrong goes to the problems. Returns the place of every given leaf and kind.
Sources read_into(const Node& root, const Walk& walk, const Folders& folders, Problems& problems);

}  // namespace ordo
