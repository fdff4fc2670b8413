// SPDX-License-Identifier: Apache-2.0
// The safetensors format: read through a map, written in one pass, checked to the byte. No code runs from such a file.
#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ordo/core/files.h"

namespace ordo {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

// One tensor's place in a file.
struct TensorInfo {
  std::string name, dtype;  // dtype as the file spells it: F32, BF16, …
  std::vector<int64_t> shape;
  size_t begin = 0, end = 0;  // bytes from the start of the data
};

class SafetensorsFile {
 public:
  // Throws CheckpointError that names the file and what is wrong: header, offsets, holes, overlaps, sizes, types.
  explicit SafetensorsFile(const fs::path& path);
  const std::vector<TensorInfo>& tensors() const { return tensors_; }  // in order of their bytes
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  bool has(std::string_view name) const;
  at::Tensor tensor(std::string_view name) const;  // a copy on the CPU; throws when absent or of a type LibTorch lacks
  uint64_t checksum(std::string_view name) const;  // XXH3 of the tensor's bytes in the file
  uint64_t header_checksum() const;                // XXH3 of everything before the data

 private:
  const TensorInfo& info(std::string_view name) const;  // throws when absent

  std::shared_ptr<MappedFile> file_;
  size_t data_begin_ = 0;
  std::vector<TensorInfo> tensors_;
  std::map<std::string, size_t, std::less<>> by_name_;
  std::map<std::string, std::string> metadata_;
};

NamedTensors all_tensors(const fs::path& path);  // of a file, in order of their bytes; copies on the CPU

struct TensorChecksum {
  std::string name;
  uint64_t xxh3;
};
struct SafetensorsSums {
  uint64_t header = 0;
  std::vector<TensorChecksum> tensors;
  size_t file_size = 0;
};
// Writes path (flushed to disk, not renamed), copying from any device. Two tensors that share memory are an
// ORDO_ASSERT: ties are resolved before.
SafetensorsSums write_safetensors(const fs::path& path, const NamedTensors& tensors,
                                  const std::map<std::string, std::string>& metadata);

}  // namespace ordo
