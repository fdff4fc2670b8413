// SPDX-License-Identifier: Apache-2.0
// A value in a JSON file that somebody else wrote, with its path in it: what is not as expected is a DataError that
// says "tokenizer.json: model.merges[3]: expected …, found …".
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ordo/core/errors.h"
#include "ordo/core/json.h"

namespace ordo {

// parse_json() of such a file; what is wrong with it is a DataError.
Json parse_json_file(std::string_view text, std::string_view file);

class JsonView {
 public:
  // `root` and `file` outlive all views of it.
  JsonView(const Json& root, const std::string& file) : value_(&root), file_(&file) {}

  bool is_object() const { return value_->is_object(); }
  bool is_array() const { return value_->is_array(); }
  bool is_string() const { return value_->is_string(); }
  const Json& raw() const { return *value_; }

  std::optional<JsonView> find(std::string_view key) const;  // nothing: the key is absent, or null
  JsonView at(std::string_view key) const;
  JsonView item(size_t i) const { return {(*value_)[i], fmt::format("{}[{}]", path_, i), file_}; }
  std::vector<JsonView> items() const;                            // of an array
  std::vector<std::pair<std::string, JsonView>> members() const;  // of an object

  const std::string& text() const;
  bool boolean() const;
  int64_t integer(int64_t low, int64_t high) const;
  double number() const;  // finite
  char32_t character() const;

  // A member, or what holds when it is absent.
  bool boolean(std::string_view key, bool absent) const {
    const auto found = find(key);
    return found ? found->boolean() : absent;
  }
  std::string text(std::string_view key, std::string_view absent) const {
    const auto found = find(key);
    return found ? found->text() : std::string(absent);
  }

  [[noreturn]] void refuse(std::string_view why) const;
  template <class... Args>
  void require(bool ok, fmt::format_string<Args...> format, Args&&... args) const {
    if (!ok) refuse(fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  JsonView(const Json& value, std::string path, const std::string* file)
      : value_(&value), path_(std::move(path)), file_(file) {}
  [[noreturn]] void expected(std::string_view what) const;
  const Json* value_;
  std::string path_;
  const std::string* file_;
};

// What a text names among {name, value} pairs; an unknown name is refused with all that there are. `what`: "type".
template <class Value, size_t N>
const Value& named(const JsonView& text, std::string_view what, const std::pair<std::string_view, Value> (&values)[N]) {
  std::string names;
  for (const auto& [name, value] : values) {
    if (name == text.text()) return value;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  text.refuse(fmt::format("unknown {} '{}'; there are {}", what, text.text(), names));
}

}  // namespace ordo
