// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/chat.h"

#include <ATen/ops/logsumexp.h>

#include <algorithm>
#include <utility>

#include "ordo/core/errors.h"
#include "ordo/generate/sampling.h"

namespace ordo {

namespace {

// Of one row of logits, fp64 [1, V] on the CPU.
double log_probability(const Tensor& logits, int64_t id) {
  return logits.const_data_ptr<double>()[id] - at::logsumexp(logits, 1).item<double>();
}

}  // namespace

Chat::Chat(const Ensemble& models, const DialogueLayout& layout, const ChatConfig& config)
    : models_(models), layout_(layout), config_(config), session_(std::make_unique<Session>(models)) {
  GenerateConfig& decoding = config_.decoding;
  const auto refusal = layout.refuses_length(config.length);
  require<ConfigError>(!refusal, "{}", refusal.value_or(""));
  const auto unread = models.refuses_length(config.length);
  require<ConfigError>(!unread, "a window of {} tokens is too large: {}", config.length, unread.value_or(""));
  require<ConfigError>(decoding.beam.width == 0 && decoding.samples == 1,
                       "a chat goes on from one answer to each turn: neither beams nor several samples");
  require<ConfigError>(decoding.max_new_tokens < layout.answer_tokens(),
                       "an answer has room for {} tokens and its end mark (task.answer_tokens), not for {}",
                       layout.answer_tokens() - 1, decoding.max_new_tokens);
  decoding.vocab_size = layout.start();
  if (std::find(decoding.stop.begin(), decoding.stop.end(), layout.end()) == decoding.stop.end())
    decoding.stop.push_back(layout.end());
  check(decoding);
  text_.push_back(layout.start());
}

bool Chat::hear(Turn turn) {
  turns_.push_back(layout_.fitted(std::move(turn), config_.length));
  layout_.append(turns_.back(), text_);
  return turns_.back().cut;
}

void Chat::drop_oldest() {
  const size_t first = first_kept(turns_, layout_.room(config_.length));
  if (first == 0) return;
  turns_.erase(turns_.begin(), turns_.begin() + static_cast<std::ptrdiff_t>(first));
  dropped_ += static_cast<int64_t>(first);
  text_ = {layout_.start()};
  for (const Turn& turn : turns_) layout_.append(turn, text_);
  session_ = std::make_unique<Session>(models_);
}

Tensor Chat::read_on() {
  const int64_t read = session_->rows() == 0 ? 0 : session_->length(0);
  return session_->append({{text_.begin() + read, text_.end()}});
}

Tensor Chat::begin_answer() {
  drop_oldest();
  text_.push_back(layout_.mark(layout_.answers()));
  return read_on();
}

void Chat::end_answer(Turn turn) {
  text_.push_back(layout_.end());
  turns_.push_back(std::move(turn));
  ++answers_;
}

Answer Chat::answer(const OnToken& on_token) {
  const GenerateConfig& config = config_.decoding;
  Answer made;
  Tensor logits = begin_answer();
  for (int64_t step = 0; step < config.max_new_tokens; ++step) {
    if (step > 0) logits = read_on();
    const std::span<const double> usable(logits.const_data_ptr<double>(),
                                         static_cast<size_t>(usable_ids(logits.size(1), config)));
    const auto id = next_token(usable, {.text = text_, .fresh = step}, {.prompt = answers_, .step = step}, config);
    if (!id) break;
    made.log_probability += log_probability(logits, *id);
    made.ended = std::find(config.stop.begin(), config.stop.end(), *id) != config.stop.end();
    if (made.ended) break;
    made.ids.push_back(*id);
    text_.push_back(*id);
    if (on_token && !on_token(0, *id)) break;
  }
  made.score = made.log_probability;
  end_answer({.speaker = layout_.answers(), .ids = made.ids});
  return made;
}

Answer Chat::repeat(Turn given) {
  given = layout_.fitted(std::move(given), config_.length);
  Answer made{.ids = given.ids, .ended = !given.cut};
  Tensor logits = begin_answer();
  for (const int64_t id : given.ids) {
    made.log_probability += log_probability(logits, id);
    text_.push_back(id);
    logits = read_on();
  }
  if (made.ended) made.log_probability += log_probability(logits, layout_.end());
  made.score = made.log_probability;
  end_answer(std::move(given));
  return made;
}

}  // namespace ordo
