// SPDX-License-Identifier: Apache-2.0
// YAML text into a tree of nodes, through yaml-cpp's events: they alone show duplicate keys, quotes, places of keys and
// a second document.
#pragma once
#include <optional>
#include <string>

#include "ordo/config/config.h"
#include "ordo/config/node.h"

namespace ordo {

// The text as the parser wants it: no byte-order mark, lines ended by \n.
std::string plain_lines(std::string text);

// Nothing when the text is no YAML, with the reason added to the problems; other problems (a duplicate key, a tag) may
// be added too. The text must have passed plain_lines.
std::optional<Node> parse_yaml(const std::string& text, const std::string& file, Problems& problems);
// A single value of the command line: everything in it has the place `at`.
std::optional<Node> parse_value(const std::string& text, const Source& at, Problems& problems);

}  // namespace ordo
