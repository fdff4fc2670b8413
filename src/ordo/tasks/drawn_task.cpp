// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/drawn_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ordo/config/config.h"

namespace ordo {

namespace {

constexpr NamedValue kReadAt[] = {{"auto", static_cast<int>(ReadAt::automatic)},
                                  {"mean", static_cast<int>(ReadAt::mean)},
                                  {"end", static_cast<int>(ReadAt::end)}};

uint64_t split_key(uint64_t seed, Split split) { return key_of(seed, fmt::format("examples {}", split_name(split))); }

}  // namespace

void drawn_fields(Fields& f, DrawnConfig& c, Asks asks) {
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

DrawnTask::DrawnTask(const DrawnConfig& config, const TaskFacts& facts, Asks asks, std::vector<std::string> symbols)
    : SequenceTask(facts, asks, config.read),
      drawn_(config),
      symbols_(std::move(symbols)),
      training_key_(split_key(facts.seed, Split::train)) {
  require<ConfigError>((config.common > 0) == (config.common_share > 0.0),
                       "task.common ({}) and task.common_share ({}) need each other: give both or neither",
                       config.common, config.common_share);
}

// ---- sizes ----

int64_t DrawnTask::smallest() const { return std::max(drawn_.shortest, least_size()); }

bool DrawnTask::has(Split split) const { return split != Split::train; }

std::optional<std::string> DrawnTask::refuses_length(Split split, int64_t length) const {
  const int64_t least = split == Split::train ? smallest() : least_size();
  if (length < least)
    return fmt::format("{} has no examples of length {}: with these settings {} is the smallest", kind(), length,
                       least);
  if (const int64_t common = drawn_.common; split == Split::train && common > 0 && (common < least || common >= length))
    return fmt::format("{}: task.common ({}) must be at least {}, the smallest size, and below train.length ({})",
                       kind(), common, least, length);
  try {
    given_length(length);
    return std::nullopt;
  } catch (const ConfigError& refusal) {
    return refusal.what();
  }
}

// ---- drawing ----

Example DrawnTask::held_out(uint64_t key, uint64_t index, int64_t size) const {
  KeyedSequence draw(mix(key, index));
  return example(draw, size);
}

Example DrawnTask::of_training(uint64_t key, uint64_t index, int64_t longest) const {
  KeyedSequence draw(mix(key, index));
  int64_t least = smallest();
  if (drawn_.common > 0 && drawn_.common < longest) {
    if (draw.unit() < drawn_.common_share)
      longest = drawn_.common;
    else
      least = drawn_.common + 1;
  }
  const auto size = least + static_cast<int64_t>(draw.below(static_cast<uint64_t>(longest - least + 1)));
  return example(draw, size);
}

Example DrawnTask::training_example(uint64_t seed, uint64_t index, int64_t longest) const {
  return of_training(drawn_.examples > 0 ? training_key_ : mix(training_key_, seed), index, longest);
}

int64_t DrawnTask::held_out_count(Split split, int64_t size) const {
  (void)split, (void)size;
  const int64_t together = twins();
  return (drawn_.held_out + together - 1) / together * together;
}

Example DrawnTask::held_out_example(Split split, uint64_t index, int64_t size) const {
  return held_out(mix(split_key(seed(), split), static_cast<uint64_t>(size)), index, size);
}

// ---- what it is ----

uint64_t DrawnTask::fingerprint() const {
  // The examples are a function of the code, the settings and the seed: the first ones stand for all, but are of the
  // smallest size and show nothing of how sizes are drawn.
  constexpr uint64_t kSample = 64;
  uint64_t hash = mix(key_of(seed(), kind()), static_cast<uint64_t>(drawn_.examples));
  if (drawn_.common > 0)
    for (const double drawn : {static_cast<double>(drawn_.common), drawn_.common_share})
      hash = mix(hash, std::bit_cast<uint64_t>(drawn));
  for (uint64_t i = 0; i < kSample; ++i) {
    const Example e = of_training(training_key_, i, smallest());
    for (const auto* list : {&e.given, &e.asked}) hash = hash_bytes(list->data(), list->size() * sizeof(int64_t), hash);
  }
  return hash;
}

std::vector<std::string> DrawnTask::summary() const {
  std::vector<std::string> lines{
      fmt::format("{}: {} symbols, {}", kind(), symbols().size(),
                  drawn_.examples == 0 ? std::string("fresh examples without end")
                                       : fmt::format("{} training examples", drawn_.examples)),
      fmt::format("held out: {} examples at each length", held_out_count(Split::validation, smallest()))};
  for (uint64_t i = 0; i < 3; ++i) lines.push_back("as in: " + text(of_training(training_key_, i, smallest())));
  return lines;
}

}  // namespace ordo
