// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/signal_task.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "ordo/config/config.h"
#include "ordo/config/words.h"
#include "ordo/core/hash.h"
#include "ordo/core/text.h"
#include "ordo/data/kept_files.h"

namespace ordo {

namespace {

constexpr double kRounding = 1e-7;  // of a float, as a share of it

std::string_view bytes_of(const Tensor& signal) {
  return {static_cast<const char*>(signal.data_ptr()), signal.nbytes()};
}

int64_t signal_class(const SignalExample& example, const ClassNames& classes) {
  try {
    return classes.number(example.label);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", example.where, error.what()));
  }
}

// Sums over all values of each channel, in fp64: many small examples at once.
template <class Sum>
Tensor channel_sums(const std::vector<SignalExample>& examples, const Sum& sum) {
  constexpr size_t kTogether = 256;
  Tensor total;
  for (size_t from = 0; from < examples.size(); from += kTogether) {
    const auto some = std::span(examples).subspan(from, std::min(kTogether, examples.size() - from));
    const Tensor part = sum(some);
    total = total.defined() ? total + part : part;
  }
  return total;
}

}  // namespace

// The examples of a split, or a user's own, at one length.
class SignalSet final : public LabelledSet {
 public:
  SignalSet(const SignalTask& task, const std::vector<SignalExample>& examples, int64_t length)
      : task_(task), examples_(examples), length_(length) {}
  SignalSet(const SignalTask& task, std::vector<SignalExample>&& own, int64_t length)
      : task_(task), own_(std::move(own)), examples_(own_), length_(length) {}
  int64_t count() const override { return std::ssize(examples_); }
  int64_t length(uint64_t number) const override { return task_.length_of(examples_[number], length_); }
  std::string name(uint64_t number) const override { return examples_[number].where; }
  std::span<const int64_t> labels(uint64_t number) const override { return {&examples_[number].class_number, 1}; }
  Batch batch(std::span<const uint64_t> numbers) const override {
    std::vector<const SignalExample*> chosen;
    for (const uint64_t number : numbers) chosen.push_back(&examples_[number]);
    return task_.side_by_side(chosen, length_);
  }
  Json shown(uint64_t number) const override {
    Json made = Json::object();
    for (const auto& [name, value] : examples_[number].names) made[name] = value;
    return made;
  }
  std::vector<std::string> notes() const override { return task_.left_out(length_); }

 private:
  const SignalTask& task_;
  std::vector<SignalExample> own_;
  const std::vector<SignalExample>& examples_;
  int64_t length_;
};

void require_each_label(const std::vector<SignalExample>& left, const std::set<std::string>& labels,
                        const BadLines& bad) {
  std::set<std::string_view> met;
  for (const auto& example : left) met.insert(example.label);
  for (const auto& label : labels)
    require<DataError>(met.contains(label), "no example of class '{}' is left: {}", shown(label), bad.sentence());
  require<DataError>(!left.empty(), "no example is left: {}", bad.sentence());
}

void fields(Fields& f, SignalTaskConfig& c) {
  f("split", c.split, "how what is trained on is divided, where not all splits have files of their own");
  f("classes", c.classes, "names of the classes, in order; absent: the labels of the training examples");
}

SignalTask::SignalTask(const SignalTaskConfig& config, const TaskFacts& facts, std::string settings)
    : config_(config), facts_(facts), settings_(std::move(settings)) {
  if (config.split) rule_ = splits().build(*config.split, {.seed = facts.seed});
}

void SignalTask::require_split() const {
  require<ConfigError>(!rule_ || !makes(), "task.split divides files, and the examples are made: leave it out");
  for (const Split split : {Split::validation, Split::test})
    require<ConfigError>(!rule_ || !rule_->gives(split) || !gives(split),
                         "task.split takes {0} out of the training files, and task.data.{0} gives files for it: give "
                         "one",
                         split_name(split));
}

bool SignalTask::has(Split split) const { return gives(split) || (rule_ && rule_->gives(split)); }
bool SignalTask::draws_examples() const { return makes() || (rule_ && rule_->drawn()); }

ModelFacts SignalTask::complete(ModelFacts facts) const {
  facts = ClassTask::complete(facts);
  facts.signal = signal();
  facts.max_length = row_length(facts.max_length);
  return facts;
}

std::shared_ptr<const LabelledSet> SignalTask::examples(const StreamOptions& options) const {
  require<ConfigError>(has(options.split), "there is no {0} data: give task.data.{0} or task.split",
                       split_name(options.split));
  return std::make_shared<SignalSet>(*this, all(options.split), options.length);
}

std::shared_ptr<const ExampleSet> SignalTask::inputs(std::span<const PredictorInput> given, int64_t length) const {
  std::vector<SignalExample> read;
  for (const auto& input : given)
    read.push_back({.signal = read_input(input, length), .label = {}, .where = input.where});
  return std::make_shared<SignalSet>(*this, std::move(read), length);
}

// ---- reading ----

const SignalTask::Data& SignalTask::data() const {
  std::call_once(once_, [this] {
    std::vector<fs::path> behind;
    for (const Split split : kSplits)
      if (gives(split) && !makes())
        for (auto& source : sources(split)) behind.push_back(std::move(source));
    data_ = kept_files<Data>(fmt::format("{}|{}|{}", kind(), facts_.seed, settings_), behind,
                             [this] { return made_data(); });
  });
  return *data_;
}

SignalTask::Data SignalTask::made_data() const {
  Data made;
  BadLines bad(on_bad_line(), "example");
  divide(read(Split::train, bad), made);
  for (const Split split : {Split::validation, Split::test})
    if (gives(split)) made.splits[static_cast<size_t>(split)] = read(split, bad);
  name_classes(made, bad);
  measure_channels(made);
  made.left_out = bad.sentence();
  return made;
}

void SignalTask::divide(std::vector<SignalExample> examples, Data& into) const {
  if (!rule_) {
    into.splits[static_cast<size_t>(Split::train)] = std::move(examples);
    return;
  }
  std::vector<SplitKey> keys;
  for (const auto& example : examples)
    keys.push_back({.number = example.number, .text = bytes_of(example.signal), .names = example.names});
  const auto to = divided(*rule_, keys, "task.data.train");
  const size_t all = examples.size();
  move_apart(std::move(examples), to, into.splits);
  for (const Split split : kSplits)
    require<DataError>(!rule_->gives(split) || !into.splits[static_cast<size_t>(split)].empty(),
                       "task.split leaves none of {} examples for {}", all, split_name(split));
}

void SignalTask::name_classes(Data& data, BadLines& bad) const {
  std::set<std::string> labels;
  for (const auto& example : data.splits[static_cast<size_t>(Split::train)]) labels.insert(example.label);
  data.classes = config_.classes.empty() ? ClassNames::of_labels(labels) : ClassNames(config_.classes);
  for (const Split split : kSplits) number_classes(split, data, bad);
  std::vector<bool> met(data.classes->all().size());
  for (const auto& example : data.splits[static_cast<size_t>(Split::train)])
    met[static_cast<size_t>(example.class_number)] = true;
  for (size_t k = 0; k < met.size(); ++k)
    require<DataError>(met[k], "the training split has no example of class {}: nothing can be learned of it",
                       shown(data.classes->all()[k]));
}

void SignalTask::number_classes(Split split, Data& data, BadLines& bad) const {
  auto& examples = data.splits[static_cast<size_t>(split)];
  std::vector<SignalExample> known;
  for (auto& example : examples) {
    if (split != Split::train) data.classes->require_judged({&example.label, 1}, example.where);
    bad.attempt([&] {
      example.class_number = signal_class(example, *data.classes);
      known.push_back(std::move(example));
    });
  }
  examples = std::move(known);
  require<DataError>(!examples.empty() || !has(split), "no example is left for the {} split: {}", split_name(split),
                     bad.sentence());
}

void SignalTask::measure_channels(Data& data) const {
  const auto& training = data.splits[static_cast<size_t>(Split::train)];
  const auto values = [this](std::span<const SignalExample> some) {
    std::vector<Tensor> parts;
    for (const auto& example : some) parts.push_back(by_channel(example.signal));
    return at::cat(parts, 1).to(at::kDouble);
  };
  int64_t count = 0;
  for (const auto& example : training) count += by_channel(example.signal).size(1);
  const auto n = static_cast<double>(count);
  const Tensor mean = channel_sums(training, [&](auto some) { return values(some).sum(1); }) / n;
  const Tensor variance = channel_sums(training,
                                       [&](auto some) {
                                         const Tensor apart = values(some) - mean.unsqueeze(1);
                                         return (apart * apart).sum(1);
                                       }) /
                          n;
  data.mean = mean.to(at::kFloat);
  // A channel that never changes becomes 0; its deviation is the rounding of its mean, by which nothing may be divided.
  const Tensor deviation = variance.sqrt();
  data.deviation = at::where(deviation > mean.abs() * kRounding, deviation, 1.0).to(at::kFloat);
}

Tensor SignalTask::standardised(const Tensor& signals, int64_t axis) const {
  std::vector<int64_t> shape(static_cast<size_t>(signals.dim()), 1);
  shape[static_cast<size_t>(axis)] = signals.size(axis);
  return (signals.to(at::kFloat) - data().mean.view(shape)) / data().deviation.view(shape);
}

// ---- what it is ----

uint64_t SignalTask::fingerprint() const {
  uint64_t hash = key_of(0, join(classes(), "\n"));
  for (const auto& example : all(Split::train)) {
    hash = mix(hash, static_cast<uint64_t>(example.class_number));
    hash = hash_bytes(example.signal.data_ptr(), example.signal.nbytes(), hash);
  }
  return hash;
}

std::vector<int64_t> SignalTask::training_counts() const {
  std::vector<int64_t> counts(classes().size());
  for (const auto& example : all(Split::train)) ++counts[static_cast<size_t>(example.class_number)];
  return counts;
}

std::vector<std::string> SignalTask::left_out(int64_t) const {
  if (data().left_out.empty()) return {};
  return {data().left_out};
}

std::vector<std::string> SignalTask::summary() const {
  std::vector<std::string> lines{sizes_text()};
  std::unordered_set<std::string_view> trained;
  for (const auto& example : all(Split::train)) trained.insert(bytes_of(example.signal));
  for (const Split split : kSplits) {
    if (!has(split)) continue;
    std::string line = fmt::format("{}: {} examples", split_name(split), all(split).size());
    const auto seen = std::count_if(all(split).begin(), all(split).end(),
                                    [&](const auto& example) { return trained.contains(bytes_of(example.signal)); });
    if (split != Split::train && seen > 0) line += fmt::format("; {} of them stand in train, too", seen);
    lines.push_back(std::move(line));
  }
  lines.push_back(
      fmt::format("{} classes, in training: {}", classes().size(), counted_classes(classes(), training_counts())));
  for (auto& line : left_out(0)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace ordo
