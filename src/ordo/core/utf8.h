// SPDX-License-Identifier: Apache-2.0
// UTF-8, one code point at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ordo {

struct CodePoint {
  char32_t value = 0;
  size_t bytes = 0;  // 0: what stands there is not valid UTF-8
};
CodePoint code_point_at(std::string_view bytes, size_t offset);

// The terminal columns of one code point: 0 for combining marks and controls, 2 for wide East Asian characters and
// emoji.
size_t columns_of(char32_t code);

}  // namespace ordo
