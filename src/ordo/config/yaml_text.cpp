// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>

#include "ordo/config/layers.h"
#include "ordo/config/node.h"
#include "ordo/config/words.h"
#include "ordo/config/writer.h"
#include "ordo/core/text.h"
#include "ordo/core/utf8.h"

namespace ordo {

namespace {

bool is_printable(char32_t c) {
  const bool breaks_lines = c == 0x85 || c == 0x2028 || c == 0x2029;
  return c >= 0x20 && c != 0x7F && !(c >= 0x80 && c < 0xA0) && !breaks_lines && c != 0xFEFF && c != 0xFFFE &&
         c != 0xFFFF;
}

// What YAML 1.1 or 1.2 readers would take for something else than text.
bool looks_like_a_value(std::string_view text) {
  static const std::set<std::string, std::less<>> kWords{"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (kWords.contains(lower) || lower == ".nan" || lower == ".inf") return true;
  const bool starts_like_a_number = std::isdigit(static_cast<unsigned char>(text[0])) != 0 || text[0] == '.';
  return starts_like_a_number && text.find_first_not_of("0123456789abcdefABCDEFxXoO_.+-") == std::string_view::npos;
}

bool plain_is_safe(std::string_view text) {
  if (text.empty() || text.back() == ' ' || looks_like_a_value(text)) return false;
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80 && std::isalnum(first) == 0 && first != '_' && first != '/' && first != '.') return false;
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    if (point.bytes == 0 || !is_printable(point.value)) return false;
    const bool harmless = point.value >= 0x80 || std::isalnum(static_cast<unsigned char>(point.value)) != 0 ||
                          std::string_view(" _./+@-").find(static_cast<char>(point.value)) != std::string_view::npos;
    if (!harmless) return false;
    i += point.bytes;
  }
  return true;
}

std::string in_double_quotes(std::string_view text) {
  std::string out = "\"";
  // Only a folder's name can hold what is not UTF-8.
  each_character(repaired_utf8(text), [&](char32_t c, std::string_view bytes) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (!is_printable(c)) {
      out += c < 0x100 ? fmt::format("\\x{:02x}", static_cast<unsigned>(c))
                       : fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += bytes;
    }
  });
  return out + "\"";
}

std::string yaml_string(std::string_view text) {
  if (plain_is_safe(text)) return std::string(text);
  const std::u32string codes = code_points(text);
  const bool printable = valid_utf8(text) && std::all_of(codes.begin(), codes.end(), is_printable);
  if (!printable) return in_double_quotes(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

bool is_scalar(const Json& value) { return !value.is_structured() || value.empty(); }

bool fits_one_line(const Json& value) {
  constexpr size_t kLongestFlow = 100;
  return is_scalar(value) || (value.is_array() && std::all_of(value.begin(), value.end(), is_scalar) &&
                              yaml_inline(value).size() <= kLongestFlow);
}

class BlockWriter {
 public:
  explicit BlockWriter(const Sources* sources) : sources_(sources) {}
  std::string text;

  void map(const Json& value, const std::string& indent, const std::string& path) {
    for (const auto& [key, inner] : value.items())
      entry(indent + yaml_string(key) + ":", inner, indent, child_path(path, key));
  }

 private:
  // "key:" or "-" with its value, on the same line or in a block below.
  void entry(const std::string& head, const Json& value, const std::string& indent, const std::string& path) {
    if (fits_one_line(value)) {
      text += head + " " + yaml_inline(value) + origin(path) + "\n";
    } else if (value.is_object()) {
      text += head + "\n";
      map(value, indent + "  ", path);
    } else {
      text += head + "\n";
      for (size_t i = 0; i < value.size(); ++i) item(value[i], indent + "  ", child_path(path, std::to_string(i)));
    }
  }
  void item(const Json& value, const std::string& indent, const std::string& path) {
    if (fits_one_line(value) || !value.is_object()) return entry(indent + "-", value, indent, path);
    const size_t start = text.size();
    map(value, indent + "  ", path);
    text[start + indent.size()] = '-';  // "- " takes the place of the first entry's indent
  }
  std::string origin(const std::string& path) const {
    if (sources_ == nullptr) return "";
    const auto found = sources_->find(path);
    if (found == sources_->end()) return "  # default";
    const Source& source = found->second;
    return source.line == 0 ? fmt::format("  # {}", kCommandLine) : fmt::format("  # {}:{}", source.file, source.line);
  }

  const Sources* sources_;
};

}  // namespace

std::string yaml_inline(const Json& value) {
  if (value.is_string()) return yaml_string(value.get_ref<const std::string&>());
  if (value.is_number_float()) return number_text(value.get<double>());
  if (!value.is_structured()) return value.dump();
  std::string out;
  for (const auto& [key, inner] : value.items()) {
    if (!out.empty()) out += ", ";
    out += (value.is_object() ? yaml_string(key) + ": " : "") + yaml_inline(inner);
  }
  return value.is_object() ? "{" + out + "}" : "[" + out + "]";
}

std::string inline_yaml(const Node& node) { return yaml_inline(json_of(node)); }

std::string yaml_block(const Json& value, const Sources* sources) {
  BlockWriter writer(sources);
  writer.map(value, "", "");
  return writer.text;
}

}  // namespace ordo
