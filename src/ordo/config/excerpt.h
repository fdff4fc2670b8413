// SPDX-License-Identifier: Apache-2.0
// A line of a text with a caret under what is wrong in it.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ordo {

// A line as characters, so that columns are positions.
std::vector<std::string_view> characters_of(std::string_view line);

// "   14 |     tehta: 500000" and, in a second line, the caret and the hint; ends in a line break. `margin`: what
// stands before the line; `column`: from 1; `width`: how many characters are underlined, 0: the key or value there.
// Long lines are cut.
std::string excerpt(const std::string& margin, std::string_view line, int column, size_t width,
                    const std::string& hint);

}  // namespace ordo
