// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/idx_file.h"

#include <ATen/ops/empty.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/core/errors.h"
#include "ordo/data/packed_file.h"

namespace ordo {

namespace {

constexpr uint64_t kMostIdx = 4'000'000'000;
constexpr size_t kIdxMagic = 4, kIdxSize = 4;

unsigned idx_byte(std::string_view bytes, size_t at) { return static_cast<unsigned char>(bytes[at]); }

void require_idx(std::string_view bytes, size_t dimensions, const std::string& file) {
  require<DataError>(!bytes.starts_with("\x1F\x8B"), "{} is gzip data; its name must end in .gz", file);
  require<DataError>(bytes.size() >= kIdxMagic && idx_byte(bytes, 0) == 0 && idx_byte(bytes, 1) == 0,
                     "{} is no IDX file: two zero bytes, a type and a number of dimensions are expected at its start",
                     file);
  constexpr unsigned kUnsignedByte = 0x08;
  require<DataError>(idx_byte(bytes, 2) == kUnsignedByte,
                     "{} has values of IDX type 0x{:02X}; only bytes (0x08) are read", file, idx_byte(bytes, 2));
  require<DataError>(idx_byte(bytes, 3) == dimensions, "{} has {} dimensions, expected {} ({})", file,
                     idx_byte(bytes, 3), dimensions, dimensions == 1 ? "labels" : "images, rows, columns");
  require<DataError>(bytes.size() >= kIdxMagic + kIdxSize * dimensions, "{} is cut off in its header", file);
}

at::Tensor read_idx(const fs::path& path, size_t dimensions) {
  const std::string bytes = read_packed(path, kMostIdx), file = path.string();
  require_idx(bytes, dimensions, file);
  const size_t header = kIdxMagic + kIdxSize * dimensions;
  const uint64_t values = bytes.size() - header;
  std::vector<int64_t> sizes;
  uint64_t claimed = 1;
  std::string shape;
  for (size_t from = kIdxMagic; from < header; from += kIdxSize) {
    const uint64_t size = idx_byte(bytes, from) << 24U | idx_byte(bytes, from + 1) << 16U |
                          idx_byte(bytes, from + 2) << 8U | idx_byte(bytes, from + 3);
    sizes.push_back(static_cast<int64_t>(size));
    shape += fmt::format("{}{}", shape.empty() ? "" : " x ", size);
    // Three sizes of 32 bits overflow 64: past the file's length they no longer matter.
    claimed = claimed > kMostIdx ? claimed : claimed * size;
  }
  require<DataError>(claimed > 0, "{} holds nothing: its header says {}", file, shape);
  require<DataError>(claimed == values,
                     "{}: its header says {} bytes of values, found {}; the file is damaged or cut off", file, shape,
                     values);
  const at::Tensor tensor = at::empty(sizes, at::kByte);
  std::memcpy(tensor.data_ptr(), bytes.data() + header, values);
  return tensor;
}

}  // namespace

at::Tensor read_idx_images(const fs::path& path) {
  constexpr size_t kCountRowsColumns = 3;
  return read_idx(path, kCountRowsColumns);
}

at::Tensor read_idx_labels(const fs::path& path) { return read_idx(path, 1); }

}  // namespace ordo
