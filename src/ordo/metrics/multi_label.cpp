// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/multi_label.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "ordo/core/errors.h"

namespace ordo {

MultiLabelScores::MultiLabelScores(MultiLabelConfig config) : config_(std::move(config)) {
  const std::vector<std::string>& names = config_.labels;
  require<ConfigError>(!names.empty(), "metrics: multi-label scores need the names of the labels");
  const bool once = std::set<std::string>(names.begin(), names.end()).size() == names.size();
  require<ConfigError>(once, "metrics: two of the {} labels have one name", names.size());
  labels_.resize(names.size());
}

void MultiLabelScores::add(std::span<const double> scores, std::span<const int64_t> actual) {
  const auto count = std::ssize(labels_);
  require<DataError>(std::ssize(scores) == count, "metrics: example {} has {} scores for {} labels", examples_ + 1,
                     scores.size(), count);
  std::vector<bool> is_true(labels_.size(), false);
  for (const int64_t label : actual) {
    require<DataError>(label >= 0 && label < count, "metrics: example {} has label {}; there are labels 0 to {}",
                       examples_ + 1, label, count - 1);
    is_true[static_cast<size_t>(label)] = true;
  }
  const bool numbers = std::none_of(scores.begin(), scores.end(), [](double score) { return std::isnan(score); });
  require<NumericError>(numbers, "metrics: a score of example {} is no number and cannot be ranked", examples_ + 1);
  for (size_t label = 0; label < labels_.size(); ++label) labels_[label].add(scores[label], is_true[label]);
  ++examples_;
}

std::vector<std::string> MultiLabelScores::names() const {
  std::vector<std::string> names{"subset_accuracy", "hamming_loss"};
  const std::vector<std::string> scores = label_score_names(config_.labels);
  names.insert(names.end(), scores.begin(), scores.end());
  names.push_back("auc_macro");
  for (const std::string& label : config_.labels) names.push_back("auc/" + label);
  return names;
}

MultiLabelScores::Decisions MultiLabelScores::decisions(int64_t i) const {
  Decisions found;
  for (const RankedScores& label : labels_) {
    const bool predicted = label.score(i) >= config_.threshold, actual = label.positive(i);
    found.predicted += predicted ? 1.0 : 0.0;
    found.actual += actual ? 1.0 : 0.0;
    found.hits += predicted && actual ? 1.0 : 0.0;
  }
  return found;
}

std::vector<double> MultiLabelScores::values(std::span<const double> weights) const {
  double right = 0.0, wrong_decisions = 0.0, all = 0.0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0.0) continue;
    const Decisions found = decisions(static_cast<int64_t>(i));
    right += found.right() ? weights[i] : 0.0;
    wrong_decisions += weights[i] * found.wrong();
    all += weights[i];
  }
  std::vector<LabelCounts> counts(labels_.size());
  std::vector<double> areas;
  double sum = 0.0, defined = 0.0;
  for (size_t label = 0; label < labels_.size(); ++label) {
    for (size_t i = 0; i < weights.size(); ++i) {
      const bool predicted = labels_[label].score(static_cast<int64_t>(i)) >= config_.threshold;
      const bool actual = labels_[label].positive(static_cast<int64_t>(i));
      counts[label].predicted += predicted ? weights[i] : 0.0;
      counts[label].actual += actual ? weights[i] : 0.0;
      counts[label].hits += predicted && actual ? weights[i] : 0.0;
    }
    areas.push_back(labels_[label].area(weights));
    if (std::isnan(areas.back())) continue;
    sum += areas.back();
    defined += 1.0;
  }
  std::vector<double> values{right / all, wrong_decisions / (all * static_cast<double>(labels_.size()))};
  const std::vector<double> scores = label_scores(counts, std::vector<bool>(labels_.size(), true));
  values.insert(values.end(), scores.begin(), scores.end());
  values.push_back(defined > 0.0 ? sum / defined : kNoNumber);
  values.insert(values.end(), areas.begin(), areas.end());
  return values;
}

std::vector<double> MultiLabelScores::example(int64_t i) const {
  const Decisions found = decisions(i);
  return {found.predicted, found.actual, found.hits, found.right() ? 1.0 : 0.0};
}

}  // namespace ordo
