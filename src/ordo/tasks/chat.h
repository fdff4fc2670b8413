// SPDX-License-Identifier: Apache-2.0
// A dialogue with a trained model, turn by turn. What was read stays in the model's cache, so that only new tokens are
// computed. When the window has no room for another answer its oldest turns are dropped (DialogueLayout), and what
// remains is read anew: answers are those that the window gives as one prompt.
#pragma once
#include <memory>
#include <vector>

#include "ordo/generate/generate.h"
#include "ordo/generate/session.h"
#include "ordo/tasks/dialogue_layout.h"

namespace ordo {

struct ChatConfig {
  int64_t length = 0;  // tokens of the window
  // An answer's own; max_new_tokens may be less than its room, not more. Draws depend on the seed and the number of the
  // answer. `stop` needs no end mark of the layout.
  GenerateConfig decoding = {};
};

class Chat {
 public:
  // Throws ConfigError for a window without room, a model that cannot read it, beams, several samples, and for what
  // check(GenerateConfig) refuses. The models and the layout's tokenizer must outlive it.
  Chat(const Ensemble& models, const DialogueLayout& layout, const ChatConfig& config);

  // A turn of any side, fitted to the window: was it cut? Throws DataError for one that may not be; the chat is then as
  // before.
  bool hear(Turn turn);
  // What the model says next; it is a turn of the dialogue from then on. `on_token` as in generate(); when it says
  // false the answer ends there.
  Answer answer(const OnToken& on_token = {});
  // Takes a given answer for the model's: its log-probability, that of its end mark included unless it is cut.
  Answer repeat(Turn given);

  const std::vector<Turn>& window() const { return turns_; }             // the turns that are left
  int64_t dropped() const { return dropped_; }                           // turns, so far
  int64_t tokens() const { return static_cast<int64_t>(text_.size()); }  // of the window

 private:
  Tensor begin_answer();  // logits [1, V] of its first token
  void end_answer(Turn turn);
  void drop_oldest();
  Tensor read_on();  // what the model has not read yet of the window

  Ensemble models_;
  DialogueLayout layout_;
  ChatConfig config_;
  std::unique_ptr<Session> session_;
  std::vector<Turn> turns_;
  std::vector<int64_t> text_;  // the start mark and those turns
  int64_t dropped_ = 0, answers_ = 0;
};

}  // namespace ordo
