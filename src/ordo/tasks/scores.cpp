// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/scores.h"

#include <ATen/TensorOperators.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ordo {

namespace {

void add_sum(Tensor& total, const Tensor& part) { total = total.defined() ? total + part : part; }

double value_of(const Tensor& sum) { return sum.defined() ? sum.item<double>() : 0.0; }

}  // namespace

TokenScores::TokenScores(const Tokenizer* tokenizer) {
  if (tokenizer == nullptr) return;
  for (int64_t id = 0; id < tokenizer->vocab_size(); ++id) {
    const std::string piece = tokenizer->piece(id);
    // A character counts where it starts: the other bytes of UTF-8 are 10xxxxxx.
    const auto starts = std::count_if(piece.begin(), piece.end(),
                                      [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
    sizes_.push_back({.bytes = static_cast<int64_t>(piece.size()), .characters = starts});
  }
}

void TokenScores::add(Model& model, const Batch& batch) {
  ORDO_ASSERT(!model.is_training());
  const c10::NoGradGuard no_gradients;
  count_text(batch.targets);
  const Batch there = to_device(batch, model.head().weight().device());
  const Tensor hidden = model.forward({.ids = there.ids, .at = there.at, .mask = there.mask, .draw = there.draw});
  Tensor correct;
  const Tensor losses = model.head().token_losses(hidden, there.targets, &correct);
  add_sum(loss_, losses.sum(at::kDouble));
  add_sum(correct_, correct.sum(at::kDouble));  // never true where the target is kIgnore
  tokens_ += batch.weight;
}

void TokenScores::count_text(const Tensor& targets) {
  const auto count = static_cast<size_t>(targets.numel());
  for (const int64_t id : std::span(targets.data_ptr<int64_t>(), count)) {
    if (id == kIgnore || static_cast<size_t>(id) >= sizes_.size()) continue;
    bytes_ += static_cast<double>(sizes_[static_cast<size_t>(id)].bytes);
    characters_ += static_cast<double>(sizes_[static_cast<size_t>(id)].characters);
  }
}

Metrics TokenScores::metrics() const {
  const double nats = value_of(loss_);
  Metrics metrics{
      {"loss", nats / tokens_}, {"perplexity", std::exp(nats / tokens_)}, {"accuracy", value_of(correct_) / tokens_}};
  if (characters_ > 0.0) metrics["bits_per_character"] = nats / std::numbers::ln2 / characters_;
  if (bytes_ > 0.0) metrics["bits_per_byte"] = nats / std::numbers::ln2 / bytes_;
  return metrics;
}

}  // namespace ordo
