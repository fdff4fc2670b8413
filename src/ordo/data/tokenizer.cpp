// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/tokenizer.h"

#include <nlohmann/json.hpp>

#include "ordo/core/utf8.h"
#include "ordo/data/text_file.h"
#include "ordo/tokenizers/json_view.h"

namespace ordo {

namespace {

constexpr int64_t kVocabularyFormat = 1;

std::string describe_character(std::string_view text, size_t offset) {
  const CodePoint point = code_point_at(text, offset);
  if (point.bytes == 0) return fmt::format("byte 0x{:02X} (not valid UTF-8)", static_cast<unsigned char>(text[offset]));
  const auto code = static_cast<uint32_t>(point.value);
  const bool shown = point.value > 0x20 && point.value != 0x7F && columns_of(point.value) > 0;
  return shown ? fmt::format("'{}' (U+{:04X})", text.substr(offset, point.bytes), code) : fmt::format("U+{:04X}", code);
}

// Of any kind, its format checked.
Json read_saved(const fs::path& path) {
  Json content = parse_json_file(read_file(path), path.string());
  const auto is_integer = [&](const char* key) { return content.contains(key) && content[key].is_number_integer(); };
  require<DataError>(
      content.is_object() && is_integer("format") && content.contains("kind") && content["kind"].is_string(),
      "{} is no saved tokenizer: \"format\" and \"kind\" are missing", path.string());
  const auto format = content["format"].get<int64_t>();
  require<DataError>(format >= 1 && format <= kVocabularyFormat,
                     "{} has format {}; this version of Ordo reads up to {}", path.string(), format, kVocabularyFormat);
  return content;
}

}  // namespace

UnknownCharacter::UnknownCharacter(std::string_view text, size_t at, int64_t vocab_size)
    : DataError(fmt::format("unknown character {} at {}: it is not among the {} characters of the training text",
                            describe_character(text, at), place_in(text, at).text(), vocab_size)),
      offset(at),
      what_is_there(describe_character(text, at)) {}

Encoded Tokenizer::encode_special(std::string_view text, std::optional<std::string_view> pair) const {
  Encoded all{.ids = encode(text)};
  all.types.resize(all.ids.size(), 0);
  if (!pair) return all;
  const auto second = encode(*pair);
  all.ids.insert(all.ids.end(), second.begin(), second.end());
  all.types.resize(all.ids.size(), 1);
  return all;
}

bool Tokenizer::is_special(int64_t) const { return false; }
std::optional<int64_t> Tokenizer::find(std::string_view) const { return std::nullopt; }

void write_vocabulary(const fs::path& folder, std::string_view kind, Json content) {
  Json whole = Json::object();
  whole["format"] = kVocabularyFormat;
  whole["kind"] = kind;
  whole.update(content);
  fs::create_directories(folder);
  write_file(folder / "vocabulary.json", json_text(whole));
}

Json read_vocabulary(const fs::path& folder, std::string_view kind) {
  const fs::path path = folder / "vocabulary.json";
  Json content = read_saved(path);
  const auto found = content["kind"].get<std::string>();
  require<DataError>(found == kind, "{} holds a {} tokenizer, the config asks for {}", path.string(), found, kind);
  return content;
}

std::string saved_kind(const fs::path& folder) {
  return read_saved(folder / "vocabulary.json")["kind"].get<std::string>();
}

}  // namespace ordo
