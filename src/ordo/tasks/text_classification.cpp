// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/text_classification.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "ordo/config/config.h"
#include "ordo/config/words.h"
#include "ordo/core/hash.h"
#include "ordo/core/text.h"
#include "ordo/data/mixture.h"
#include "ordo/tasks/unknown_words.h"

namespace ordo {

namespace {

constexpr NamedValue kLabelsNames[] = {{"single", static_cast<int>(TextClassification::Labels::single)},
                                       {"multi", static_cast<int>(TextClassification::Labels::multi)}};

std::vector<std::string> contradictions_of(const TextClassification::Config& c) {
  std::vector<std::string> found = contradictions(c.data);
  if (!c.classes.empty() && !c.classes_file.empty())
    found.push_back("task.classes and task.classes_file both name the classes: give one");
  if (c.labels == TextClassification::Labels::multi && c.only_single)
    found.push_back("task.labels: multi takes examples of several labels, task.only_single leaves them out: give one");
  if (c.labels == TextClassification::Labels::multi && c.data.train.empty())
    found.push_back("task.labels: multi needs files of texts and labels (task.data.train)");
  if (c.only_single && c.data.train.empty())
    found.push_back("task.only_single is of files of texts and labels (task.data.train)");
  if (c.split && c.data.generate) found.push_back("task.split divides files, and the sentences are made: leave it out");
  return found;
}

// All that a tokenizer may learn from.
std::string all_texts(const std::vector<LabelledText>& examples) {
  std::string all;
  for (const auto& example : examples) {
    all.append(example.text).append(" ");
    if (!example.pair.empty()) all.append(example.pair).append(" ");
  }
  return all;
}

// The labels of a text as numbers, ascending.
std::vector<int64_t> numbered_labels(const LabelledText& read, const ClassNames& classes) {
  std::vector<int64_t> numbers;
  for (const auto& label : read.labels) numbers.push_back(classes.number(label));
  std::sort(numbers.begin(), numbers.end());
  require<DataError>(std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end(),
                     "one of the labels '{}' is there twice", join(read.labels, ","));
  return numbers;
}

// Those of the labels. A header that is read as an example would be a class of its own.
ClassNames learned_classes(const std::vector<LabelledText>& training) {
  std::map<std::string, int64_t> counts;
  std::set<std::string> labels;
  for (const auto& example : training)
    for (const auto& label : example.labels) {
      ++counts[label];
      labels.insert(label);
    }
  const auto once = std::count_if(counts.begin(), counts.end(), [](const auto& one) { return one.second == 1; });
  const bool suspicious = counts.size() > 2 && once == 1;
  for (const auto& example : training)
    for (const auto& label : example.labels)
      require<DataError>(!suspicious || !example.first_row || counts[label] > 1,
                         "{}: '{}' is the label of this line alone: if the line names the columns, give "
                         "task.data.header: true; else name the classes in task.classes",
                         example.where, label);
  return ClassNames::of_labels(labels);
}

}  // namespace

// The examples of a split at one length.
class TextSet final : public LabelledSet {
 public:
  TextSet(std::shared_ptr<const TextClassification::Data> data, Split split, int64_t length, bool pairs)
      : data_(std::move(data)), examples_(data_->splits[static_cast<size_t>(split)]), length_(length), pairs_(pairs) {}
  int64_t count() const override { return std::ssize(examples_); }
  int64_t length(uint64_t number) const override { return std::min(of(number).row.size(), length_); }
  std::string name(uint64_t number) const override { return of(number).read.where; }
  std::span<const int64_t> labels(uint64_t number) const override { return of(number).labels; }
  Batch batch(std::span<const uint64_t> numbers) const override {
    std::vector<TextRow> rows;
    for (const uint64_t number : numbers) rows.push_back(cut(of(number).row, length_));
    return side_by_side(rows, pairs_);
  }
  Json shown(uint64_t number) const override {
    const LabelledText& read = of(number).read;
    Json made{{"text", read.text}};
    if (pairs_) made["pair"] = read.pair;
    return made;
  }
  std::vector<std::string> notes() const override {
    const auto longer = std::count_if(examples_.begin(), examples_.end(),
                                      [this](const auto& example) { return example.row.size() > length_; });
    std::vector<std::string> made = data_->told;
    if (longer > 0)
      made.push_back(fmt::format("{} of {} rows had more than {} tokens and were cut", longer, count(), length_));
    return made;
  }

 private:
  const TextClassification::Example& of(uint64_t number) const { return examples_[number]; }
  std::shared_ptr<const TextClassification::Data> data_;
  const std::vector<TextClassification::Example>& examples_;
  int64_t length_;
  bool pairs_;
};

namespace {

// Texts without labels, their rows cut already.
class GivenTexts final : public ExampleSet {
 public:
  explicit GivenTexts(bool pairs) : pairs_(pairs) {}
  void add(TextRow row, const std::string& where) {
    rows_.push_back(std::move(row));
    names_.push_back(where);
  }
  int64_t count() const override { return std::ssize(rows_); }
  std::string name(uint64_t number) const override { return names_[number]; }
  Batch batch(std::span<const uint64_t> numbers) const override {
    std::vector<TextRow> rows;
    for (const uint64_t number : numbers) rows.push_back(rows_[number]);
    return side_by_side(rows, pairs_);
  }

 private:
  bool pairs_;
  std::vector<TextRow> rows_;
  std::vector<std::string> names_;
};

}  // namespace

void fields(Fields& f, TextClassification::Config& c) {
  f("tokenizer", c.tokenizer, "how text becomes tokens; what it learns, it learns from the training split", required());
  f("data", c.data, "files of texts and their classes");
  f("split", c.split, "how what is trained on is divided, where not all splits have files of their own");
  f("classes", c.classes, "names of the classes, in order; absent: the labels of the training files");
  f("classes_file", c.classes_file,
    "a file of their names, a line each; where none of them is a whole number, a label may also count the lines from "
    "0");
  f("labels", c.labels, "of an example: one, or any number of them, apart by commas (in JSON a list)", kLabelsNames);
  f("only_single", c.only_single, "leave out the examples that have several labels");
  f("too_long", c.too_long, "a row of more than train.length tokens ends the run, or the end of its texts is cut",
    kTooLong);
}

TextClassification::TextClassification(const Config& config, const TaskFacts& facts) : config_(config), facts_(facts) {
  auto problems = contradictions_of(config);
  if (config.split) rule_ = splits().build(*config.split, {.seed = facts.seed});
  for (const Split split : {Split::validation, Split::test})
    if (rule_ && rule_->gives(split) && config.data.has(split))
      problems.push_back(
          fmt::format("task.split takes {0} out of the training files, and task.data.{0} gives files for "
                      "it: give one",
                      split_name(split)));
  require<ConfigError>(problems.empty(), "{}", join(problems, "\n"));
}

bool TextClassification::has(Split split) const { return config_.data.has(split) || (rule_ && rule_->gives(split)); }
bool TextClassification::draws_examples() const {
  return config_.data.generate.has_value() || (rule_ && rule_->drawn());
}

ModelFacts TextClassification::complete(ModelFacts facts) const {
  facts = ClassTask::complete(facts);
  facts.vocab_size = data().rows->vocab_size();
  return facts;
}

std::optional<std::string> TextClassification::refuses_length(Split split, int64_t length) const {
  if (!has(split)) return std::nullopt;
  const auto& examples = all(split);
  const auto longer = [](const Example& a, const Example& b) { return a.row.size() < b.row.size(); };
  const TextRow& row = examples.front().row;
  if (const int64_t least = row.marks() + (pairs() ? 2 : 1); length < least)
    return fmt::format("a row of {} tokens has no room for {} marks and a token of each text: give {} or more", length,
                       row.marks(), least);
  const Example& longest = *std::max_element(examples.begin(), examples.end(), longer);
  if (config_.too_long == TooLong::cut || longest.row.size() <= length) return std::nullopt;
  return fmt::format(
      "the longest row of the {} split has {} tokens ({}), and {} are allowed: give {} for train.length, or "
      "task.too_long: cut",
      split_name(split), longest.row.size(), longest.read.where, length, longest.row.size());
}

MixedExamples TextClassification::mixed() const {
  const auto& training = all(Split::train);
  return mixed_examples(config_.data.train, config_.data.weights, std::ssize(training),
                        [&](uint64_t number) { return training[number].read.entry; });
}

std::shared_ptr<const LabelledSet> TextClassification::examples(const StreamOptions& options) const {
  require<ConfigError>(has(options.split), "there is no {0} data: give task.data.{0} or task.split",
                       split_name(options.split));
  data();
  return std::make_shared<TextSet>(data_, options.split, options.length, pairs());
}

std::optional<ClassTask::InputKind> TextClassification::input_kind() const {
  return InputKind{.name = pairs() ? "two texts apart by a tab" : "a text"};
}

std::shared_ptr<const ExampleSet> TextClassification::inputs(std::span<const PredictorInput> given,
                                                             int64_t length) const {
  auto made = std::make_shared<GivenTexts>(pairs());
  for (const auto& input : given) {
    const size_t tab = pairs() ? input.text.find('\t') : std::string::npos;
    require<DataError>(!pairs() || tab != std::string::npos, "{}: expected two texts apart by a tab, found '{}'",
                       input.where, input.text);
    const std::string_view text = input.text;
    const auto pair = pairs() ? std::optional(text.substr(tab + 1)) : std::nullopt;
    const TextRow row =
        at_place(input.where, *tokenizer(), [&] { return data().rows->row(text.substr(0, tab), pair); });
    require<DataError>(config_.too_long == TooLong::cut || row.size() <= length,
                       "{}: the text has {} tokens, and the model was trained on {} at most: shorten it, or give "
                       "task.too_long=cut",
                       input.where, row.size(), length);
    warn_of_unknown(*tokenizer(), row.ids, input.where);
    made->add(cut(row, length), input.where);
  }
  return made;
}

// ---- reading ----

const TextClassification::Data& TextClassification::data() const {
  std::call_once(once_, [this] {
    auto made = std::make_shared<Data>();
    LabelledTexts read = read_labelled_texts(
        config_.data, {.several = several_labels(), .only_single = config_.only_single}, rule_.get(), facts_.seed);
    made->classes = named_classes(read);
    made->told = read.told;
    const auto& training = read.splits[static_cast<size_t>(Split::train)];
    made->tokenizer = tokenizers().build(
        config_.tokenizer, {.saved = facts_.saved_tokenizer, .text = [&training] { return all_texts(training); }});
    made->rows.emplace(*made->tokenizer, pairs());
    encode(std::move(read), *made);
    data_ = std::move(made);
    require_each_class();
  });
  return *data_;
}

ClassNames TextClassification::named_classes(const LabelledTexts& read) const {
  if (!config_.classes.empty()) return ClassNames(config_.classes);
  if (!config_.classes_file.empty()) return ClassNames::of_file(config_.classes_file);
  if (!config_.data.by_class.empty()) {
    std::vector<std::string> names;
    for (const auto& of : config_.data.by_class) names.push_back(of.name);
    return ClassNames(std::move(names));
  }
  return learned_classes(read.splits[static_cast<size_t>(Split::train)]);
}

void TextClassification::encode(LabelledTexts read, Data& data) const {
  BadLines bad(config_.data.on_bad_line);
  for (const Split split : kSplits) {
    auto& examples = data.splits[static_cast<size_t>(split)];
    for (auto& text : read.splits[static_cast<size_t>(split)]) {
      if (split != Split::train) data.classes->require_judged(text.labels, text.where);
      bad.attempt([&] {
        Example made = at_place(text.where, *data.tokenizer, [&] {
          const auto pair = pairs() ? std::optional<std::string_view>(text.pair) : std::nullopt;
          return Example{
              .row = data.rows->row(text.text, pair), .labels = numbered_labels(text, *data.classes), .read = {}};
        });
        made.read = std::move(text);
        examples.push_back(std::move(made));
      });
    }
    require<DataError>(!examples.empty() || !has(split), "no example is left for the {} split: {}", split_name(split),
                       bad.sentence());
  }
  if (const auto sentence = bad.sentence(); !sentence.empty()) data.told.push_back(sentence);
}

void TextClassification::require_each_class() const {
  const auto counts = class_counts(Split::train);
  std::vector<std::string> absent;
  for (size_t k = 0; k < counts.size(); ++k)
    if (counts[k] == 0) absent.push_back(shown(data_->classes->all()[k]));
  require<DataError>(absent.empty(), "the training split has no example of {} {}: nothing can be learned of it",
                     absent.size() == 1 ? "class" : "the classes", join(absent, ", "));
}

// ---- what it is ----

std::vector<int64_t> TextClassification::class_counts(Split split) const {
  std::vector<int64_t> counts(data_->classes->all().size(), 0);
  for (const auto& example : data_->splits[static_cast<size_t>(split)])
    for (const int64_t label : example.labels) ++counts[static_cast<size_t>(label)];
  return counts;
}

uint64_t TextClassification::fingerprint() const {
  uint64_t hash = key_of(0, join(classes(), "\n"));
  for (const auto& example : all(Split::train))
    for (const auto* list : {&example.row.ids, &example.labels})
      hash = hash_bytes(list->data(), list->size() * sizeof(int64_t), hash);
  return mixed_fingerprint(hash, mixed().parts);
}

std::string TextClassification::split_summary(Split split) const {
  const auto unknown = unknown_id(*tokenizer());
  std::vector<int64_t> sizes;
  int64_t tokens = 0, lacking = 0;
  for (const auto& example : all(split)) {
    const auto& ids = example.row.ids;
    sizes.push_back(example.row.size());
    tokens += std::ssize(ids);
    if (unknown) lacking += std::count(ids.begin(), ids.end(), *unknown);
  }
  std::sort(sizes.begin(), sizes.end());
  std::string line =
      fmt::format("{}: {} examples of {} to {} tokens, half have {} at most, 99 % {}", split_name(split), sizes.size(),
                  sizes.front(), sizes.back(), sizes[(sizes.size() - 1) / 2], sizes[(sizes.size() - 1) * 99 / 100]);
  line += unknown_share(lacking, tokens);
  if (split == Split::train) return line;
  std::unordered_set<std::string_view> trained;
  for (const auto& example : all(Split::train)) trained.insert(example.read.text);
  const auto seen = std::count_if(all(split).begin(), all(split).end(),
                                  [&](const Example& example) { return trained.contains(example.read.text); });
  return seen == 0 ? line : line + fmt::format("; the text of {} is among those of train, too", seen);
}

std::vector<std::string> TextClassification::summary() const {
  std::vector<std::string> lines{
      fmt::format("tokenizer: {}, {} tokens", tokenizer()->kind(), tokenizer()->vocab_size())};
  for (const Split split : kSplits)
    if (has(split)) lines.push_back(split_summary(split));
  for (auto& line : described(mixed().parts, "examples")) lines.push_back(std::move(line));
  lines.push_back(fmt::format("{} classes, in training: {}", classes().size(),
                              counted_classes(classes(), class_counts(Split::train))));
  lines.insert(lines.end(), data().told.begin(), data().told.end());
  return lines;
}

}  // namespace ordo
