// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/series_classification.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <set>
#include <span>

#include "ordo/config/config.h"
#include "ordo/config/words.h"
#include "ordo/core/hash.h"
#include "ordo/core/text.h"
#include "ordo/data/kept_files.h"
#include "ordo/data/records.h"
#include "ordo/data/table_file.h"

namespace ordo {

namespace {

constexpr double kLargestValue = std::numeric_limits<float>::max();

const std::vector<std::string>& wave_names() {
  static const std::vector<std::string> names{"sine", "square", "saw"};
  return names;
}

uint64_t waves_key(uint64_t seed, Split split) { return key_of(seed, fmt::format("waves {}", split_name(split))); }

// One of the three at a phase in [0, 1), between -1 and 1.
double wave_at(int64_t kind, double phase) {
  if (kind == 0) return std::sin(2.0 * std::numbers::pi * phase);
  if (kind == 1) return phase < 0.5 ? 1.0 : -1.0;
  return 2.0 * phase - 1.0;
}

std::string contradiction_of(const SeriesClassification::Config& c) {
  if (c.data.file.empty() != c.data.generate.has_value()) return "give one of task.data.file and task.data.generate";
  if (c.data.generate && (!c.data.label.empty() || c.split || c.data.on_bad_line != OnBadLine::stop))
    return "task.data.label, task.data.on_bad_line and task.split are of a table (task.data.file): leave them out";
  if (!c.data.file.empty() && c.data.label.empty())
    return "task.data.label is missing: which column says of what kind a row is?";
  if (!c.data.file.empty() && !c.split)
    return "task.split is missing: how are the rows divided, as in {kind: share, validation: 0.1, test: 0.2}?";
  return "";
}

// A row of a table with what it is divided by.
struct LabelledRow {
  size_t row = 0;    // of the table
  std::string text;  // all cells but the label's
  std::vector<float> values;
};

LabelledRow labelled_row(const TableFile& file, size_t row, size_t label) {
  LabelledRow made{.row = row, .text = {}, .values = {}};
  std::vector<std::string> cells;
  for (size_t column = 0; column < file.width(); ++column) {
    if (column == label) continue;
    const double value = file.number(row, column);
    if (std::abs(value) > kLargestValue)
      file.refuse(row, column, fmt::format("{} is more than a model can read", value));
    made.values.push_back(static_cast<float>(value));
    cells.push_back(file.rows[row][column]);
  }
  made.text = join(cells, ",");
  return made;
}

// All rows but those that `bad` takes. Throws DataError when none is left, in all or of a label.
std::vector<LabelledRow> labelled_rows(const TableFile& file, size_t label, BadLines& bad) {
  std::vector<LabelledRow> rows;
  std::set<std::string> met, left;
  for (size_t row = 0; row < file.rows.size(); ++row)
    bad.attempt([&] {
      const std::string& name = file.rows[row][label];
      if (trimmed(name).empty()) file.refuse(row, label, "the label is empty");
      met.insert(name);
      rows.push_back(labelled_row(file, row, label));
      left.insert(name);
    });
  const std::string where = file.file.string();
  require<DataError>(!rows.empty(), "{}: no row is left: {}", where, bad.sentence());
  for (const auto& name : met)
    require<DataError>(left.contains(name), "{}: no row of class '{}' is left: {}", where, shown(name), bad.sentence());
  return rows;
}

ClassNames trained_classes(const TableFile& file, size_t label, std::span<const LabelledRow> rows,
                           std::span<const Split> parts) {
  std::set<std::string> labels;
  for (size_t i = 0; i < rows.size(); ++i)
    if (parts[i] == Split::train) labels.insert(file.rows[rows[i].row][label]);
  require<DataError>(!labels.empty(), "the train split of {} has no row", file.file.string());
  require<DataError>(labels.size() > 1, "{}: all rows of training are '{}': there is nothing to tell apart",
                     file.file.string(), shown(*labels.begin()));
  return ClassNames::of_labels(labels);
}

// Throws DataError, with the place, for one that training has not: that is never left out, for a wrong answer would
// leave the score with it.
int64_t class_of(const TableFile& file, size_t row, size_t label, const ClassNames& classes) {
  try {
    return classes.number(file.rows[row][label]);
  } catch (const DataError& error) {
    file.refuse(row, label, error.what());
  }
}

// Series [B, L, 1], each with its own mean and deviation taken away where that is asked for.
Batch batch_of_series(int64_t rows, int64_t length, bool instance_norm,
                      const std::function<void(int64_t, float*)>& fill) {
  constexpr double kLeast = 1e-5;  // of a variance
  Batch batch{.ids = {}, .signal = at::empty({rows, length, 1}, at::kFloat)};
  for (int64_t row = 0; row < rows; ++row) fill(row, batch.signal.data_ptr<float>() + row * length);
  if (instance_norm) {
    const Tensor values = batch.signal.to(at::kDouble);  // in fp64 the mean of a constant float is that float
    const auto mean = [length](const Tensor& x) { return x.sum(1, /*keepdim=*/true) / length; };
    const Tensor apart = values - mean(values);
    const Tensor variance = mean(apart.square());
    batch.signal = (apart / (variance + kLeast).sqrt()).to(at::kFloat);
  }
  batch.at = consecutive(0, length, at::kCPU);
  return batch;
}

}  // namespace

class SeriesClassification::Rows final : public LabelledSet {
 public:
  Rows(const SeriesClassification& task, Split split)
      : task_(task), table_(task.table()), rows_(table_.of_split[static_cast<size_t>(split)]) {}
  int64_t count() const override { return std::ssize(rows_); }
  std::string name(uint64_t number) const override {
    return fmt::format("{}: line {}", task_.config_.data.file.string(), table_.lines[rows_[number]]);
  }
  std::span<const int64_t> labels(uint64_t number) const override { return {&table_.labels[rows_[number]], 1}; }
  Json shown(uint64_t number) const override { return {{"line", table_.lines[rows_[number]]}}; }
  std::vector<std::string> notes() const override {
    if (table_.left_out.empty()) return {};
    return {table_.left_out};
  }
  Batch batch(std::span<const uint64_t> numbers) const override {
    return batch_of_series(std::ssize(numbers), table_.steps, task_.config_.instance_norm, [&](int64_t row, float* to) {
      const auto& values = table_.values[rows_[numbers[static_cast<size_t>(row)]]];
      std::copy(values.begin(), values.end(), to);
    });
  }

 private:
  const SeriesClassification& task_;
  const Table& table_;
  const std::vector<size_t>& rows_;
};

class SeriesClassification::Waves final : public LabelledSet {
 public:
  Waves(const SeriesClassification& task, Split split, int64_t length)
      : waves_(*task.config_.data.generate),
        split_(split),
        length_(length),
        key_(waves_key(task.facts_.seed, split)),
        instance_norm_(task.config_.instance_norm) {
    for (int64_t i = 0; i < count(); ++i)
      labels_.push_back(static_cast<int64_t>(KeyedSequence(mix(key_, static_cast<uint64_t>(i))).below(3)));
  }
  int64_t count() const override { return split_ == Split::train ? waves_.examples : waves_.held_out; }
  std::string name(uint64_t number) const override { return fmt::format("{} wave {}", split_name(split_), number); }
  std::span<const int64_t> labels(uint64_t number) const override { return {&labels_[number], 1}; }
  Json shown(uint64_t number) const override { return {{"wave", number}}; }
  Batch batch(std::span<const uint64_t> numbers) const override {
    return batch_of_series(std::ssize(numbers), length_, instance_norm_,
                           [&](int64_t row, float* to) { draw(numbers[static_cast<size_t>(row)], to); });
  }

 private:
  // Two to six periods a row, noise of equal chance around each value.
  void draw(uint64_t number, float* to) const {
    KeyedSequence drawn(mix(key_, number));
    const auto kind = static_cast<int64_t>(drawn.below(3));
    const double periods = 2.0 + 4.0 * drawn.unit(), start = drawn.unit();
    for (int64_t step = 0; step < length_; ++step) {
      const double at = start + periods * static_cast<double>(step) / static_cast<double>(length_);
      *to++ = static_cast<float>(wave_at(kind, at - std::floor(at)) + waves_.noise * (2.0 * drawn.unit() - 1.0));
    }
  }
  const MadeWavesConfig& waves_;
  Split split_;
  int64_t length_;
  uint64_t key_;
  bool instance_norm_;
  std::vector<int64_t> labels_;
};

// Series of a user's own.
class SeriesClassification::Given final : public ExampleSet {
 public:
  Given(std::vector<std::vector<float>> series, int64_t length, bool instance_norm)
      : series_(std::move(series)), length_(length), instance_norm_(instance_norm) {}
  int64_t count() const override { return std::ssize(series_); }
  std::string name(uint64_t number) const override { return fmt::format("input {}", number + 1); }
  Batch batch(std::span<const uint64_t> numbers) const override {
    return batch_of_series(std::ssize(numbers), length_, instance_norm_, [&](int64_t row, float* to) {
      const auto& values = series_[numbers[static_cast<size_t>(row)]];
      std::copy(values.begin(), values.end(), to);
    });
  }

 private:
  std::vector<std::vector<float>> series_;
  int64_t length_;
  bool instance_norm_;
};

void fields(Fields& f, MadeWavesConfig& c) {
  f("examples", c.examples, "of the training set", within(1, 1e7));
  f("held_out", c.held_out, "of validation and of test, each", within(1, 1e7));
  f("noise", c.noise, "at the most so much is added or taken away; waves go from -1 to 1", at_least(0.0));
}

void fields(Fields& f, SeriesTableConfig& c) {
  f("file", c.file, "table (.csv, .tsv; .gz or .zst): each row a series, all columns but the label its steps in order");
  f("label", c.label, "column that says of what kind a row is");
  f("on_bad_line", c.on_bad_line, "a row that cannot be read ends the run, or is left out and counted", kOnBadLine);
  f("generate", c.generate, "in place of a file: sines, squares and saw teeth under noise");
}

void fields(Fields& f, SeriesClassification::Config& c) {
  f("data", c.data, "a table of series, or series that are made", required());
  f("split", c.split, "how the rows are divided into training, validation and test");
  f("instance_norm", c.instance_norm, "take each series' mean and deviation away");
}

SeriesClassification::SeriesClassification(const Config& config, const TaskFacts& facts)
    : config_(config), facts_(facts) {
  const std::string problem = contradiction_of(config);
  require<ConfigError>(problem.empty(), "{}", problem);
  if (config.split) split_ = splits().build(*config.split, {.seed = facts.seed});
}

SeriesClassification::Table SeriesClassification::read() const {
  const std::string where = config_.data.file.string();
  BadLines bad(config_.data.on_bad_line);
  const TableFile file = read_table(config_.data.file, {.format = table_format(config_.data.file)}, bad);
  const size_t label = file.column(config_.data.label);
  require<DataError>(file.width() > 1, "{}: no column is left for values beside the label", where);
  std::vector<LabelledRow> rows = labelled_rows(file, label, bad);
  std::vector<SplitKey> keys;
  for (const auto& row : rows)
    keys.push_back({.number = file.numbers[row.row],
                    .text = row.text,
                    .names = {{config_.data.label, file.rows[row.row][label]}}});
  const auto parts = divided(*split_, keys, where);
  Table made;
  made.steps = static_cast<int64_t>(file.width()) - 1;
  made.classes = trained_classes(file, label, rows, parts);
  for (size_t i = 0; i < rows.size(); ++i) {
    made.labels.push_back(class_of(file, rows[i].row, label, *made.classes));
    made.lines.push_back(static_cast<int64_t>(file.lines[rows[i].row]));
    made.of_split[static_cast<size_t>(parts[i])].push_back(i);
    made.values.push_back(std::move(rows[i].values));
  }
  made.left_out = bad.sentence();
  for (const Split split : kSplits)
    require<DataError>(!split_->gives(split) || !made.of_split[static_cast<size_t>(split)].empty(),
                       "the {} split of {} has no row{}", split_name(split), where,
                       made.left_out.empty() ? "" : "; " + made.left_out);
  return made;
}

const SeriesClassification::Table& SeriesClassification::table() const {
  std::call_once(once_, [this] {
    table_ = kept_files<Table>(fmt::format("{}|{}", facts_.seed, settings_text(config_)), {config_.data.file},
                               [this] { return read(); });
  });
  return *table_;
}

ModelFacts SeriesClassification::complete(ModelFacts facts) const {
  facts = ClassTask::complete(facts);
  facts.signal = {.channels = 1};
  return facts;
}

bool SeriesClassification::has(Split split) const { return config_.data.generate || split_->gives(split); }
bool SeriesClassification::draws_examples() const { return config_.data.generate || split_->drawn(); }

std::optional<std::string> SeriesClassification::refuses_length(Split split, int64_t length) const {
  if (config_.data.generate || !has(split)) return std::nullopt;
  if (length == table().steps) return std::nullopt;
  return fmt::format("the rows of {} are series of {} steps: train.length must be {}, not {}",
                     config_.data.file.string(), table().steps, table().steps, length);
}

const std::vector<std::string>& SeriesClassification::classes() const {
  return config_.data.generate ? wave_names() : table().classes->all();
}

std::shared_ptr<const LabelledSet> SeriesClassification::examples(const StreamOptions& options) const {
  if (config_.data.generate) return std::make_shared<Waves>(*this, options.split, options.length);
  return std::make_shared<Rows>(*this, options.split);
}

std::shared_ptr<const ExampleSet> SeriesClassification::inputs(std::span<const PredictorInput> given,
                                                               int64_t length) const {
  std::vector<std::vector<float>> series;
  for (const auto& input : given) series.push_back(listed_numbers(input, length));
  return std::make_shared<Given>(std::move(series), length, config_.instance_norm);
}

uint64_t SeriesClassification::fingerprint() const {
  uint64_t hash = key_of(facts_.seed, kKind);
  if (config_.data.generate) return mix(hash, static_cast<uint64_t>(config_.data.generate->examples));
  for (const size_t row : table().of_split[static_cast<size_t>(Split::train)]) {
    const auto& values = table().values[row];
    hash =
        hash_bytes(values.data(), values.size() * sizeof(float), mix(hash, static_cast<uint64_t>(table().labels[row])));
  }
  return hash;
}

std::vector<std::string> SeriesClassification::left_out(int64_t) const {
  if (config_.data.generate || table().left_out.empty()) return {};
  return {table().left_out};
}

std::vector<std::string> SeriesClassification::summary() const {
  if (config_.data.generate)
    return {fmt::format("series_classification: {} waves of training, {} of validation and of test: sine, square, saw",
                        config_.data.generate->examples, config_.data.generate->held_out)};
  const auto& parts = table().of_split;
  std::vector<std::string> lines{fmt::format("{}: series of {} steps; {} of training, {} of validation, {} of test",
                                             config_.data.file.string(), table().steps, parts[0].size(),
                                             parts[1].size(), parts[2].size())};
  for (size_t k = 0; k < classes().size(); ++k)
    lines.push_back(fmt::format("{}: {} rows", classes()[k],
                                std::count(table().labels.begin(), table().labels.end(), static_cast<int64_t>(k))));
  if (!table().left_out.empty()) lines.push_back(table().left_out);
  return lines;
}

}  // namespace ordo
