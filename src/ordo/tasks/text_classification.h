// SPDX-License-Identifier: Apache-2.0
// Classes of texts, or of pairs of texts: one of several, or each by itself true or not.
#pragma once
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ordo/data/bad_lines.h"
#include "ordo/tasks/class_names.h"
#include "ordo/tasks/class_task.h"
#include "ordo/tasks/labelled_texts.h"
#include "ordo/tasks/text_rows.h"

namespace ordo {

// train.length and evaluate.lengths count the tokens of a row, the tokenizer's marks included.
class TextClassification final : public ClassTask {
 public:
  enum class Labels { single, multi };  // an example is of one class, or of any number
  struct Config {
    Choice<Tokenizer> tokenizer;
    LabelledTextsConfig data;
    std::optional<Choice<SplitRule>> split = {};
    std::vector<std::string> classes = {};
    fs::path classes_file = {};
    Labels labels = Labels::single;
    bool only_single = false;
    TooLong too_long = TooLong::stop;
  };
  static constexpr std::string_view kKind = "text_classification", kSummary = "classes of texts, or of pairs of texts";
  TextClassification(const Config& config, const TaskFacts& facts);
  ModelFacts complete(ModelFacts facts) const override;
  bool has(Split split) const override;
  std::optional<std::string> refuses_length(Split split, int64_t length) const override;
  bool draws_examples() const override;
  const Tokenizer* tokenizer() const override { return data().tokenizer.get(); }
  uint64_t fingerprint() const override;
  std::vector<std::string> summary() const override;
  std::vector<std::string> left_out(int64_t) const override { return data().told; }
  std::string_view kind() const override { return kKind; }
  const std::vector<std::string>& classes() const override { return data().classes->all(); }
  bool several_labels() const override { return config_.labels == Labels::multi; }
  std::shared_ptr<const LabelledSet> examples(const StreamOptions& options) const override;
  std::optional<InputKind> input_kind() const override;
  std::shared_ptr<const ExampleSet> inputs(std::span<const PredictorInput> given, int64_t length) const override;

 protected:
  bool unequal_lengths() const override { return true; }
  MixedExamples mixed() const override;

 private:
  friend class TextSet;
  struct Example {
    TextRow row;
    std::vector<int64_t> labels;
    LabelledText read;
  };
  struct Data {
    std::optional<ClassNames> classes;
    std::shared_ptr<const Tokenizer> tokenizer;
    std::optional<TextRows> rows;
    std::array<std::vector<Example>, 3> splits;  // by Split
    std::vector<std::string> told;               // what was left out
  };
  const Data& data() const;  // read when first needed
  const std::vector<Example>& all(Split split) const { return data().splits[static_cast<size_t>(split)]; }
  bool pairs() const { return !config_.data.pair.empty(); }
  ClassNames named_classes(const LabelledTexts& read) const;
  void encode(LabelledTexts read, Data& data) const;
  void require_each_class() const;
  std::vector<int64_t> class_counts(Split split) const;
  std::string split_summary(Split split) const;
  Config config_;
  TaskFacts facts_;
  std::shared_ptr<const SplitRule> rule_;  // null: there is none
  mutable std::once_flag once_;
  mutable std::shared_ptr<const Data> data_;
};
void fields(Fields& f, TextClassification::Config& c);

}  // namespace ordo
