// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/pairs.h"

#include <algorithm>
#include <cmath>

#include "ordo/config/config.h"
#include "ordo/core/errors.h"
#include "ordo/core/hash.h"
#include "ordo/core/text.h"
#include "ordo/data/kept_files.h"
#include "ordo/data/splits.h"
#include "ordo/tasks/pair_writer.h"

namespace ordo {

namespace {

bool holds_word(const std::vector<int64_t>& ids, int64_t word) {
  return std::find(ids.begin(), ids.end(), word) != ids.end();
}

int64_t answer_words(const Example& pair) { return static_cast<int64_t>(pair.asked.size()) - 1; }  // without the end

}  // namespace

void fields(Fields& f, PairConfig& c) {
  f("train", c.train, "file of the training pairs; its words are the vocabulary", required());
  f("validation", c.validation, "file of the validation pairs");
  f("test", c.test, "file of the test pairs");
  f("validation_fraction", c.validation_fraction,
    "share of the training pairs held out for validation, in place of a file", below_one());
  f("longest", c.longest, "answers of more words are left out of training; 0: none are", at_least(0));
}

PairTask::PairTask(const PairConfig& config, const TaskFacts& facts)
    : SequenceTask(facts, Asks::sequence), config_(config) {
  require<ConfigError>(config.validation.empty() || config.validation_fraction == 0.0,
                       "task.validation ({}) and task.validation_fraction ({}) both say what validation is; give one",
                       config.validation.string(), config.validation_fraction);
}

std::optional<std::string> PairTask::refuses(const Model& model) const {
  if (model.causal()) return std::nullopt;
  return fmt::format(
      "{} asks for answers of any number of words, which a model that sees both sides cannot write one by one; use "
      "model.kind: decoder",
      kind());
}

const fs::path& PairTask::file(Split split) const {
  return split == Split::train ? config_.train : split == Split::validation ? config_.validation : config_.test;
}

bool PairTask::has(Split split) const {
  return !file(split).empty() || (split == Split::validation && config_.validation_fraction > 0.0);
}

std::optional<std::string> PairTask::refuses_length(Split split, int64_t length) const {
  if (length < 1) return fmt::format("{} has no answers of length {}: the shortest are of one word", kind(), length);
  if (!has(split)) return std::nullopt;
  if (split != Split::train) {
    const Pairs& held_out = pairs(split);
    if (held_out.up_to(length) > 0) return std::nullopt;
    return fmt::format("the {} split of {} has no answer of at most {} words: its shortest has {}", split_name(split),
                       kind(), length, answer_words(*held_out.all.front()));
  }
  const int64_t needed = answer_words(*pairs(Split::train).all.back());
  if (length >= needed) return std::nullopt;
  return fmt::format(
      "train.length ({0}) is below the longest answer of {1} ({2} words): set train.length to {2}, or task.longest to "
      "{0} to train without the longer ones",
      length, config_.train.string(), needed);
}

// ---- reading ----

const PairTask::Data& PairTask::data() const {
  std::call_once(once_, [this] {
    auto read = files();
    data_ = {.files = read, .splits = chosen(*read)};
  });
  return data_;
}

std::shared_ptr<const PairFiles> PairTask::files() const {
  std::array<fs::path, 3> paths;
  std::vector<fs::path> behind;
  for (const Split split : kSplits) {
    paths[static_cast<size_t>(split)] = file(split);
    if (file(split).empty()) continue;
    for (auto& source : sources(file(split))) behind.push_back(std::move(source));
  }
  return kept_files<PairFiles>(
      fmt::format("{}|{}|{}|{}", kind(), paths[0].string(), paths[1].string(), paths[2].string()), behind,
      [&] { return read_pair_files(paths, [this](const fs::path& path) { return read(path); }); });
}

std::array<PairTask::Pairs, 3> PairTask::chosen(const PairFiles& files) const {
  std::array<Pairs, 3> splits;
  const auto add = [&](Split split, const Example& pair) {
    auto& [all, with_unknown, never_right, left_out] = splits[static_cast<size_t>(split)];
    const bool answers_unknown = holds_word(pair.asked, files.unknown());
    never_right += answers_unknown ? 1 : 0;
    with_unknown += answers_unknown || holds_word(pair.given, files.unknown()) ? 1 : 0;
    if (split == Split::train && config_.longest > 0 && answer_words(pair) > config_.longest)
      ++left_out;
    else
      all.push_back(&pair);
  };
  const auto& training = files.pairs[static_cast<size_t>(Split::train)];
  const auto held_out =
      static_cast<uint64_t>(std::llround(config_.validation_fraction * static_cast<double>(training.size())));
  const KeyedPermutation order(key_of(seed(), "held-out pairs"), training.size());
  for (size_t i = 0; i < training.size(); ++i) add(order(i) < held_out ? Split::validation : Split::train, training[i]);
  for (const Split split : {Split::validation, Split::test})
    for (const auto& pair : files.pairs[static_cast<size_t>(split)]) add(split, pair);
  for (const Split split : kSplits) order_pairs(splits[static_cast<size_t>(split)], split);
  return splits;
}

void PairTask::order_pairs(Pairs& pairs, Split split) const {
  require<DataError>(
      !pairs.all.empty() || !has(split),
      "the {} split of {} has no pair: task.train is {}, task.validation_fraction {} and task.longest {}",
      split_name(split), kind(), config_.train.string(), config_.validation_fraction, config_.longest);
  std::stable_sort(pairs.all.begin(), pairs.all.end(),
                   [](const Example* a, const Example* b) { return a->asked.size() < b->asked.size(); });
}

// ---- examples ----

int64_t PairTask::Pairs::up_to(int64_t words) const {
  const auto longer =
      std::partition_point(all.begin(), all.end(), [&](const Example* pair) { return answer_words(*pair) <= words; });
  return longer - all.begin();
}

int64_t PairTask::given_length(int64_t size) const {
  size_t most = 1;
  for (const auto& pairs : data().splits)
    for (int64_t i = 0; i < pairs.up_to(size); ++i)
      most = std::max(most, pairs.all[static_cast<size_t>(i)]->given.size());
  return static_cast<int64_t>(most);
}

int64_t PairTask::training_count(int64_t longest) const {
  (void)longest;  // refuses_length has seen to it that all fit
  return std::ssize(pairs(Split::train).all);
}

Example PairTask::training_example(uint64_t seed, uint64_t index, int64_t longest) const {
  (void)seed, (void)longest;  // every pair is drawn once an epoch
  return *pairs(Split::train).all[index];
}

int64_t PairTask::held_out_count(Split split, int64_t size) const { return pairs(split).up_to(size); }

Example PairTask::held_out_example(Split split, uint64_t index, int64_t size) const {
  (void)size;
  return *pairs(split).all[index];
}

std::string PairTask::where(Split split, uint64_t index) const {
  const Split read = file(split).empty() ? Split::train : split;  // a part of it is held out
  const Example* const first = data().files->pairs[static_cast<size_t>(read)].data();
  return fmt::format("{}: line {}", file(read).string(), pairs(split).all[index] - first + 1);
}

std::shared_ptr<const TextWriter> PairTask::writer() const {
  return std::make_shared<PairWriter>(data().files,
                                      [this](std::vector<int64_t> words) { return prompt_of(std::move(words)); });
}

// ---- what it is ----

uint64_t PairTask::fingerprint() const {
  uint64_t hash = key_of(0, join(symbols(), " "));
  for (const auto* pair : pairs(Split::train).all)
    for (const auto* list : {&pair->given, &pair->asked})
      hash = hash_bytes(list->data(), list->size() * sizeof(int64_t), hash);
  return hash;
}

std::vector<std::string> PairTask::summary() const {
  std::vector<std::string> lines{
      fmt::format("{}: {} words in {}", kind(), symbols().size() - 2, config_.train.string())};
  for (const Split split : kSplits) {
    if (!has(split)) continue;
    const auto& [all, with_unknown, never_right, left_out] = pairs(split);
    std::string line = fmt::format("{}: {} pairs, answers of {} to {} words", split_name(split), all.size(),
                                   answer_words(*all.front()), answer_words(*all.back()));
    if (left_out > 0) line += fmt::format("; {} with more than {} words are left out", left_out, config_.longest);
    if (with_unknown > 0) line += fmt::format("; {} with a word that training has not", with_unknown);
    if (never_right > 0) line += fmt::format(", {} of them in the answer, which is then never right", never_right);
    lines.push_back(std::move(line));
  }
  lines.push_back("as in: " + text(*pairs(Split::train).all.front()));
  return lines;
}

}  // namespace ordo
