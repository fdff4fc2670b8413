// SPDX-License-Identifier: Apache-2.0
// From texts to texts: translation and its kin. Sources and targets are cut by a tokenizer; the target ends in a mark
// of its own. An encoder-decoder reads the source and writes the target; a decoder reads a mark of the start, the
// source and "=", and then writes.
// train.length and evaluate.lengths count tokens: pairs of which one side has more are left out and told, or end the
// run.
#pragma once
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ordo/tasks/sequence_task.h"
#include "ordo/tasks/text_pairs.h"

namespace ordo {

enum class TextMeasure { bleu, chrf, ter, rouge_l };
enum class BleuWords { western, chinese, characters };

// How whole answers are written and judged: with `ordo eval`, or after every evaluation of a training.
struct WrittenConfig {
  std::vector<TextMeasure> metrics = {TextMeasure::bleu, TextMeasure::chrf};
  BleuWords words = BleuWords::western;
  int64_t beam = 4;  // 1: the likeliest token each time
  double length_penalty = 1.0;
  bool in_training = false;
};
void fields(Fields& f, WrittenConfig& c);

// What becomes of a pair of which a side has more tokens than train.length.
enum class LongPairs { leave_out, stop };

class Translation final : public SequenceTask {
 public:
  struct Config {
    std::optional<Choice<Tokenizer>> tokenizer = {};  // of both sides, with one vocabulary
    std::optional<Choice<Tokenizer>> source_tokenizer = {}, target_tokenizer = {};
    TextPairsConfig data;
    std::optional<Choice<SplitRule>> split = {};
    WrittenConfig written;
    LongPairs too_long = LongPairs::leave_out;
  };
  static constexpr std::string_view kKind = "translation", kSummary = "from texts to texts, in two languages or one";
  Translation(const Config& config, const TaskFacts& facts);
  std::string_view kind() const override { return kKind; }
  std::optional<std::string> refuses(const Model& model) const override;  // a model that does not write
  bool has(Split split) const override;
  std::optional<std::string> refuses_length(Split split, int64_t length) const override;
  bool draws_examples() const override { return rule_ != nullptr && rule_->drawn(); }
  // Those of SequenceTask; with StreamOptions.details, or as `written` says, the metrics of whole texts too. Rows tell
  // what was written, where anything is.
  Evaluation evaluate(Model& model, const StreamOptions& options) const override;
  const Tokenizer* tokenizer() const override { return &target(); }
  std::string where(Split split, uint64_t index) const override;
  std::shared_ptr<const TextWriter> writer() const override;
  uint64_t fingerprint() const override;
  std::vector<std::string> summary() const override;
  std::vector<std::string> left_out(int64_t length) const override;

  std::optional<int64_t> never_right() const override;       // what stands for words that the targets' vocabulary lacks
  const std::vector<std::string>& symbols() const override;  // pieces of the targets' tokenizer, and "<end>"
  int64_t given_symbols() const override;
  int64_t given_length(int64_t size) const override { return size; }
  int64_t asked_length(int64_t size) const override { return size + 1; }  // with the end mark
  bool batches_by_length() const override { return true; }
  int64_t training_length(uint64_t index) const override;
  int64_t training_count(int64_t longest) const override;
  MixedExamples training_mixture(int64_t longest) const override;
  Example training_example(uint64_t seed, uint64_t index, int64_t longest) const override;
  int64_t held_out_count(Split split, int64_t size) const override;
  Example held_out_example(Split split, uint64_t index, int64_t size) const override;

 private:
  struct Pair {
    Example ids;
    size_t number = 0;  // in texts
    int64_t length() const;
  };
  struct Data {
    TextPairs texts;
    std::array<std::vector<Pair>, 3> splits;  // by Split, the shorter first
  };
  const Tokenizer& source() const;
  const Tokenizer& target() const;
  bool shares_vocabulary() const { return config_.tokenizer.has_value(); }
  const TextPairs& texts() const;  // read when first needed, and shared with other tasks of the same settings
  const Data& data() const;        // encoded when first needed
  const std::vector<Pair>& pairs(Split split) const { return data().splits[static_cast<size_t>(split)]; }
  int64_t up_to(Split split, int64_t length) const;  // how many have both sides of at most so many tokens
  std::string training_text(bool sources, bool targets) const;
  std::string longer_than(Split split, int64_t length) const;  // how many are left out, in a sentence; "" without any
  std::vector<Pair> encoded(Split split) const;
  std::vector<MixedPart> parts() const;  // of all training pairs, where files have weights
  std::vector<std::string> write(Model& model, const StreamOptions& options, int64_t count) const;
  bool tells_symbols() const override { return config_.written.metrics.empty() && shares_vocabulary(); }
  int64_t most_written(Model& model, int64_t longest) const;  // tokens, of sources of at most so many
  void judge_written(Model& model, const StreamOptions& options, Evaluation& made) const;

  Config config_;
  TaskFacts facts_;
  std::shared_ptr<const SplitRule> rule_;  // null: splits are files
  mutable std::once_flag texts_once_, data_once_;
  mutable std::shared_ptr<const TextPairs> texts_;
  mutable Data data_;
  mutable std::vector<std::string> symbols_;
  mutable std::shared_ptr<const Tokenizer> source_, target_;
};
void fields(Fields& f, Translation::Config& c);

}  // namespace ordo
