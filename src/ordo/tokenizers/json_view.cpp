// SPDX-License-Identifier: Apache-2.0
#include "ordo/tokenizers/json_view.h"

#include <cmath>

#include "ordo/core/utf8.h"

namespace ordo {

namespace {

// A value as it stands in the file, cut short.
std::string shown(const Json& value) {
  constexpr size_t kShown = 60;
  if (value.is_object()) return "an object";
  if (value.is_array()) return fmt::format("an array of {}", value.size());
  std::string text = json_line(value);
  if (text.size() <= kShown) return text;
  return text.substr(0, character_start(text, kShown)) + "…";
}

}  // namespace

Json parse_json_file(std::string_view text, std::string_view file) {
  try {
    return parse_json(text, file);
  } catch (const Error& error) {
    throw DataError(error.what());
  }
}

void JsonView::refuse(std::string_view why) const {
  throw DataError(path_.empty() ? fmt::format("{}: {}", *file_, why) : fmt::format("{}: {}: {}", *file_, path_, why));
}

void JsonView::expected(std::string_view what) const {
  refuse(fmt::format("expected {}, found {}", what, shown(*value_)));
}

std::optional<JsonView> JsonView::find(std::string_view key) const {
  if (!is_object()) expected("an object");
  const auto found = value_->find(std::string(key));
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return JsonView(*found, path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key), file_);
}

JsonView JsonView::at(std::string_view key) const {
  auto found = find(key);
  require(found.has_value(), "'{}' is missing", key);
  return *std::move(found);
}

std::vector<JsonView> JsonView::items() const {
  if (!is_array()) expected("an array");
  std::vector<JsonView> all;
  all.reserve(value_->size());
  for (size_t i = 0; i < value_->size(); ++i) all.push_back(item(i));
  return all;
}

std::vector<std::pair<std::string, JsonView>> JsonView::members() const {
  if (!is_object()) expected("an object");
  std::vector<std::pair<std::string, JsonView>> all;
  all.reserve(value_->size());
  for (const auto& [key, value] : value_->items())
    all.emplace_back(key, JsonView(value, fmt::format("{}.{}", path_, json_line(Json(key))), file_));
  return all;
}

const std::string& JsonView::text() const {
  if (!is_string()) expected("a string");
  return value_->get_ref<const std::string&>();
}

bool JsonView::boolean() const {
  if (!value_->is_boolean()) expected("true or false");
  return value_->get<bool>();
}

int64_t JsonView::integer(int64_t low, int64_t high) const {
  const bool fits = value_->is_number_integer() &&
                    (!value_->is_number_unsigned() || value_->get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX));
  if (!fits || value_->get<int64_t>() < low || value_->get<int64_t>() > high)
    expected(fmt::format("a whole number from {} to {}", low, high));
  return value_->get<int64_t>();
}

double JsonView::number() const {
  if (!value_->is_number() || !std::isfinite(value_->get<double>())) expected("a finite number");
  return value_->get<double>();
}

char32_t JsonView::character() const {
  const std::string& whole = text();
  const CodePoint point = whole.empty() ? CodePoint{} : code_point_at(whole, 0);
  if (point.bytes == 0 || point.bytes != whole.size()) expected("one character");
  return point.value;
}

}  // namespace ordo
