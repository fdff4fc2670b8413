// SPDX-License-Identifier: Apache-2.0
// Of what kind is a series? Each row of a table is one, a value a step and a column of labels; or waves are drawn:
// sines, squares and saw teeth of any period and phase, under noise. train.length counts steps.
#pragma once
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ordo/data/bad_lines.h"
#include "ordo/data/splits.h"
#include "ordo/tasks/class_names.h"
#include "ordo/tasks/class_task.h"

namespace ordo {

struct MadeWavesConfig {
  int64_t examples = 600, held_out = 200;  // of training; of validation and of test
  double noise = 0.3;
};
void fields(Fields& f, MadeWavesConfig& c);

struct SeriesTableConfig {
  fs::path file = {};
  std::string label = {};
  std::optional<MadeWavesConfig> generate = {};  // in place of a file
  OnBadLine on_bad_line = OnBadLine::stop;
};
void fields(Fields& f, SeriesTableConfig& c);

class SeriesClassification final : public ClassTask {
 public:
  struct Config {
    SeriesTableConfig data;
    std::optional<Choice<SplitRule>> split = {};
    bool instance_norm = true;
  };
  static constexpr std::string_view kKind = "series_classification", kSummary = "tell of what kind a time series is";
  SeriesClassification(const Config& config, const TaskFacts& facts);
  std::string_view kind() const override { return kKind; }
  ModelFacts complete(ModelFacts facts) const override;
  bool has(Split split) const override;
  std::optional<std::string> refuses_length(Split split, int64_t length) const override;
  bool draws_examples() const override;
  const std::vector<std::string>& classes() const override;
  std::shared_ptr<const LabelledSet> examples(const StreamOptions& options) const override;
  std::optional<InputKind> input_kind() const override { return InputKind{.name = "numbers apart by commas"}; }
  std::shared_ptr<const ExampleSet> inputs(std::span<const PredictorInput> given, int64_t length) const override;
  uint64_t fingerprint() const override;
  std::vector<std::string> summary() const override;
  std::vector<std::string> left_out(int64_t length) const override;

 private:
  struct Table {
    std::optional<ClassNames> classes;  // those of the training rows
    int64_t steps = 0;
    std::vector<std::vector<float>> values;       // [rows][steps]
    std::vector<int64_t> labels, lines;           // [rows]
    std::array<std::vector<size_t>, 3> of_split;  // rows, by Split
    std::string left_out;                         // BadLines::sentence()
  };
  class Rows;
  class Waves;
  class Given;
  const Table& table() const;  // read when first needed, and shared with other tasks of the same settings
  Table read() const;
  Config config_;
  TaskFacts facts_;
  std::shared_ptr<const SplitRule> split_;
  mutable std::once_flag once_;
  mutable std::shared_ptr<const Table> table_;
};
void fields(Fields& f, SeriesClassification::Config& c);

}  // namespace ordo
