// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/scores.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ordo/core/utf8.h"

namespace ordo {

namespace {

void add_sum(Tensor& total, const Tensor& part) { total = total.defined() ? total + part : part; }

// Sums by place [L]: rows of other lengths count where they reach.
void add_places(Tensor& total, const Tensor& part) {
  if (!total.defined()) {
    total = part;
    return;
  }
  const int64_t longest = std::max(total.size(0), part.size(0));
  total =
      at::constant_pad_nd(total, {0, longest - total.size(0)}) + at::constant_pad_nd(part, {0, longest - part.size(0)});
}

double value_of(const Tensor& sum) { return sum.defined() ? sum.item<double>() : 0.0; }

std::vector<double> values_of(const Tensor& t) {
  const Tensor here = t.to(at::kCPU, at::kDouble).contiguous();
  return {here.data_ptr<double>(), here.data_ptr<double>() + here.numel()};
}

}  // namespace

ModelInput input_of(const Batch& batch) {
  return {.ids = batch.ids,
          .at = batch.at,
          .mask = batch.mask,
          .draw = batch.draw,
          .source = batch.source,
          .signal = batch.signal,
          .types = batch.types,
          .memory = batch.memory};
}

bool larger_is_better(std::string_view metric) {
  constexpr std::string_view kLarger[] = {"accuracy", "subset_accuracy", "exact_match", "bleu", "chrf",      "chrf2",
                                          "rouge",    "matthews",        "auc",         "f1",   "precision", "recall"};
  return std::any_of(std::begin(kLarger), std::end(kLarger), [&](std::string_view name) {
    return metric == name || metric.starts_with(std::string(name) + "_") || metric.starts_with(std::string(name) + "/");
  });
}

TokenScores::TokenScores(const Tokenizer* tokenizer, const Keep& keep) : keep_(keep) {
  if (tokenizer == nullptr) return;
  for (int64_t id = 0; id < tokenizer->vocab_size(); ++id) {
    const std::string piece = tokenizer->piece(id);
    const auto bytes = std::ssize(piece);
    // A character counts where it starts: a piece may be a part of one.
    sizes_.push_back(
        {.bytes = bytes, .characters = bytes - std::count_if(piece.begin(), piece.end(), continues_character)});
  }
}

void TokenScores::add(Model& model, const Batch& batch) {
  ORDO_ASSERT(!model.is_training());
  const c10::NoGradGuard no_gradients;
  count_text(batch.targets);
  const Batch there = to_device(batch, model.head().weight().device());
  const Tensor hidden = model.forward(input_of(there));
  judge(model.head(), hidden, there.targets, there.weight);
}

void TokenScores::judge(const Head& head, const Tensor& hidden, const Tensor& targets, double weight,
                        std::optional<int64_t> never_right) {
  const c10::NoGradGuard no_gradients;
  Tensor correct;
  const Tensor losses = head.token_losses(hidden, targets, &correct);
  if (never_right) correct = correct.logical_and(targets.ne(*never_right));
  const Tensor counted = targets.ne(kIgnore);
  add_sum(loss_, losses.sum(at::kDouble));
  add_sum(correct_, correct.sum(at::kDouble));  // never true where the target is kIgnore
  tokens_ += weight;
  count_places(losses, counted);
  if (keep_.outcomes) count_rows(correct, counted);
  if (keep_.examples) add_examples(losses, correct, targets);
}

void TokenScores::count_places(const Tensor& losses, const Tensor& counted) {
  add_places(place_loss_, losses.sum(0, /*keepdim=*/false, at::kDouble));
  add_places(place_counted_, counted.sum(0, /*keepdim=*/false, at::kDouble));
}

void TokenScores::count_rows(const Tensor& correct, const Tensor& counted) {
  rows_.push_back(correct.sum(1, /*keepdim=*/false, at::kDouble) /
                  counted.sum(1, /*keepdim=*/false, at::kDouble).clamp_min(1.0));
}

void TokenScores::add_examples(const Tensor& losses, const Tensor& correct, const Tensor& targets) {
  const auto nats = values_of(losses.sum(1, /*keepdim=*/false, at::kDouble));
  const auto right = values_of(correct.sum(1, /*keepdim=*/false, at::kDouble));
  const Tensor here = targets.to(at::kCPU).contiguous();
  const auto length = static_cast<size_t>(here.size(1));
  for (size_t row = 0; row < nats.size(); ++row) {
    const std::span ids(here.const_data_ptr<int64_t>() + row * length, length);
    const Size size = size_of(ids);
    examples_.add({.nats = nats[row],
                   .right = std::llround(right[row]),
                   .tokens = std::ssize(ids) - std::count(ids.begin(), ids.end(), kIgnore),
                   .characters = size.characters,
                   .bytes = size.bytes});
  }
}

TokenScores::Size TokenScores::size_of(std::span<const int64_t> targets) const {
  Size size;
  for (const int64_t id : targets) {
    if (id == kIgnore || static_cast<size_t>(id) >= sizes_.size()) continue;
    size.bytes += sizes_[static_cast<size_t>(id)].bytes;
    size.characters += sizes_[static_cast<size_t>(id)].characters;
  }
  return size;
}

void TokenScores::count_text(const Tensor& targets) {
  const Size size = size_of({targets.const_data_ptr<int64_t>(), static_cast<size_t>(targets.numel())});
  bytes_ += static_cast<double>(size.bytes);
  characters_ += static_cast<double>(size.characters);
}

Metrics TokenScores::metrics() const {
  const double nats = value_of(loss_);
  Metrics metrics{
      {"loss", nats / tokens_}, {"perplexity", std::exp(nats / tokens_)}, {"accuracy", value_of(correct_) / tokens_}};
  if (characters_ > 0.0) metrics["bits_per_character"] = nats / std::numbers::ln2 / characters_;
  if (bytes_ > 0.0) metrics["bits_per_byte"] = nats / std::numbers::ln2 / bytes_;
  return metrics;
}

Evaluation TokenScores::evaluation() const {
  Evaluation made{.metrics = metrics(), .tokens = tokens_};
  if (place_loss_.defined()) made.position_loss = values_of(place_loss_ / place_counted_);
  if (rows_.empty()) return made;
  made.outcomes.accuracy = values_of(at::cat(rows_));
  const auto& rows = made.outcomes.accuracy;
  made.metrics["exact_match"] =
      static_cast<double>(std::count(rows.begin(), rows.end(), 1.0)) / static_cast<double>(rows.size());
  return made;
}

}  // namespace ordo
