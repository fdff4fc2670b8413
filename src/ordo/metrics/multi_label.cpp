// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/multi_label.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "ordo/core/errors.h"

namespace ordo {

namespace {

// The mean of those that are defined, then each.
std::vector<double> with_mean(const std::vector<double>& areas) {
  double sum = 0.0, defined = 0.0;
  for (const double area : areas) {
    if (std::isnan(area)) continue;
    sum += area;
    defined += 1.0;
  }
  std::vector<double> values{defined > 0.0 ? sum / defined : kNoNumber};
  values.insert(values.end(), areas.begin(), areas.end());
  return values;
}

}  // namespace

LabelAreas::LabelAreas(std::vector<std::string> labels) : labels_(std::move(labels)), ranked_(labels_.size()) {
  require<ConfigError>(!labels_.empty(), "metrics: multi-label scores need the names of the labels");
  const bool once = std::set<std::string>(labels_.begin(), labels_.end()).size() == labels_.size();
  require<ConfigError>(once, "metrics: two of the {} labels have one name", labels_.size());
}

void LabelAreas::add(std::span<const double> scores, std::span<const int64_t> actual) {
  const auto count = std::ssize(ranked_);
  require<DataError>(std::ssize(scores) == count, "metrics: example {} has {} scores for {} labels", examples() + 1,
                     scores.size(), count);
  std::vector<bool> is_true(ranked_.size(), false);
  for (const int64_t label : actual) {
    require<DataError>(label >= 0 && label < count, "metrics: example {} has label {}; there are labels 0 to {}",
                       examples() + 1, label, count - 1);
    is_true[static_cast<size_t>(label)] = true;
  }
  const bool numbers = std::none_of(scores.begin(), scores.end(), [](double score) { return std::isnan(score); });
  require<NumericError>(numbers, "metrics: a score of example {} is no number and cannot be ranked", examples() + 1);
  for (size_t label = 0; label < ranked_.size(); ++label) ranked_[label].add(scores[label], is_true[label]);
}

std::vector<std::string> LabelAreas::names() const {
  std::vector<std::string> names{"auc_macro"};
  for (const std::string& label : labels_) names.push_back("auc/" + label);
  return names;
}

std::vector<double> LabelAreas::values(std::span<const double> weights) const {
  std::vector<double> areas;
  for (const RankedScores& label : ranked_) areas.push_back(label.area(weights));
  return with_mean(areas);
}

std::vector<std::vector<double>> LabelAreas::values_together(std::span<const double> weights) const {
  std::vector<std::vector<double>> areas(kTogether);
  for (const RankedScores& label : ranked_) {
    const auto found = label.areas(weights);
    for (size_t one = 0; one < kTogether; ++one) areas[one].push_back(found[one]);
  }
  for (auto& of_draw : areas) of_draw = with_mean(of_draw);
  return areas;
}

MultiLabelScores::MultiLabelScores(MultiLabelConfig config)
    : threshold_(config.threshold), areas_(std::move(config.labels)) {}

void MultiLabelScores::add(std::span<const double> scores, std::span<const int64_t> actual) {
  areas_.add(scores, actual);
  Decisions& made = decisions_.emplace_back();
  for (size_t label = 0; label < scores.size(); ++label) {
    const bool predicted = scores[label] >= threshold_;
    const bool is_true = std::find(actual.begin(), actual.end(), static_cast<int64_t>(label)) != actual.end();
    if (predicted || is_true)
      (predicted && is_true ? made.hits
       : predicted          ? made.false_alarms
                            : made.misses)
          .push_back(static_cast<uint32_t>(label));
  }
}

std::vector<std::string> MultiLabelScores::names() const {
  std::vector<std::string> names{"subset_accuracy", "hamming_loss"};
  for (const auto& more : {label_score_names(areas_.labels()), areas_.names()})
    names.insert(names.end(), more.begin(), more.end());
  return names;
}

std::vector<double> MultiLabelScores::decided(std::span<const double> weights) const {
  const size_t labels = areas_.labels().size();
  std::vector<LabelCounts> counts(labels);
  double right = 0.0, wrong_decisions = 0.0, all = 0.0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0.0) continue;
    const Decisions& of = decisions_[i];
    for (const uint32_t label : of.hits) counts[label].hits += weights[i];
    for (const uint32_t label : of.false_alarms) counts[label].predicted += weights[i];
    for (const uint32_t label : of.misses) counts[label].actual += weights[i];
    right += of.wrong() == 0 ? weights[i] : 0.0;
    wrong_decisions += weights[i] * static_cast<double>(of.wrong());
    all += weights[i];
  }
  for (LabelCounts& label : counts) {
    label.predicted += label.hits;
    label.actual += label.hits;
  }
  std::vector<double> values{right / all, wrong_decisions / (all * static_cast<double>(labels))};
  const std::vector<double> scores = label_scores(counts, std::vector<bool>(labels, true));
  values.insert(values.end(), scores.begin(), scores.end());
  return values;
}

std::vector<double> MultiLabelScores::values(std::span<const double> weights) const {
  std::vector<double> values = decided(weights);
  const std::vector<double> areas = areas_.values(weights);
  values.insert(values.end(), areas.begin(), areas.end());
  return values;
}

std::vector<std::vector<double>> MultiLabelScores::values_together(std::span<const double> weights) const {
  auto all = areas_.values_together(weights);
  std::vector<double> own(weights.size() / kTogether);
  for (size_t one = 0; one < kTogether; ++one) {
    for (size_t i = 0; i < own.size(); ++i) own[i] = weights[i * kTogether + one];
    std::vector<double> values = decided(own);
    values.insert(values.end(), all[one].begin(), all[one].end());
    all[one] = std::move(values);
  }
  return all;
}

std::vector<double> MultiLabelScores::example(int64_t i) const {
  const Decisions& found = decisions_.at(static_cast<size_t>(i));
  return {static_cast<double>(found.predicted()), static_cast<double>(found.actual()),
          static_cast<double>(found.hits.size()), found.wrong() == 0 ? 1.0 : 0.0};
}

}  // namespace ordo
