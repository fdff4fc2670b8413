// SPDX-License-Identifier: Apache-2.0
// The JSON header of a safetensors file: read without building a tree, so that a hostile header costs neither time nor
// memory.
#pragma once
#include <c10/core/ScalarType.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/checkpoint/safetensors.h"

namespace ordo {

// One element type of the format. F4 and F6 take less than a byte; those and types that LibTorch lacks have no `type`.
struct StoredType {
  std::string_view name;
  unsigned bits;
  std::optional<c10::ScalarType> type;
};
const StoredType* stored_type(std::string_view name);  // null: the format has none of this name
const StoredType* stored_type(c10::ScalarType type);   // null: the format cannot hold it

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;  // by their bytes
  std::map<std::string, std::string> metadata;
};
// Throws CheckpointError that begins with `what` (the file) unless the header is valid and its tensors cover
// `data_size` bytes exactly.
SafetensorsHeader parse_safetensors_header(std::string_view json, size_t data_size, std::string_view what);

// The header for these tensors, with its eight bytes of length before and padded so that the data begin at a multiple
// of eight.
std::string safetensors_header_text(const SafetensorsHeader& header);

}  // namespace ordo
