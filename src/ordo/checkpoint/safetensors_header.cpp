// SPDX-License-Identifier: Apache-2.0
#include "ordo/checkpoint/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "ordo/checkpoint/guard.h"
#include "ordo/core/errors.h"

namespace ordo {

namespace {

constexpr std::array kStoredTypes{StoredType{"F64", 64, c10::ScalarType::Double},
                                  StoredType{"I64", 64, c10::ScalarType::Long},
                                  StoredType{"U64", 64, c10::ScalarType::UInt64},
                                  StoredType{"C64", 64, c10::ScalarType::ComplexFloat},
                                  StoredType{"F32", 32, c10::ScalarType::Float},
                                  StoredType{"I32", 32, c10::ScalarType::Int},
                                  StoredType{"U32", 32, c10::ScalarType::UInt32},
                                  StoredType{"BF16", 16, c10::ScalarType::BFloat16},
                                  StoredType{"F16", 16, c10::ScalarType::Half},
                                  StoredType{"I16", 16, c10::ScalarType::Short},
                                  StoredType{"U16", 16, c10::ScalarType::UInt16},
                                  StoredType{"F8_E5M2", 8, c10::ScalarType::Float8_e5m2},
                                  StoredType{"F8_E4M3", 8, c10::ScalarType::Float8_e4m3fn},
                                  StoredType{"F8_E8M0", 8, c10::ScalarType::Float8_e8m0fnu},
                                  StoredType{"F8_E4M3FNUZ", 8, c10::ScalarType::Float8_e4m3fnuz},
                                  StoredType{"F8_E5M2FNUZ", 8, c10::ScalarType::Float8_e5m2fnuz},
                                  StoredType{"I8", 8, c10::ScalarType::Char},
                                  StoredType{"U8", 8, c10::ScalarType::Byte},
                                  StoredType{"BOOL", 8, c10::ScalarType::Bool},
                                  StoredType{"F6_E2M3", 6, std::nullopt},
                                  StoredType{"F6_E3M2", 6, std::nullopt},
                                  StoredType{"F4", 4, std::nullopt}};

constexpr size_t kDeepest = 100;       // levels of values under keys that the format does not know
constexpr size_t kMostNumbers = 1000;  // in a shape; no tensor has so many dimensions
constexpr std::string_view kMetadata = "__metadata__";

// Names, types and numbers of the file, cut to what a message can bear.
std::string shown(std::string_view text) {
  constexpr size_t kMost = 80;
  return printable(text, kMost);
}
std::string shape_shown(const TensorInfo& tensor) { return shown(fmt::format("[{}]", fmt::join(tensor.shape, ", "))); }

// Takes the parser's events one by one; every event that the format does not allow ends the parse with a reason.
class HeaderEvents final : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<TensorInfo> tensors;
  std::map<std::string, std::string> metadata;
  std::string problem;

  bool null() override {
    if (place_ == Place::root && key_ == kMetadata) return true;  // as the peer accepts
    return other_value("null");
  }
  bool boolean(bool) override { return other_value("true or false"); }
  bool number_integer(number_integer_t value) override {
    return other_value(fmt::format("{}", value));
  }  // called for negative ones only
  bool number_float(number_float_t, const string_t& text) override { return other_value(shown(text)); }
  bool binary(binary_t&) override { return other_value("binary data"); }
  bool number_unsigned(number_unsigned_t value) override {
    if (place_ != Place::shape && place_ != Place::offsets) return other_value(fmt::format("{}", value));
    numbers_.push_back(value);
    return numbers_.size() <= kMostNumbers ||
           stop(fmt::format("tensor '{}' has more than {} numbers in {}", shown(entry().name), kMostNumbers, key_));
  }
  bool string(string_t& value) override {
    if (place_ == Place::metadata)
      return metadata.emplace(key_, value).second ||
             stop(fmt::format("{} has the key '{}' twice", kMetadata, shown(key_)));
    if (place_ != Place::entry || key_ != "dtype") return other_value("text");
    return set_once(kDtype) && (entry().dtype = std::move(value), true);
  }
  bool start_object(size_t) override {
    switch (place_) {
      case Place::before:
        return go(Place::root);
      case Place::root:
        return key_ == kMetadata ? start_metadata() : start_entry();
      case Place::entry:
        return known_key() ? other_value("an object") : skip_deeper();
      case Place::skipped:
        return skip_deeper();
      default:
        return other_value("an object");
    }
  }
  bool end_object() override {
    if (place_ == Place::skipped) return skip_out();
    if (place_ == Place::entry && set_ != (kDtype | kShape | kOffsets))
      return stop(fmt::format("tensor '{}' lacks dtype, shape or data_offsets", shown(entry().name)));
    return go(place_ == Place::root ? Place::after : Place::root);
  }
  bool start_array(size_t) override {
    if (place_ == Place::skipped) return skip_deeper();
    if (place_ != Place::entry || key_ == "dtype") return other_value("a list");
    numbers_.clear();
    if (key_ == "shape") return set_once(kShape) && go(Place::shape);
    if (key_ == "data_offsets") return set_once(kOffsets) && go(Place::offsets);
    return skip_deeper();
  }
  bool end_array() override {
    if (place_ == Place::skipped) return skip_out();
    const bool kept = place_ == Place::shape ? keep_shape() : keep_offsets();
    return kept && go(Place::entry);
  }
  bool key(string_t& name) override {
    if (place_ != Place::skipped) key_ = std::move(name);
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: what was wrong; last read: 'all of it'"
    std::string_view text = error.what();
    text = text.substr(0, text.find("; last read"));
    const auto mark = text.find(": ");
    return stop(fmt::format("the header is not valid JSON at byte {}: {}", position,
                            shown(mark == std::string_view::npos ? text : text.substr(mark + 2))));
  }

 private:
  enum class Place { before, root, metadata, entry, shape, offsets, skipped, after };
  static constexpr unsigned kDtype = 1, kShape = 2, kOffsets = 4;

  TensorInfo& entry() { return tensors.back(); }
  bool known_key() const { return key_ == "dtype" || key_ == "shape" || key_ == "data_offsets"; }
  bool go(Place place) {
    place_ = place;
    return true;
  }
  bool stop(std::string why) {
    problem = std::move(why);
    return false;
  }
  // A value that only an unknown key may have.
  bool other_value(std::string_view what) {
    if (place_ == Place::skipped || (place_ == Place::entry && !known_key())) return true;
    switch (place_) {
      case Place::before:
        return stop(fmt::format("the header is {}, expected an object", what));
      case Place::root:
        return stop(fmt::format("'{}' is {}, expected an object", shown(key_), what));
      case Place::metadata:
        return stop(fmt::format("{} has {} under '{}', expected text", kMetadata, what, shown(key_)));
      default:
        return stop(fmt::format("tensor '{}' has {} in {}", shown(entry().name), what, key_));
    }
  }
  bool start_metadata() {
    return !std::exchange(seen_metadata_, true) ? go(Place::metadata)
                                                : stop(fmt::format("{} appears twice", kMetadata));
  }
  bool start_entry() {
    tensors.push_back({.name = key_});
    set_ = 0;
    return go(Place::entry);
  }
  bool set_once(unsigned field) {
    if ((set_ & field) != 0) return stop(fmt::format("tensor '{}' has {} twice", shown(entry().name), key_));
    set_ |= field;
    return true;
  }
  bool skip_deeper() {
    place_ = Place::skipped;
    return ++skipped_ <= kDeepest || stop(fmt::format("the header nests deeper than {} levels", kDeepest));
  }
  bool skip_out() {
    if (--skipped_ == 0) place_ = Place::entry;
    return true;
  }
  bool keep_shape() {
    for (const uint64_t size : numbers_) {
      if (size > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
        return stop(fmt::format("tensor '{}' has a size of {}", shown(entry().name), size));
      entry().shape.push_back(static_cast<int64_t>(size));
    }
    return true;
  }
  bool keep_offsets() {
    if (numbers_.size() != 2)
      return stop(fmt::format("tensor '{}' has {} data_offsets, expected 2", shown(entry().name), numbers_.size()));
    entry().begin = numbers_[0];
    entry().end = numbers_[1];
    return true;
  }

  Place place_ = Place::before;
  std::string key_;
  std::vector<uint64_t> numbers_;  // of the list being read
  unsigned set_ = 0;               // which fields the entry has
  size_t skipped_ = 0;             // depth under an unknown key
  bool seen_metadata_ = false;
};

// The bytes that a tensor takes; nothing when that overflows or is no whole number.
std::optional<size_t> bytes_of(const TensorInfo& tensor, unsigned bits) {
  if (std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end()) return 0;
  size_t total = bits;
  for (const int64_t size : tensor.shape)
    if (__builtin_mul_overflow(total, static_cast<size_t>(size), &total)) return std::nullopt;
  if (total % 8 != 0) return std::nullopt;
  return total / 8;
}

void check_tensor(const TensorInfo& tensor, std::string_view what) {
  const StoredType* const type = stored_type(tensor.dtype);
  require<CheckpointError>(type != nullptr, "{}: tensor '{}' has the unknown type '{}'", what, shown(tensor.name),
                           shown(tensor.dtype));
  const auto bytes = bytes_of(tensor, type->bits);
  require<CheckpointError>(bytes.has_value(), "{}: tensor '{}' of shape {} and type {} has no countable size", what,
                           shown(tensor.name), shape_shown(tensor), tensor.dtype);
  require<CheckpointError>(tensor.begin <= tensor.end && tensor.end - tensor.begin == *bytes,
                           "{}: tensor '{}' of shape {} and type {} needs {} bytes, its range is {} to {}", what,
                           shown(tensor.name), shape_shown(tensor), tensor.dtype, *bytes, tensor.begin, tensor.end);
}

void check_cover(const std::vector<TensorInfo>& tensors, size_t data_size, std::string_view what) {
  size_t at = 0;
  for (const TensorInfo& tensor : tensors) {
    require<CheckpointError>(tensor.begin == at, "{}: tensor '{}' begins at byte {} of the data, expected {}: {}", what,
                             shown(tensor.name), tensor.begin, at,
                             tensor.begin < at ? "it overlaps the one before" : "there is a hole before it");
    at = tensor.end;
  }
  require<CheckpointError>(
      at == data_size, "{}: the tensors take {} bytes, the file holds {}: it was cut or has bytes of something else",
      what, at, data_size);
}

void check_names(const std::vector<TensorInfo>& tensors, std::string_view what) {
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const TensorInfo& tensor : tensors) names.emplace_back(tensor.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  require<CheckpointError>(twice == names.end(), "{}: tensor '{}' appears twice", what,
                           twice == names.end() ? "" : shown(*twice));
}

}  // namespace

const StoredType* stored_type(std::string_view name) {
  const auto found =
      std::find_if(kStoredTypes.begin(), kStoredTypes.end(), [&](const StoredType& t) { return t.name == name; });
  return found == kStoredTypes.end() ? nullptr : &*found;
}

const StoredType* stored_type(c10::ScalarType type) {
  const auto found =
      std::find_if(kStoredTypes.begin(), kStoredTypes.end(), [&](const StoredType& t) { return t.type == type; });
  return found == kStoredTypes.end() ? nullptr : &*found;
}

SafetensorsHeader parse_safetensors_header(std::string_view json, size_t data_size, std::string_view what) {
  // The parser skips a byte order mark and takes a NUL for the end: both are told here.
  require<CheckpointError>(!json.starts_with("\xEF\xBB\xBF"), "{}: the header begins with a byte order mark", what);
  require<CheckpointError>(json.find('\0') == std::string_view::npos, "{}: the header holds a NUL byte", what);
  HeaderEvents events;
  const bool whole = nlohmann::json::sax_parse(json.data(), json.data() + json.size(), &events);
  require<CheckpointError>(whole, "{}: {}", what, events.problem);
  for (const TensorInfo& tensor : events.tensors) check_tensor(tensor, what);
  std::sort(events.tensors.begin(), events.tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  check_cover(events.tensors, data_size, what);
  check_names(events.tensors, what);
  return {std::move(events.tensors), std::move(events.metadata)};
}

std::string safetensors_header_text(const SafetensorsHeader& header) {
  const auto quoted = [](const std::string& text) { return nlohmann::json(text).dump(); };
  std::string json = "{";
  if (!header.metadata.empty()) {
    json += fmt::format("\"{}\":{{", kMetadata);
    for (const auto& [key, value] : header.metadata)
      json += fmt::format("{}{}:{}", json.back() == '{' ? "" : ",", quoted(key), quoted(value));
    json += "}";
  }
  for (const TensorInfo& tensor : header.tensors)
    json +=
        fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}", json.size() == 1 ? "" : ",",
                    quoted(tensor.name), tensor.dtype, fmt::join(tensor.shape, ","), tensor.begin, tensor.end);
  json += "}";
  json.append((8 - json.size() % 8) % 8, ' ');
  std::string text;
  for (unsigned byte = 0; byte < 8; ++byte) text += static_cast<char>(json.size() >> (8 * byte) & 0xFF);
  return text + json;
}

}  // namespace ordo
