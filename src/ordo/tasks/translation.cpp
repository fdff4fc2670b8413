// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/translation.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ordo/config/words.h"
#include "ordo/core/errors.h"
#include "ordo/core/hash.h"
#include "ordo/core/text.h"
#include "ordo/data/kept_files.h"
#include "ordo/data/mixture.h"
#include "ordo/data/text_file.h"
#include "ordo/tasks/side_tokenizers.h"
#include "ordo/tasks/translation_writer.h"
#include "ordo/tasks/unknown_words.h"

namespace ordo {

namespace {

constexpr NamedValue kLongPairs[] = {{"leave_out", static_cast<int>(LongPairs::leave_out)},
                                     {"stop", static_cast<int>(LongPairs::stop)}};

int64_t longest_side(const Example& pair) { return std::max(std::ssize(pair.given), std::ssize(pair.asked) - 1); }

// What contradicts itself; empty: nothing.
std::string contradiction(const Translation::Config& c) {
  const bool each = c.source_tokenizer.has_value() || c.target_tokenizer.has_value();
  if (c.tokenizer && each)
    return "task.tokenizer is of both sides, so task.source_tokenizer and task.target_tokenizer say it twice: give it "
           "or them";
  if (!c.tokenizer && !(c.source_tokenizer && c.target_tokenizer))
    return fmt::format("task.tokenizer is missing ({}); or give task.source_tokenizer and task.target_tokenizer",
                       join(names_of(tokenizers().kinds()), ", "));
  return wrong_weights(c.data.weights, c.data.train.entries().size(), "task.data");
}

// All of them, patterns expanded.
std::vector<fs::path> files_of_pairs(const TextPairsConfig& c) {
  std::vector<fs::path> all;
  for (const PairPaths* const paths : {&c.train, &c.validation, &c.test})
    for (const auto* const given : {&paths->files, &paths->source, &paths->target})
      for (auto& file : expand_paths(*given)) all.push_back(std::move(file));
  return all;
}

}  // namespace

int64_t Translation::Pair::length() const { return longest_side(ids); }

void fields(Fields& f, Translation::Config& c) {
  f("tokenizer", c.tokenizer, "how texts of both sides become tokens of one vocabulary");
  f("source_tokenizer", c.source_tokenizer, "that of the sources alone, in place of tokenizer");
  f("target_tokenizer", c.target_tokenizer, "that of the targets alone");
  f("data", c.data, "the pairs", required());
  f("split", c.split, "how task.data.train is divided; splits that it does not give have files of their own");
  f("written", c.written, "how whole texts are written and judged");
  f("too_long", c.too_long,
    "a pair of which a side has more than train.length tokens is left out and told, or ends the run", kLongPairs);
}

Translation::Translation(const Config& config, const TaskFacts& facts)
    : SequenceTask(facts, Asks::sequence), config_(config), facts_(facts) {
  const std::string wrong = contradiction(config);
  require<ConfigError>(wrong.empty(), "{}", wrong);
  if (!config.split) return;
  rule_ = splits().build(*config.split, {.seed = facts.seed});
  for (const auto& [split, files] :
       {std::pair{Split::validation, &config.data.validation}, std::pair{Split::test, &config.data.test}})
    require<ConfigError>(
        !rule_->gives(split) || !files->given(),
        "task.split takes the {0} split from task.data.train, and task.data.{0} gives files of its own: "
        "leave out one of them",
        split_name(split));
}

std::optional<std::string> Translation::refuses(const Model& model) const {
  if (!model.causal())
    return "translation writes texts of any length, which a model that sees both sides cannot do token by token; use "
           "model.kind: encoder_decoder or decoder";
  if (!model.reads_source() && !shares_vocabulary())
    return "a decoder reads source and target in one row, so both need one vocabulary: give task.tokenizer, or use "
           "model.kind: encoder_decoder";
  return std::nullopt;
}

bool Translation::has(Split split) const {
  if (split == Split::train) return true;
  const PairPaths& files = split == Split::validation ? config_.data.validation : config_.data.test;
  return files.given() || (rule_ != nullptr && rule_->gives(split));
}

std::optional<std::string> Translation::refuses_length(Split split, int64_t length) const {
  if (length < 1) return fmt::format("translation has no pairs of length {}: the shortest are of one token", length);
  if (!has(split)) return std::nullopt;
  const Pair& longest = pairs(split).back();
  if (config_.too_long == LongPairs::stop && longest.length() > length)
    return fmt::format(
        "the longest pair of the {} split has {} tokens on a side ({}), and {} are allowed: give {} for train.length, "
        "or task.too_long: leave_out",
        split_name(split), longest.length(), where(split, static_cast<uint64_t>(std::ssize(pairs(split)) - 1)), length,
        longest.length());
  if (up_to(split, length) > 0) return std::nullopt;
  return fmt::format("the {} split has no pair of at most {} tokens a side: its shortest has {}", split_name(split),
                     length, pairs(split).front().length());
}

// ---- reading ----

const TextPairs& Translation::texts() const {
  std::call_once(texts_once_, [this] {
    texts_ =
        kept_files<TextPairs>(fmt::format("{}|{}", facts_.seed, settings_text(config_)), files_of_pairs(config_.data),
                              [this] { return read_text_pairs(config_.data, rule_.get()); });
  });
  return *texts_;
}

std::string Translation::training_text(bool sources, bool targets) const {
  std::string all;
  for (const auto& pair : texts().pairs[static_cast<size_t>(Split::train)]) {
    if (sources) all += pair.source + "\n";
    if (targets) all += pair.target + "\n";
  }
  return all;
}

const Tokenizer& Translation::target() const {
  if (target_) return *target_;
  const auto made = [&](const Choice<Tokenizer>& choice, const fs::path& saved, bool of_sources, bool of_targets) {
    return tokenizers().build(choice, {.saved = saved, .text = [this, of_sources, of_targets] {
                                         return training_text(of_sources, of_targets);
                                       }});
  };
  const fs::path& saved = facts_.saved_tokenizer;
  if (shares_vocabulary()) {
    source_ = target_ = made(*config_.tokenizer, saved, true, true);
  } else {
    const bool kept = !saved.empty();
    source_ = made(*config_.source_tokenizer, kept ? SideTokenizers::source_folder(saved) : saved, true, false);
    target_ = std::make_shared<SideTokenizers>(
        source_, made(*config_.target_tokenizer, kept ? SideTokenizers::target_folder(saved) : saved, false, true));
  }
  return *target_;
}

const Tokenizer& Translation::source() const {
  target();  // makes both
  return *source_;
}

std::vector<Translation::Pair> Translation::encoded(Split split) const {
  std::vector<Pair> made;
  const auto& pairs = texts().pairs[static_cast<size_t>(split)];
  const int64_t end = target().vocab_size();
  for (size_t i = 0; i < pairs.size(); ++i) {
    try {
      Pair pair{.ids = {.given = source().encode(pairs[i].source), .asked = target().encode(pairs[i].target)},
                .number = i};
      require<DataError>(!pair.ids.given.empty() && !pair.ids.asked.empty(), "the tokenizer leaves nothing of its {}",
                         pair.ids.given.empty() ? "source" : "target");
      pair.ids.asked.push_back(end);
      made.push_back(std::move(pair));
    } catch (const DataError& error) {
      throw DataError(fmt::format("{}: {}", pairs[i].where, error.what()));
    }
  }
  std::stable_sort(made.begin(), made.end(), [](const Pair& a, const Pair& b) { return a.length() < b.length(); });
  return made;
}

const Translation::Data& Translation::data() const {
  std::call_once(data_once_, [this] {
    for (const Split split : kSplits) data_.splits[static_cast<size_t>(split)] = encoded(split);
  });
  return data_;
}

const std::vector<std::string>& Translation::symbols() const {
  if (symbols_.empty()) {
    for (int64_t id = 0; id < target().vocab_size(); ++id) symbols_.push_back(target().piece(id));
    symbols_.emplace_back("<end>");
  }
  return symbols_;
}

std::optional<int64_t> Translation::never_right() const { return unknown_id(target()); }

int64_t Translation::given_symbols() const { return shares_vocabulary() ? 0 : source().vocab_size(); }

// ---- examples ----

int64_t Translation::up_to(Split split, int64_t length) const {
  const auto& all = pairs(split);
  return std::partition_point(all.begin(), all.end(), [&](const Pair& pair) { return pair.length() <= length; }) -
         all.begin();
}

int64_t Translation::training_count(int64_t longest) const { return up_to(Split::train, longest); }

MixedExamples Translation::training_mixture(int64_t longest) const {
  const auto entry_of = [&](uint64_t index) { return texts().pairs[0][pairs(Split::train)[index].number].entry; };
  return mixed_examples(config_.data.train.entries(), config_.data.weights, training_count(longest), entry_of);
}

int64_t Translation::training_length(uint64_t index) const { return pairs(Split::train)[index].length(); }

Example Translation::training_example(uint64_t seed, uint64_t index, int64_t longest) const {
  (void)seed, (void)longest;  // every pair is drawn once an epoch
  return pairs(Split::train)[index].ids;
}

int64_t Translation::held_out_count(Split split, int64_t size) const { return up_to(split, size); }

Example Translation::held_out_example(Split split, uint64_t index, int64_t size) const {
  (void)size;
  return pairs(split)[index].ids;
}

std::string Translation::where(Split split, uint64_t index) const {
  return texts().pairs[static_cast<size_t>(split)][pairs(split)[index].number].where;
}

std::shared_ptr<const TextWriter> Translation::writer() const {
  return std::make_shared<TranslationWriter>(source(), target(),
                                             [this](std::vector<int64_t> ids) { return prompt_of(std::move(ids)); });
}

// ---- what it is ----

std::vector<MixedPart> Translation::parts() const {
  return training_mixture(pairs(Split::train).back().length()).parts;
}

uint64_t Translation::fingerprint() const {
  uint64_t hash = mix(source().fingerprint(), target().fingerprint());
  for (const auto& pair : pairs(Split::train))
    for (const auto* list : {&pair.ids.given, &pair.ids.asked})
      hash = hash_bytes(list->data(), list->size() * sizeof(int64_t), hash);
  return mixed_fingerprint(hash, parts());
}

namespace {

// Held-out sources that stand in training too: what a model has of them may be remembered.
size_t seen_in_training(const TextPairs& texts, Split split) {
  std::set<std::string_view> seen;
  for (const auto& pair : texts.pairs[static_cast<size_t>(Split::train)]) seen.insert(pair.source);
  const auto& held_out = texts.pairs[static_cast<size_t>(split)];
  return static_cast<size_t>(std::count_if(held_out.begin(), held_out.end(),
                                           [&](const TextPair& pair) { return seen.contains(pair.source); }));
}

}  // namespace

std::string Translation::longer_than(Split split, int64_t length) const {
  const auto all = std::ssize(pairs(split)), longer = all - up_to(split, length);
  if (longer == 0) return {};
  return fmt::format("{} of {} pairs have more than {} tokens on a side and are left out", longer, all, length);
}

std::vector<std::string> Translation::left_out(int64_t length) const {
  std::vector<std::string> lines;
  if (!texts().left_out.empty()) lines.push_back(texts().left_out);
  for (const Split split : kSplits)
    if (const auto longer = has(split) ? longer_than(split, length) : ""; !longer.empty())
      lines.push_back(
          fmt::format("{}: {}{}", split_name(split), longer, split == Split::train ? "" : " at that length"));
  return lines;
}

std::vector<std::string> Translation::summary() const {
  std::vector<std::string> lines;
  if (shares_vocabulary())
    lines.push_back(fmt::format("tokenizer: {}, {} tokens, of both sides", target().kind(), target().vocab_size()));
  else
    lines.push_back(fmt::format("tokenizers: {} of the sources, {} tokens; {} of the targets, {}", source().kind(),
                                source().vocab_size(), config_.target_tokenizer->kind, target().vocab_size()));
  for (const Split split : kSplits) {
    if (!has(split)) continue;
    const auto& all = pairs(split);
    std::string line =
        fmt::format("{}: {} pairs, longer sides of {} to {} tokens, half of them up to {}", split_name(split),
                    all.size(), all.front().length(), all.back().length(), all[all.size() / 2].length());
    int64_t lacking = 0, tokens = 0;
    for (const Pair& pair : all) {
      tokens += std::ssize(pair.ids.asked);
      if (never_right()) lacking += std::count(pair.ids.asked.begin(), pair.ids.asked.end(), *never_right());
    }
    if (lacking > 0) line += unknown_share(lacking, tokens) + " in targets, and are never right";
    if (const size_t seen = split == Split::train ? 0 : seen_in_training(texts(), split); seen > 0)
      line += fmt::format("; {} sources stand in training too", seen);
    lines.push_back(std::move(line));
  }
  for (auto& line : described(parts(), "pairs")) lines.push_back(std::move(line));
  if (!texts().left_out.empty()) lines.push_back(texts().left_out);
  const TextPair& first = texts().pairs[0].at(pairs(Split::train).front().number);
  lines.push_back(fmt::format("as in: {} -> {}", first.source, first.target));
  return lines;
}

}  // namespace ordo
