// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/dialogue_layout.h"

#include <algorithm>

#include "ordo/core/utf8.h"
#include "ordo/ops/fused_loss.h"
#include "ordo/tasks/unknown_words.h"

namespace ordo {

size_t first_kept(std::span<const Turn> turns, int64_t room) {
  size_t first = turns.size();
  for (int64_t taken = 0; first > 0; --first) {
    taken += turns[first - 1].size();
    if (taken > room) break;
  }
  return first;
}

DialogueLayout::DialogueLayout(const Tokenizer& tokenizer, const DialogueRules& rules)
    : tokenizer_(&tokenizer), rules_(rules), unknown_word_(unknown_id(tokenizer)) {}

std::vector<int64_t> DialogueLayout::encode(std::string_view utterance) const {
  std::vector<int64_t> ids;
  const auto add = [&](std::string_view part) {
    const auto some = tokenizer_->encode(part);
    ids.insert(ids.end(), some.begin(), some.end());
  };
  for (std::string_view rest = utterance; !rest.empty();) {
    try {
      add(rest);
      break;
    } catch (const UnknownCharacter& character) {
      add(rest.substr(0, character.offset));
      ids.push_back(unknown());
      rest.remove_prefix(character.offset + std::max<size_t>(1, code_point_at(rest, character.offset).bytes));
    }
  }
  require<DataError>(!ids.empty(), "the tokenizer leaves nothing of '{}'", utterance);
  return ids;
}

void DialogueLayout::append(const Turn& turn, std::vector<int64_t>& text) const {
  text.push_back(mark(turn.speaker));
  text.insert(text.end(), turn.ids.begin(), turn.ids.end());
  text.push_back(end());
}

int64_t DialogueLayout::longest(Speaker speaker, int64_t length) const {
  const int64_t whole = room(length) - 2;
  return speaker == answers() ? std::min(whole, rules_.answer_tokens - 1) : whole;
}

std::optional<std::string> DialogueLayout::refuses_length(int64_t length) const {
  if (longest(asks(), length) >= 1) return std::nullopt;
  return fmt::format(
      "a window of {} tokens has no room for a turn and its answer: task.answer_tokens keeps {} free, and marks take 4",
      length, rules_.answer_tokens);
}

Turn DialogueLayout::fitted(Turn turn, int64_t length) const {
  const int64_t most = longest(turn.speaker, length);
  if (std::ssize(turn.ids) <= most) return turn;
  require<DataError>(
      rules_.too_long == TooLong::cut,
      "a turn of {} tokens is too long: a window of {} tokens has room for {}, beside those kept free for "
      "an answer (task.answer_tokens)",
      turn.ids.size(), length, most);
  turn.ids.resize(static_cast<size_t>(most));
  turn.cut = true;
  return turn;
}

std::vector<TurnWindow> DialogueLayout::windows(std::span<const Turn> turns, int64_t length) const {
  std::vector<TurnWindow> made;
  for (size_t i = 0; i < turns.size(); ++i) {
    if (turns[i].speaker != answers()) continue;
    const size_t first = first_kept(turns.first(i), room(length));
    if (made.empty() || made.back().first != first) made.push_back({.first = first, .judged = i});
    made.back().end = i + 1;
  }
  return made;
}

TurnRow DialogueLayout::row(std::span<const Turn> turns, const TurnWindow& window) const {
  std::vector<int64_t> text{start()};
  std::vector<bool> asked{false};
  for (size_t i = window.first; i < window.end; ++i) {
    append(turns[i], text);
    asked.push_back(false);  // who speaks
    asked.resize(text.size(), turns[i].speaker == answers() && i >= window.judged);
    if (turns[i].cut) asked.back() = false;
  }
  TurnRow made{.ids = {text.begin(), text.end() - 1}, .targets = {}};
  for (size_t i = 1; i < text.size(); ++i) made.targets.push_back(asked[i] ? text[i] : kIgnore);
  return made;
}

}  // namespace ordo
