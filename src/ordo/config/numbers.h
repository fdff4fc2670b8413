// SPDX-License-Identifier: Apache-2.0
// Numbers as YAML 1.2 writes them, and nothing else: no leading zeros, no hexadecimal, no separators, no NaN, no
// infinity.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ordo/config/fields.h"

namespace ordo {

template <class T>
struct Reading {
  std::optional<T> value;
  std::string hint;  // without a value: what to write instead, where that can be told
};

Reading<double> read_number(std::string_view text);
Reading<int64_t> read_whole(std::string_view text);  // also `1e3` and `2.0`, exactly
Reading<Quantity> read_quantity(std::string_view text, Units units);

}  // namespace ordo
