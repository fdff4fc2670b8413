// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/token_classification.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ordo/config/config.h"
#include "ordo/core/hash.h"
#include "ordo/core/text.h"
#include "ordo/data/mixture.h"
#include "ordo/tasks/tag_predictor.h"
#include "ordo/tasks/tagged_rows.h"

namespace ordo {

namespace {

std::string all_words(const std::vector<TaggedText>& sentences) {
  std::string all;
  for (const auto& sentence : sentences) all.append(join(sentence.words, " ")).append(" ");
  return all;
}

// What the tokens of a sentence up to its first word need.
int64_t least_tokens(const TaggedSentence& sentence) {
  const int64_t first = sentence.starts.size() > 1 ? sentence.starts[1] - sentence.starts[0] : sentence.row.first;
  return sentence.row.marks() + first;
}

}  // namespace

void fields(Fields& f, TokenClassification::Config& c) {
  f("tokenizer", c.tokenizer, "how words become tokens; what it learns, it learns from the training split", required());
  f("data", c.data, "files of sentences in words and tags");
  f("split", c.split, "how what is trained on is divided, where not all splits have files of their own");
  f("classes", c.classes, "the tags, in order; absent: those of the training split");
  f("classes_file", c.classes_file,
    "a file of the tags, a line each; where none of them is a whole number, a tag may also count the lines from 0");
  f("background", c.background, "the tag that means nothing, left out of precision, recall and F1");
  f("too_long", c.too_long, "a row of more than train.length tokens ends the run, or its last words are left out",
    kTooLong);
}

TokenClassification::TokenClassification(const Config& config, const TaskFacts& facts)
    : config_(config), facts_(facts) {
  auto problems = contradictions(config.data);
  if (config.split) rule_ = splits().build(*config.split, {.seed = facts.seed});
  if (!config.classes.empty() && !config.classes_file.empty())
    problems.push_back("task.classes and task.classes_file both name the tags: give one");
  for (const Split split : {Split::validation, Split::test})
    if (rule_ && rule_->gives(split) && config.data.has(split))
      problems.push_back(
          fmt::format("task.split takes {0} out of the training files, and task.data.{0} or generate "
                      "gives it, too: give one",
                      split_name(split)));
  require<ConfigError>(problems.empty(), "{}", join(problems, "\n"));
}

ModelFacts TokenClassification::complete(ModelFacts facts) const {
  facts.vocab_size = tokenizer()->vocab_size();
  facts.outputs = std::ssize(classes());
  return facts;
}

std::optional<std::string> TokenClassification::refuses(const Model& model) const {
  if (!model.reads_source()) return std::nullopt;
  return "token_classification asks for the tag of each word that is read, and an encoder-decoder answers in words of "
         "its own; use model.kind: encoder";
}

std::optional<std::string> TokenClassification::refuses_length(Split split, int64_t length) const {
  if (!has(split)) return std::nullopt;
  const auto of_more = [](int64_t (*measure)(const Sentence&)) {
    return [measure](const Sentence& a, const Sentence& b) { return measure(a) < measure(b); };
  };
  const bool cut = config_.too_long == TooLong::cut;
  const auto needs = cut ? &least_tokens : +[](const Sentence& sentence) { return sentence.row.size(); };
  const Sentence& longest = *std::max_element(all(split).begin(), all(split).end(), of_more(needs));
  if (needs(longest) <= length) return std::nullopt;
  return fmt::format("{} of the {} split has {} tokens ({}), and {} are allowed: give {} for train.length{}",
                     cut ? "the longest first word" : "the longest sentence", split_name(split), needs(longest),
                     longest.read.where, length, needs(longest), cut ? "" : ", or task.too_long: cut");
}

MixedExamples TokenClassification::mixed() const {
  const auto& training = all(Split::train);
  return mixed_examples(config_.data.train, config_.data.weights, std::ssize(training),
                        [&](uint64_t number) { return training[number].read.entry; });
}

std::unique_ptr<BatchStream> TokenClassification::open(const StreamOptions& options) const {
  require<ConfigError>(has(options.split), "there is no {0} data: give task.data.{0} or task.split",
                       split_name(options.split));
  const auto refusal = refuses_length(options.split, options.length);
  require<ConfigError>(!refusal, "{}", refusal.value_or(""));
  require<ConfigError>(options.training || options.stride == 0,
                       "token_classification is judged by whole sentences, over which no window slides: leave the "
                       "stride out");
  return example_stream(std::make_shared<TaggedSet>(data_, options.split, options.length),
                        {.batch_size = options.batch_size,
                         .batch_tokens = options.batch_tokens,
                         .by_length = true,
                         .training = options.training,
                         .seed = options.seed,
                         .ranks = options.ranks,
                         .mixed = options.training ? mixed() : MixedExamples()});
}

Loss TokenClassification::loss(Model& model, const Batch& batch, const LossOptions& options) const {
  return {.sum = model.head().loss(model.forward(input_of(batch)), batch.targets, options), .weight = batch.weight};
}

Evaluation TokenClassification::evaluate(Model& model, const StreamOptions& options) const {
  ORDO_ASSERT(!model.is_training());
  StreamOptions whole = options;
  whole.training = false;
  whole.ranks = {};
  const auto stream = open(whole);
  const TaggedSet set(data_, options.split, options.length);
  TagJudge judge(set, classes(), data().classes->find(config_.background));
  const c10::NoGradGuard no_gradients;
  while (const auto batch = stream->next()) {
    if (options.stop != nullptr && options.stop->load()) return {};
    const Batch there = to_device(*batch, model.head().weight().device());
    judge.add(model.head().logits(model.forward(input_of(there))));
  }
  Evaluation made = judge.evaluation(options);
  made.protocol = "whole_examples";
  if (options.details) made.notes.insert(made.notes.end(), data().told.begin(), data().told.end());
  return made;
}

std::shared_ptr<const Predictor> TokenClassification::predictor() const {
  return std::make_shared<TagPredictor>(*tokenizer(), classes(), config_.too_long);
}

// ---- reading ----

const TokenClassification::Data& TokenClassification::data() const {
  std::call_once(once_, [this] {
    auto made = std::make_shared<Data>();
    TaggedTexts read = read_tagged_texts(config_.data, rule_.get(), facts_.seed);
    made->classes = named_classes(read);
    const auto& training = read.splits[static_cast<size_t>(Split::train)];
    made->tokenizer = tokenizers().build(
        config_.tokenizer, {.saved = facts_.saved_tokenizer, .text = [&training] { return all_words(training); }});
    const TextRows rows(*made->tokenizer, /*pairs=*/false);
    BadLines bad(config_.data.on_bad_line);
    for (const Split split : kSplits) {
      auto& sentences = made->splits[static_cast<size_t>(split)];
      for (auto& text : read.splits[static_cast<size_t>(split)]) {
        if (split != Split::train) made->classes->require_judged(text.tags, text.where);
        bad.attempt(
            [&] { sentences.push_back(tagged_sentence(std::move(text), rows, *made->tokenizer, *made->classes)); });
      }
      require<DataError>(!sentences.empty() || !has(split), "no sentence is left for the {} split: {}",
                         split_name(split), bad.sentence());
    }
    require<ConfigError>(config_.background == Config().background || made->classes->find(config_.background),
                         "task.background ({}) is none of the tags {}", config_.background,
                         class_list(made->classes->all()));
    for (const auto& sentence : {read.left_out, bad.sentence()})
      if (!sentence.empty()) made->told.push_back(sentence);
    data_ = std::move(made);
  });
  return *data_;
}

ClassNames TokenClassification::named_classes(const TaggedTexts& read) const {
  if (!config_.classes.empty()) return ClassNames(config_.classes);
  if (!config_.classes_file.empty()) return ClassNames::of_file(config_.classes_file);
  std::set<std::string> tags;
  for (const auto& sentence : read.splits[static_cast<size_t>(Split::train)])
    tags.insert(sentence.tags.begin(), sentence.tags.end());
  return ClassNames::of_labels(tags);
}

// ---- what it is ----

uint64_t TokenClassification::fingerprint() const {
  uint64_t hash = key_of(0, join(classes(), "\n"));
  for (const auto& sentence : all(Split::train))
    for (const auto* list : {&sentence.row.ids, &sentence.starts, &sentence.tags})
      hash = hash_bytes(list->data(), list->size() * sizeof(int64_t), hash);
  return mixed_fingerprint(hash, mixed().parts);
}

std::vector<std::string> TokenClassification::summary() const {
  std::vector<std::string> lines{
      fmt::format("tokenizer: {}, {} tokens", tokenizer()->kind(), tokenizer()->vocab_size())};
  std::vector<int64_t> counts(classes().size(), 0);
  for (const Split split : kSplits) {
    if (!has(split)) continue;
    int64_t words = 0, longest = 0;
    for (const auto& sentence : all(split)) {
      words += std::ssize(sentence.tags);
      longest = std::max(longest, sentence.row.size());
      for (const int64_t tag : sentence.tags) counts[static_cast<size_t>(tag)] += split == Split::train ? 1 : 0;
    }
    lines.push_back(fmt::format("{}: {} words in {} sentences of {} tokens at most", split_name(split), words,
                                all(split).size(), longest));
  }
  for (auto& line : described(mixed().parts, "sentences")) lines.push_back(std::move(line));
  lines.push_back(fmt::format("{} tags, in training: {}", counts.size(), counted_classes(classes(), counts)));
  lines.insert(lines.end(), data().told.begin(), data().told.end());
  return lines;
}

}  // namespace ordo
