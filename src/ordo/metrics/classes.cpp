// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/classes.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "ordo/core/errors.h"
#include "ordo/metrics/label_counts.h"

namespace ordo {

namespace {

double matthews(double right, double examples, std::span<const LabelCounts> classes) {
  double both = 0.0, predicted = 0.0, actual = 0.0;
  for (const LabelCounts& label : classes) {
    both += label.predicted * label.actual;
    predicted += label.predicted * label.predicted;
    actual += label.actual * label.actual;
  }
  const double square = examples * examples;
  const double spread = (square - predicted) * (square - actual);
  return spread > 0.0 ? (right * examples - both) / std::sqrt(spread) : 0.0;
}

}  // namespace

ClassScores::ClassScores(ClassesConfig config) : config_(std::move(config)) {
  const std::vector<std::string>& names = config_.classes;
  require<ConfigError>(!names.empty(), "metrics: classification scores need the names of the classes");
  const bool once = std::set<std::string>(names.begin(), names.end()).size() == names.size();
  require<ConfigError>(once, "metrics: two of the {} classes have one name", names.size());
  const int64_t background = config_.background.value_or(0);
  require<ConfigError>(background >= 0 && background < std::ssize(names),
                       "metrics: the background class must be one of 0 to {} (found: {})", names.size() - 1,
                       background);
}

void ClassScores::add(int64_t predicted, int64_t truth) {
  for (const int64_t id : {predicted, truth}) {
    require<DataError>(id >= 0 && id < std::ssize(config_.classes),
                       "metrics: example {} is of class {}; there are classes 0 to {}", examples() + 1, id,
                       config_.classes.size() - 1);
  }
  predicted_.push_back(static_cast<int32_t>(predicted));
  truth_.push_back(static_cast<int32_t>(truth));
}

std::vector<std::string> ClassScores::names() const {
  std::vector<std::string> names{"accuracy", "matthews"};
  const std::vector<std::string> scores = label_score_names(config_.classes);
  names.insert(names.end(), scores.begin(), scores.end());
  return names;
}

std::vector<int64_t> ClassScores::confusion() const {
  const size_t classes = config_.classes.size();
  std::vector<int64_t> matrix(classes * classes, 0);
  for (size_t i = 0; i < truth_.size(); ++i)
    ++matrix[static_cast<size_t>(truth_[i]) * classes + static_cast<size_t>(predicted_[i])];
  return matrix;
}

std::vector<double> ClassScores::values(std::span<const double> weights) const {
  const size_t classes = config_.classes.size();
  std::vector<LabelCounts> counts(classes);
  double right = 0.0, examples = 0.0;
  for (size_t i = 0; i < truth_.size(); ++i) {
    LabelCounts& actual = counts[static_cast<size_t>(truth_[i])];
    actual.actual += weights[i];
    counts[static_cast<size_t>(predicted_[i])].predicted += weights[i];
    examples += weights[i];
    if (truth_[i] != predicted_[i]) continue;
    actual.hits += weights[i];
    right += weights[i];
  }
  std::vector<bool> averaged(classes);
  for (size_t i = 0; i < classes; ++i) {
    averaged[i] = counts[i].actual + counts[i].predicted > 0.0 && config_.background != static_cast<int64_t>(i);
  }
  std::vector<double> values{right / examples, matthews(right, examples, counts)};
  const std::vector<double> scores = label_scores(counts, averaged);
  values.insert(values.end(), scores.begin(), scores.end());
  return values;
}

std::vector<double> ClassScores::example(int64_t i) const {
  const auto at = static_cast<size_t>(i);
  const bool right = predicted_.at(at) == truth_.at(at);
  return {static_cast<double>(predicted_[at]), static_cast<double>(truth_[at]), right ? 1.0 : 0.0};
}

}  // namespace ordo
