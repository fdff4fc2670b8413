// SPDX-License-Identifier: Apache-2.0
#include "ordo/checkpoint/safetensors.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

#include "ordo/checkpoint/guard.h"
#include "ordo/checkpoint/safetensors_header.h"
#include "ordo/core/errors.h"
#include "ordo/core/hash.h"
#include "ordo/ops/type_name.h"

namespace ordo {

namespace {

constexpr size_t kLengthBytes = 8, kLongestHeader = 100'000'000;

size_t header_length(const MappedFile& file, const std::string& what) {
  require<CheckpointError>(file.size() >= kLengthBytes, "{}: {} bytes are too few for a safetensors file", what,
                           file.size());
  uint64_t length = 0;
  for (size_t byte = kLengthBytes; byte-- > 0;) length = length << 8 | std::to_integer<uint64_t>(file.data()[byte]);
  require<CheckpointError>(length <= kLongestHeader, "{}: a header of {} bytes, expected at most {}", what, length,
                           kLongestHeader);
  require<CheckpointError>(length <= file.size() - kLengthBytes, "{}: a header of {} bytes in a file of {}", what,
                           length, file.size());
  return static_cast<size_t>(length);
}

// Ties are resolved before writing: bytes that two names share would be two tensors after reading.
void require_separate(const NamedTensors& tensors) {
  std::vector<std::pair<const char*, const char*>> ranges;
  for (const auto& [name, tensor] : tensors) {
    if (tensor.numel() == 0 || !tensor.is_contiguous()) continue;
    const auto* begin = static_cast<const char*>(tensor.const_data_ptr());
    ranges.emplace_back(begin, begin + tensor.nbytes());
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i) ORDO_ASSERT(ranges[i - 1].second <= ranges[i].first);
}

struct Outgoing {
  TensorInfo info;
  const at::Tensor* tensor;
};

// In the order of the file: by falling size of an element, so that each is aligned to its own type, then by name.
std::vector<Outgoing> lay_out(const NamedTensors& tensors, const std::string& what) {
  std::vector<Outgoing> out;
  for (const auto& [name, tensor] : tensors) {
    ORDO_ASSERT(tensor.defined() && name != "__metadata__");
    const StoredType* const type = stored_type(tensor.scalar_type());
    require<CheckpointError>(type != nullptr, "{}: tensor '{}' is of type {}, which safetensors cannot hold", what,
                             name, type_name(tensor.scalar_type()));
    out.push_back({{.name = name, .dtype = std::string(type->name), .shape = tensor.sizes().vec()}, &tensor});
  }
  std::sort(out.begin(), out.end(), [](const Outgoing& a, const Outgoing& b) {
    return std::forward_as_tuple(b.tensor->element_size(), a.info.name) <
           std::forward_as_tuple(a.tensor->element_size(), b.info.name);
  });
  size_t at = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    ORDO_ASSERT(std::none_of(out.begin() + static_cast<std::ptrdiff_t>(i) + 1, out.end(),
                             [&](const Outgoing& o) { return o.info.name == out[i].info.name; }));
    out[i].info.begin = at;
    out[i].info.end = at += out[i].tensor->nbytes();
  }
  return out;
}

std::string header_text(const std::vector<Outgoing>& tensors, const std::map<std::string, std::string>& metadata,
                        const std::string& what) {
  SafetensorsHeader header{.tensors = {}, .metadata = metadata};
  for (const Outgoing& out : tensors) header.tensors.push_back(out.info);
  try {
    return safetensors_header_text(header);
  } catch (const nlohmann::json::exception&) {
    throw CheckpointError(fmt::format("{}: a tensor's name or the metadata are not valid UTF-8", what));
  }
}

}  // namespace

SafetensorsFile::SafetensorsFile(const fs::path& path) {
  const std::string what = path.string();
  require_regular_file(path);
  file_ = with_checkpoint_errors([&] { return std::make_shared<MappedFile>(path); });
  const size_t length = header_length(*file_, what);
  data_begin_ = kLengthBytes + length;
  const std::string_view json(reinterpret_cast<const char*>(file_->data()) + kLengthBytes, length);
  SafetensorsHeader header = parse_safetensors_header(json, file_->size() - data_begin_, what);
  tensors_ = std::move(header.tensors);
  metadata_ = std::move(header.metadata);
  for (size_t i = 0; i < tensors_.size(); ++i) by_name_.emplace(tensors_[i].name, i);
}

bool SafetensorsFile::has(std::string_view name) const { return by_name_.contains(name); }

const TensorInfo& SafetensorsFile::info(std::string_view name) const {
  const auto found = by_name_.find(name);
  require<CheckpointError>(found != by_name_.end(), "{} has no tensor '{}'", file_->path().string(), name);
  return tensors_[found->second];
}

at::Tensor SafetensorsFile::tensor(std::string_view name) const {
  const TensorInfo& wanted = info(name);
  const StoredType& type = *stored_type(wanted.dtype);
  require<CheckpointError>(type.type.has_value(), "{}: tensor '{}' is of type {}, which LibTorch has not",
                           file_->path().string(), name, wanted.dtype);
  const bool truth = type.type == c10::ScalarType::Bool;  // read as numbers: a byte that is neither 0 nor 1 is no bool
  at::Tensor out;
  try {
    out = at::empty(wanted.shape, truth ? c10::ScalarType::Byte : *type.type);
  } catch (const c10::Error& error) {
    throw CheckpointError(fmt::format("{}: tensor '{}' cannot be made: {}", file_->path().string(), name,
                                      error.what_without_backtrace()));
  }
  if (wanted.end > wanted.begin)
    std::memcpy(out.mutable_data_ptr(), file_->data() + data_begin_ + wanted.begin, wanted.end - wanted.begin);
  return truth ? out.ne(0) : out;
}

uint64_t SafetensorsFile::checksum(std::string_view name) const {
  const TensorInfo& wanted = info(name);
  return hash_bytes(file_->data() + data_begin_ + wanted.begin, wanted.end - wanted.begin);
}

uint64_t SafetensorsFile::header_checksum() const { return hash_bytes(file_->data(), data_begin_); }

NamedTensors all_tensors(const fs::path& path) {
  const SafetensorsFile file(path);
  NamedTensors tensors;
  for (const TensorInfo& info : file.tensors()) tensors.emplace_back(info.name, file.tensor(info.name));
  return tensors;
}

SafetensorsSums write_safetensors(const fs::path& path, const NamedTensors& tensors,
                                  const std::map<std::string, std::string>& metadata) {
  const std::string what = path.string();
  require_separate(tensors);
  const std::vector<Outgoing> order = lay_out(tensors, what);
  const std::string header = header_text(order, metadata, what);
  require<CheckpointError>(header.size() - kLengthBytes <= kLongestHeader,
                           "{}: the names of {} tensors do not fit into a header", what, tensors.size());
  return with_checkpoint_errors([&] {
    SafetensorsSums sums{.header = hash_bytes(header.data(), header.size()), .tensors = {}, .file_size = header.size()};
    FileWriter writer(path);
    writer.write(header.data(), header.size());
    for (const Outgoing& out : order) {
      const at::Tensor bytes = out.tensor->detach().to(at::kCPU).contiguous();  // one at a time
      sums.tensors.push_back({out.info.name, hash_bytes(bytes.const_data_ptr(), bytes.nbytes())});
      writer.write(bytes.const_data_ptr(), bytes.nbytes());
      sums.file_size += bytes.nbytes();
    }
    writer.finish();
    return sums;
  });
}

}  // namespace ordo
