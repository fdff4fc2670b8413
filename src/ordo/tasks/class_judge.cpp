// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/class_judge.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/log_softmax.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "ordo/config/words.h"
#include "ordo/core/text.h"
#include "ordo/core/utf8.h"
#include "ordo/metrics/calibration.h"
#include "ordo/metrics/classes.h"
#include "ordo/metrics/likelihood.h"
#include "ordo/metrics/multi_label.h"
#include "ordo/tasks/measured.h"

namespace ordo {

namespace {

// What both kinds keep: the loss and, of each example, the probabilities of the classes.
class JudgedClasses : public ClassJudge {
 public:
  JudgedClasses(const std::vector<std::string>& classes, const LabelledSet& examples)
      : classes_(classes), examples_(examples) {}

 protected:
  size_t width() const { return classes_.size(); }
  int64_t judged() const { return static_cast<int64_t>(probabilities_.size() / width()); }
  std::span<const double> probabilities(int64_t i) const {
    return std::span(probabilities_).subspan(static_cast<size_t>(i) * width(), width());
  }
  std::span<const int64_t> truth(int64_t i) const { return examples_.labels(static_cast<uint64_t>(i)); }
  // Keeps probabilities [B, K], fp64, whose examples are numbered from what it returns.
  int64_t keep(const Tensor& probabilities) {
    const int64_t first = judged();
    const Tensor here = probabilities.to(at::kCPU).contiguous();
    const double* const begin = here.data_ptr<double>();
    probabilities_.insert(probabilities_.end(), begin, begin + here.numel());
    return first;
  }
  std::string named(std::span<const int64_t> labels) const {
    std::vector<std::string> names;
    for (const int64_t label : labels) names.push_back(classes_[static_cast<size_t>(label)]);
    return join(names, ", ");
  }
  // Of more than 100 classes those of the 20 likeliest and of what is true: all of each example would fill the memory.
  Json named_probabilities(int64_t i) const {
    constexpr size_t kAll = 100, kLikeliest = 20;
    const auto given = probabilities(i);
    std::vector<size_t> told(width());
    std::iota(told.begin(), told.end(), 0U);
    if (width() > kAll) {
      const auto likelier = [&](size_t a, size_t b) { return given[a] > given[b]; };
      std::partial_sort(told.begin(), told.begin() + kLikeliest, told.end(), likelier);
      told.resize(kLikeliest);
      told.insert(told.end(), truth(i).begin(), truth(i).end());
    }
    Json all = Json::object();
    for (const size_t k : told) all[classes_[k]] = given[k];
    return all;
  }
  void add_rows(Evaluation& made) const {
    for (int64_t i = 0; i < judged(); ++i) {
      const auto number = static_cast<uint64_t>(i);
      Json told = examples_.shown(number);
      told.update(judgement(i));
      told["loss"] = loss_.example(i).front();
      told["probabilities"] = named_probabilities(i);
      made.rows.push_back(example_line(number, examples_.name(number), told));
    }
    for (const auto& note : examples_.notes()) made.notes.push_back(note);
  }
  virtual Json judgement(int64_t i) const = 0;  // {"truth", "predicted", "right"}

  const std::vector<std::string>& classes_;
  const LabelledSet& examples_;
  Likelihood loss_;

 private:
  std::vector<double> probabilities_;  // [examples, K]
};

class OneLabel final : public JudgedClasses {
 public:
  using JudgedClasses::JudgedClasses;

  void add(const Tensor& logits) override {
    const Tensor log_probabilities = at::log_softmax(logits, 1, at::kDouble);
    const int64_t first = keep(log_probabilities.exp());
    const Tensor here = log_probabilities.to(at::kCPU);
    const auto logs = here.accessor<double, 2>();
    for (int64_t row = 0; row < logs.size(0); ++row) {
      const int64_t label = truth(first + row).front();
      loss_.add(-logs[row][label], 1);
      const auto given = probabilities(first + row);
      predicted_.push_back(std::max_element(given.begin(), given.end()) - given.begin());
    }
  }

  Evaluation evaluation(const StreamOptions& options) const override {
    ClassScores scores({.classes = classes_});
    Calibration calibration;
    Evaluation made{.tokens = static_cast<double>(judged())};
    for (int64_t i = 0; i < judged(); ++i) {
      scores.add(predicted(i), truth(i).front());
      calibration.add(std::min(probabilities(i)[static_cast<size_t>(predicted(i))], 1.0), right(i));
      made.outcomes.accuracy.push_back(right(i) ? 1.0 : 0.0);
    }
    measure(loss_, options, made, [](std::string_view name) { return name == "loss"; });
    // Over all classes the micro scores are the accuracy once more.
    measure(scores, options, made, [](std::string_view name) { return !name.ends_with("_micro"); });
    add_ranking(options, made);
    measure(calibration, options, made);
    if (!options.details) return made;
    add_rows(made);
    made.notes.push_back(confusion_text(classes_, scores.confusion()));
    return made;
  }

 private:
  int64_t predicted(int64_t i) const { return predicted_[static_cast<size_t>(i)]; }
  bool right(int64_t i) const { return predicted(i) == truth(i).front(); }
  Json judgement(int64_t i) const override {
    return {{"truth", named(truth(i))},
            {"predicted", named(std::span(&predicted_[static_cast<size_t>(i)], 1))},
            {"right", right(i)}};
  }
  // Of two classes the area of the second; of more each against the rest.
  void add_ranking(const StreamOptions& options, Evaluation& made) const {
    if (width() == 2) {
      RocArea area;
      for (int64_t i = 0; i < judged(); ++i) area.add(probabilities(i)[1], truth(i).front() == 1);
      return measure(area, options, made);
    }
    LabelAreas areas(classes_);
    for (int64_t i = 0; i < judged(); ++i) areas.add(probabilities(i), truth(i));
    measure(areas, options, made);
  }
  std::vector<int64_t> predicted_;
};

class SeveralLabels final : public JudgedClasses {
 public:
  SeveralLabels(const std::vector<std::string>& classes, const LabelledSet& examples)
      : JudgedClasses(classes, examples), scores_({.labels = classes, .threshold = kPredicted}) {}

  void add(const Tensor& logits) override {
    const Tensor wide = logits.to(at::kDouble);
    const int64_t first = keep(wide.sigmoid());
    // -log of 1 - p; a true label moves it by its logit: softplus(x) - x = -log p.
    const Tensor all_false = (wide.clamp_min(0.0) + (-wide.abs()).exp().log1p()).to(at::kCPU);
    const Tensor here = wide.to(at::kCPU);
    const auto costs = all_false.accessor<double, 2>(), raw = here.accessor<double, 2>();
    for (int64_t row = 0; row < costs.size(0); ++row) {
      double nats = 0.0;
      for (int64_t k = 0; k < costs.size(1); ++k) nats += costs[row][k];
      for (const int64_t label : truth(first + row)) nats -= raw[row][label];
      loss_.add(nats, costs.size(1));
      scores_.add(probabilities(first + row), truth(first + row));
    }
  }

  Evaluation evaluation(const StreamOptions& options) const override {
    Evaluation made{.tokens = static_cast<double>(judged()) * static_cast<double>(width())};
    for (int64_t i = 0; i < judged(); ++i) made.outcomes.accuracy.push_back(right(i) ? 1.0 : 0.0);
    measure(loss_, options, made, [](std::string_view name) { return name == "loss"; });
    measure(scores_, options, made);
    if (options.details) add_rows(made);
    return made;
  }

 private:
  std::vector<int64_t> predicted(int64_t i) const {
    std::vector<int64_t> found;
    for (size_t k = 0; k < width(); ++k)
      if (probabilities(i)[k] >= kPredicted) found.push_back(static_cast<int64_t>(k));
    return found;
  }
  bool right(int64_t i) const {
    const auto found = predicted(i);
    return std::equal(found.begin(), found.end(), truth(i).begin(), truth(i).end());
  }
  Json judgement(int64_t i) const override {
    const auto list = [this](std::span<const int64_t> labels) {
      Json names = Json::array();
      for (const int64_t label : labels) names.push_back(classes_[static_cast<size_t>(label)]);
      return names;
    };
    return {{"truth", list(truth(i))}, {"predicted", list(predicted(i))}, {"right", right(i)}};
  }
  MultiLabelScores scores_;
};

// A name in a table: anybody may have written it, of any length.
std::string in_table(const std::string& name) {
  constexpr size_t kWidest = 20;
  const std::string clean = shown(name);
  if (display_width(clean) <= kWidest) return clean;
  return std::string(fitting(clean, kWidest - 1)) + "…";
}

std::string confusion_table(const std::vector<std::string>& classes, const std::vector<int64_t>& counts) {
  std::vector<std::string> header{"truth"};
  for (const auto& name : classes) header.push_back(in_table(name));
  Table table(header);
  for (size_t truth = 0; truth < classes.size(); ++truth) {
    std::vector<std::string> cells{in_table(classes[truth])};
    for (size_t k = 0; k < classes.size(); ++k) cells.push_back(std::to_string(counts[truth * classes.size() + k]));
    table.row(std::move(cells));
  }
  return table.text();
}

std::string frequent_mistakes(const std::vector<std::string>& classes, const std::vector<int64_t>& counts) {
  constexpr size_t kShown = 20;
  std::vector<size_t> mistakes;
  for (size_t place = 0; place < counts.size(); ++place)
    if (counts[place] > 0 && place / classes.size() != place % classes.size()) mistakes.push_back(place);
  std::stable_sort(mistakes.begin(), mistakes.end(), [&](size_t a, size_t b) { return counts[a] > counts[b]; });
  Table table({"truth", "taken for", "times"});
  for (const size_t place : std::span(mistakes).first(std::min(kShown, mistakes.size())))
    table.row({in_table(classes[place / classes.size()]), in_table(classes[place % classes.size()]),
               std::to_string(counts[place])});
  return table.text();
}

}  // namespace

std::unique_ptr<ClassJudge> class_judge(const std::vector<std::string>& classes, bool several_labels,
                                        const LabelledSet& examples) {
  if (several_labels) return std::make_unique<SeveralLabels>(classes, examples);
  return std::make_unique<OneLabel>(classes, examples);
}

Tensor several_labels_loss(const Tensor& logits, const Tensor& targets, const LossOptions& options) {
  const Tensor wanted = targets.to(logits.scalar_type()) * (1.0 - options.smoothing) + 0.5 * options.smoothing;
  return at::binary_cross_entropy_with_logits(logits, wanted, {}, {}, at::Reduction::Sum) * options.scale;
}

std::string confusion_text(const std::vector<std::string>& classes, const std::vector<int64_t>& counts) {
  constexpr size_t kWidest = 20;
  if (classes.size() > kWidest) return "the most frequent mistakes:\n" + frequent_mistakes(classes, counts);
  return "who was taken for whom:\n" + confusion_table(classes, counts);
}

}  // namespace ordo
