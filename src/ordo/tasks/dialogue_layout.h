// SPDX-License-Identifier: Apache-2.0
// How a decoder reads a dialogue and answers in it: a mark of the start, then each turn as the mark of who speaks, the
// tokens of the utterance and a mark of its end. What is asked are the tokens of the answering side and their end
// marks. A model sees a window of at most so many tokens (train.length): the start mark and whole turns. The window of
// an answer is what stands before it, without as many of the oldest turns as leave too little room for the longest
// answer allowed. So it grows turn by turn, follows from the turns before the answer alone, and is the same in
// training, in evaluations and in a chat.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/data/bad_lines.h"
#include "ordo/data/tokenizer.h"
#include "ordo/tasks/spoken_dialogue.h"

namespace ordo {

struct Turn {
  Speaker speaker = Speaker::user;
  std::vector<int64_t> ids = {};                                         // of the utterance
  bool cut = false;                                                      // it goes on: its end is not asked
  int64_t size() const { return static_cast<int64_t>(ids.size()) + 2; }  // with both marks
};

// The oldest turns go until the others take at most `room` tokens: the number of the first that stays. When even the
// newest is too large, it is the number behind it.
size_t first_kept(std::span<const Turn> turns, int64_t room);

// What becomes of an utterance that no window has room for: it ends the run, or its first tokens are read alone.
struct DialogueRules {
  Speaker answers = Speaker::system;
  int64_t answer_tokens = 0;  // of an answer at most, its end mark included
  TooLong too_long = TooLong::stop;
};

// Turns [first, end) of a dialogue; the answers among them from turn `judged` on are asked.
struct TurnWindow {
  size_t first = 0, end = 0, judged = 0;
};

// A row for a decoder: what it reads, and what is asked at each place (kIgnore: nothing).
struct TurnRow {
  std::vector<int64_t> ids, targets;
};

class DialogueLayout {
 public:
  // The tokenizer must outlive it.
  DialogueLayout(const Tokenizer& tokenizer, const DialogueRules& rules);

  const Tokenizer& tokenizer() const { return *tokenizer_; }
  Speaker answers() const { return rules_.answers; }
  Speaker asks() const { return answers() == Speaker::system ? Speaker::user : Speaker::system; }
  int64_t answer_tokens() const { return rules_.answer_tokens; }

  // The marks stand behind the tokenizer's ids, the end first: ids that may be written are those below start().
  int64_t end() const { return tokenizer_->vocab_size(); }
  int64_t start() const { return end() + 1; }
  int64_t mark(Speaker speaker) const { return end() + (speaker == Speaker::user ? 2 : 3); }
  int64_t unknown() const { return end() + 4; }  // a character that the tokenizer has not
  int64_t vocab_size() const { return end() + 5; }
  // The id of its own vocabulary that stands for words it lacks; nothing: it has none.
  std::optional<int64_t> unknown_word() const { return unknown_word_; }
  bool is_unknown(int64_t id) const { return id == unknown() || id == unknown_word_; }

  // Throws DataError for what leaves no token, and for what the tokenizer refuses in another way than by an unknown
  // character.
  std::vector<int64_t> encode(std::string_view utterance) const;
  void append(const Turn& turn, std::vector<int64_t>& text) const;

  // ---- windows of `length` tokens ----
  // Of whole turns before an answer; negative: no window is that small.
  int64_t room(int64_t length) const { return length - rules_.answer_tokens - 2; }
  // Tokens of one utterance at most.
  int64_t longest(Speaker speaker, int64_t length) const;
  // Why no window has this length, in words; nothing if there are some.
  std::optional<std::string> refuses_length(int64_t length) const;
  // As it is, when there is room for it; else cut to its first tokens, or a DataError.
  Turn fitted(Turn turn, int64_t length) const;
  // The windows in which each answer is judged once. No turn may be longer than longest().
  std::vector<TurnWindow> windows(std::span<const Turn> turns, int64_t length) const;
  TurnRow row(std::span<const Turn> turns, const TurnWindow& window) const;

 private:
  const Tokenizer* tokenizer_;
  DialogueRules rules_;
  std::optional<int64_t> unknown_word_;
};

}  // namespace ordo
