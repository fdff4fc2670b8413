// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/sequence_task.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ordo/config/config.h"
#include "ordo/core/text.h"
#include "ordo/data/streams.h"
#include "ordo/tasks/scores.h"

namespace ordo {

namespace {

constexpr NamedValue kReadAt[] = {{"auto", static_cast<int>(ReadAt::automatic)},
                                  {"mean", static_cast<int>(ReadAt::mean)},
                                  {"end", static_cast<int>(ReadAt::end)}};

// A causal row begins with the mark `start`: in front of equal symbols a model without an encoding could not tell their
// number (Kazemnejad et al. 2023 build positions from it). A two-sided model does not know it.
enum Mark : int64_t { padding, equals, slot, question, start, marks };

uint64_t split_key(uint64_t seed, Split split) { return key_of(seed, fmt::format("examples {}", split_name(split))); }

}  // namespace

std::vector<std::string> numbered_symbols(int64_t count) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

void sequence_fields(Fields& f, SequenceConfig& c, Asks asks) {
  f("shortest", c.shortest, "smallest size trained on, up to train.length; 0: the least that the task has",
    at_least(0));
  f("common", c.common, "sizes up to this one are drawn with probability common_share; 0: all sizes alike",
    at_least(0));
  f("common_share", c.common_share, "how often a training example is of a common size", within(0.0, 1.0));
  f("examples", c.examples, "of a training set that is gone through again and again; 0: fresh ones without end",
    within(0, 1e9));
  f("held_out", c.held_out, "examples of validation and of test, at each length", within(1, 1e7));
  if (asks == Asks::label)
    f("read", c.read, "where the answer is read: from the mean of the row, or at a closing ?; auto: by the model",
      kReadAt);
}

SequenceTask::SequenceTask(const SequenceConfig& config, const TaskFacts& facts, Asks asks,
                           std::vector<std::string> symbols)
    : config_(config), facts_(facts), asks_(asks), symbols_(std::move(symbols)) {}

bool SequenceTask::reads_mean() const {
  if (asks_ != Asks::label) return false;
  return config_.read == ReadAt::mean || (config_.read == ReadAt::automatic && !facts_.causal);
}

int64_t SequenceTask::smallest() const { return std::max(config_.shortest, least_size()); }

int64_t SequenceTask::row_length(int64_t size) const {
  const int64_t given = given_length(size) + (facts_.causal ? 1 : 0), asked = asked_length(size);
  if (asks_ == Asks::each || reads_mean()) return given;
  if (asks_ == Asks::label) return given + 1;  // the closing ?
  return given + asked;  // causal: "=" and all but the last symbol asked; two-sided: a slot for each
}

ModelFacts SequenceTask::complete(ModelFacts facts) const {
  facts.vocab_size = static_cast<int64_t>(symbols().size()) + (facts_.causal ? marks : start);
  facts.max_length = row_length(facts.max_length);
  return facts;
}

std::optional<std::string> SequenceTask::refuses(const Model& model) const {
  ORDO_ASSERT(model.causal() == facts_.causal);
  return std::nullopt;
}

bool SequenceTask::has(Split split) const { return split != Split::train; }

std::optional<std::string> SequenceTask::refuses_length(Split split, int64_t length) const {
  const int64_t least = split == Split::train ? smallest() : least_size();
  if (length < least)
    return fmt::format("{} has no examples of length {}: with these settings {} is the smallest", kind(), length,
                       least);
  if (split == Split::train) {
    if (auto refusal = refuses_common(least, length)) return refusal;
  }
  try {
    given_length(length);
    return std::nullopt;
  } catch (const ConfigError& refusal) {
    return refusal.what();
  }
}

std::optional<std::string> SequenceTask::refuses_common(int64_t least, int64_t longest) const {
  const int64_t common = config_.common;
  if (common > 0 && (common < least || common >= longest))
    return fmt::format("{}: common ({}) must be at least {}, the smallest size, and below train.length ({})", kind(),
                       common, least, longest);
  if ((common > 0) != (config_.common_share > 0.0))
    return fmt::format("{}: common ({}) and common_share ({}) need each other: give both or neither", kind(), common,
                       config_.common_share);
  return std::nullopt;
}

std::string SequenceTask::text(const Example& example) const {
  const auto words = [&](const std::vector<int64_t>& ids) {
    std::vector<std::string> list;
    for (const int64_t id : ids) list.push_back(id == kIgnore ? "." : symbols()[static_cast<size_t>(id)]);
    return join(list, " ");
  };
  return words(example.given) + " -> " + words(example.asked);
}

// ---- drawing ----

Example SequenceTask::held_out(uint64_t key, uint64_t index, int64_t size) const {
  KeyedSequence draw(mix(key, index));
  return example(draw, size);
}

Example SequenceTask::training_example(uint64_t key, uint64_t index, int64_t longest) const {
  KeyedSequence draw(mix(key, index));
  int64_t least = smallest();
  if (config_.common > 0 && config_.common < longest) {
    if (draw.unit() < config_.common_share)
      longest = config_.common;
    else
      least = config_.common + 1;
  }
  const auto size = least + static_cast<int64_t>(draw.below(static_cast<uint64_t>(longest - least + 1)));
  return example(draw, size);
}

int64_t SequenceTask::held_out_count(Split split, int64_t size) const {
  (void)split, (void)size;
  const int64_t together = twins();
  return (config_.held_out + together - 1) / together * together;
}

Example SequenceTask::held_out_example(Split split, uint64_t index, int64_t size) const {
  return held_out(mix(split_key(facts_.seed, split), static_cast<uint64_t>(size)), index, size);
}

// ---- rows ----

Batch SequenceTask::batch_of(const std::vector<Example>& examples) const {
  const auto B = static_cast<int64_t>(examples.size()), V = static_cast<int64_t>(symbols().size());
  std::vector<std::vector<int64_t>> rows, targets;
  for (const auto& e : examples) {
    auto& row = rows.emplace_back();
    if (facts_.causal) row.push_back(V + start);
    row.insert(row.end(), e.given.begin(), e.given.end());
    auto& target = targets.emplace_back(row.size(), kIgnore);
    ORDO_ASSERT(asks_ != Asks::label || e.asked.size() == 1);
    ORDO_ASSERT(asks_ != Asks::each || e.asked.size() == e.given.size());
    if (reads_mean()) {
      target = e.asked;
    } else if (asks_ == Asks::each) {
      std::copy(e.asked.begin(), e.asked.end(), target.end() - std::ssize(e.asked));
    } else if (asks_ == Asks::label) {
      row.push_back(V + question);
      target.push_back(e.asked.front());
    } else {
      row.push_back(V + (facts_.causal ? equals : slot));
      for (size_t i = 0; i + 1 < e.asked.size(); ++i) row.push_back(facts_.causal ? e.asked[i] : V + slot);
      target.insert(target.end(), e.asked.begin(), e.asked.end());
    }
  }
  const auto longest = [](const std::vector<std::vector<int64_t>>& lists) {
    size_t most = 0;
    for (const auto& list : lists) most = std::max(most, list.size());
    return static_cast<int64_t>(most);
  };
  const auto filled = [&](const std::vector<std::vector<int64_t>>& lists, int64_t with) {
    const int64_t L = longest(lists);
    Tensor all = at::full({B, L}, with, at::kLong);
    for (int64_t b = 0; b < B; ++b)
      std::copy(lists[static_cast<size_t>(b)].begin(), lists[static_cast<size_t>(b)].end(),
                all.data_ptr<int64_t>() + b * L);
    return all;
  };
  Batch batch{.ids = filled(rows, V + padding), .targets = filled(targets, kIgnore)};
  batch.weight = batch.targets.ne(kIgnore).sum().item<double>();
  batch.at = consecutive(0, batch.ids.size(1), at::kCPU);
  const Tensor real = batch.ids.ne(V + padding);
  // A causal row does not see the padding behind it.
  if ((!facts_.causal || reads_mean()) && !real.all().item<bool>()) batch.mask.keys = real;
  return batch;
}

Tensor SequenceTask::judged(Model& model, const Batch& batch) const {
  const Tensor hidden = model.forward({.ids = batch.ids, .at = batch.at, .mask = batch.mask, .draw = batch.draw});
  if (!reads_mean()) return hidden;
  if (!batch.mask.keys.defined()) return hidden.mean(1, /*keepdim=*/true);
  const Tensor real = batch.mask.keys.unsqueeze(-1).to(hidden.scalar_type());
  return (hidden * real).sum(1, /*keepdim=*/true) / real.sum(1, /*keepdim=*/true);
}

Loss SequenceTask::loss(Model& model, const Batch& batch, const LossOptions& options) const {
  return {.sum = model.head().loss(judged(model, batch), batch.targets, options), .weight = batch.weight};
}

Evaluation SequenceTask::evaluate(Model& model, const StreamOptions& options) const {
  StreamOptions whole = options;
  whole.training = false;
  const auto stream = open(whole);
  TokenScores scores(nullptr, TokenScores::Keep::rows);
  const c10::NoGradGuard no_gradients;
  while (const auto batch = stream->next()) {
    if (options.stop != nullptr && options.stop->load()) return {};
    const Batch there = to_device(*batch, model.head().weight().device());
    scores.judge(model.head(), judged(model, there), there.targets, there.weight);
  }
  Evaluation made = scores.evaluation();
  made.protocol = "whole_examples";
  made.outcomes.twins = twins();
  if (asks_ == Asks::label) made.metrics.erase("exact_match");
  return made;
}

// ---- what it is ----

uint64_t SequenceTask::fingerprint() const {
  // The examples are a function of the code, the settings and the seed: the first ones stand for all.
  constexpr uint64_t kSample = 64;
  uint64_t hash = mix(key_of(facts_.seed, kind()), static_cast<uint64_t>(training_count()));
  for (uint64_t i = 0; i < kSample; ++i) {
    const Example e = training_example(split_key(facts_.seed, Split::train), i, smallest());
    for (const auto* list : {&e.given, &e.asked}) hash = hash_bytes(list->data(), list->size() * sizeof(int64_t), hash);
  }
  return hash;
}

std::vector<std::string> SequenceTask::summary() const {
  std::vector<std::string> lines{
      fmt::format("{}: {} symbols, {}", kind(), symbols().size(),
                  training_count() == 0 ? std::string("fresh examples without end")
                                        : fmt::format("{} training examples", training_count())),
      fmt::format("held out: {} examples at each length", held_out_count(Split::validation, smallest()))};
  for (uint64_t i = 0; i < 3; ++i)
    lines.push_back("as in: " + text(training_example(split_key(facts_.seed, Split::train), i, smallest())));
  return lines;
}

}  // namespace ordo
