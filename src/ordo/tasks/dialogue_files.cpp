// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/dialogue_files.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ordo/core/json_items.h"
#include "ordo/core/utf8.h"
#include "ordo/data/json_lines.h"
#include "ordo/data/packed_file.h"
#include "ordo/data/text_file.h"
#include "ordo/tokenizers/json_view.h"

namespace ordo {

namespace {

// What the parts of a dialogue are called.
struct DialogueShape {
  std::string_view turns, speaker, text, user, system;
};
constexpr DialogueShape kSgdShape{"turns", "speaker", "utterance", "USER", "SYSTEM"};
constexpr DialogueShape kCrossWozShape{"messages", "role", "content", "usr", "sys"};
constexpr DialogueShape kLineShape{"turns", "role", "text", "user", "system"};

bool is_blank_utterance(std::string_view text) {
  bool blank = true;
  each_character(text, [&](char32_t code, std::string_view) { blank = blank && is_space(code); });
  return blank;
}

SpokenDialogue spoken(const JsonView& dialogue, const DialogueShape& shape, std::string where) {
  const std::pair<std::string_view, Speaker> speakers[] = {{shape.user, Speaker::user},
                                                           {shape.system, Speaker::system}};
  SpokenDialogue made{.turns = {}, .where = std::move(where)};
  const JsonView turns = dialogue.at(shape.turns);
  for (const JsonView& turn : turns.items()) {
    const JsonView text = turn.at(shape.text);
    text.require(!is_blank_utterance(text.text()), "the utterance is empty");
    made.turns.push_back({named(turn.at(shape.speaker), shape.speaker, speakers), text.text()});
  }
  turns.require(!made.turns.empty(), "the dialogue has no turns");
  const auto other = [&](const SpokenTurn& turn) { return turn.speaker != made.turns.front().speaker; };
  const bool users = made.turns.front().speaker == Speaker::user;
  turns.require(std::any_of(made.turns.begin(), made.turns.end(), other),
                "all turns are of '{}': a dialogue has two sides", users ? shape.user : shape.system);
  return made;
}

// Lines of places that are asked for in their order.
class DialogueLines {
 public:
  explicit DialogueLines(std::string_view text) : text_(text) {}
  int64_t at(size_t offset) {
    line_ += std::count(text_.begin() + static_cast<std::ptrdiff_t>(reached_),
                        text_.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
    reached_ = offset;
    return line_;
  }

 private:
  std::string_view text_;
  size_t reached_ = 0;
  int64_t line_ = 1;
};

std::vector<FiledDialogue> read_dialogue_items(const fs::path& path, const std::string& text,
                                               const DialogueShape& shape, BadLines& bad) {
  std::vector<FiledDialogue> made;
  DialogueLines lines(text);
  int64_t number = -1;
  const auto visit = [&](std::string_view key, const Json& value, size_t offset) {
    ++number;
    const std::string line = fmt::format("{}: line {}", path.string(), value.is_structured() ? lines.at(offset) : 1);
    bad.attempt([&] {
      std::string name(key);
      if (name.empty()) name = JsonView(value, line).text("dialogue_id", std::to_string(number + 1));
      const std::string where = fmt::format("{}: dialogue {}", line, name);
      made.push_back({spoken(JsonView(value, where), shape, where), number});
    });
  };
  try {
    each_json_item(text, path.string(), visit);
  } catch (const DataError&) {
    throw;
  } catch (const Error& error) {
    throw DataError(error.what());
  }
  return made;
}

std::vector<FiledDialogue> read_dialogue_lines(const fs::path& path, BadLines& bad) {
  std::vector<FiledDialogue> made;
  read_json_lines(path, bad, [&](const JsonView& value, size_t line) {
    made.push_back(
        {spoken(value, kLineShape, fmt::format("{}: line {}", path.string(), line)), static_cast<int64_t>(line) - 1});
  });
  return made;
}

// Is this whole line an object with turns?
bool is_dialogue_line(std::string_view line) {
  try {
    const Json value = parse_json(line, "");
    return value.is_object() && value.contains(std::string(kLineShape.turns));
  } catch (const Error&) {
    return false;
  }
}

DialogueFormat dialogue_format(const fs::path& path, std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != text.npos && text[first] == '[') return DialogueFormat::sgd;
  require<DataError>(first != text.npos && text[first] == '{',
                     "{}: expected dialogues as JSON, a list (sgd), an object (crosswoz) or an object a line (jsonl)",
                     path.string());
  const std::string_view line = text.substr(first, text.find('\n', first) - first);
  return is_dialogue_line(line) ? DialogueFormat::jsonl : DialogueFormat::crosswoz;
}

}  // namespace

std::vector<FiledDialogue> read_dialogues(const fs::path& path, DialogueFormat format, BadLines& bad) {
  if (format == DialogueFormat::automatic && without_packing(path).extension() == ".jsonl")
    format = DialogueFormat::jsonl;
  if (format == DialogueFormat::jsonl) return read_dialogue_lines(path, bad);
  const std::string text = read_text(path);
  if (format == DialogueFormat::automatic) format = dialogue_format(path, text);
  if (format == DialogueFormat::jsonl) return read_dialogue_lines(path, bad);
  auto made = read_dialogue_items(path, text, format == DialogueFormat::sgd ? kSgdShape : kCrossWozShape, bad);
  require<DataError>(!made.empty(), "{}: no dialogue is in it{}{}", path.string(), bad.count() > 0 ? ": " : "",
                     bad.sentence());
  return made;
}

}  // namespace ordo
