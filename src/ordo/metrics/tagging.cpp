// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/tagging.h"

#include <algorithm>

#include "ordo/core/errors.h"

namespace ordo {

namespace {

constexpr size_t kCounts = 3;  // of a label: hits, predicted, actual

LabelCounts counts_at(std::span<const double> sums, size_t label) {
  return {.hits = sums[kCounts * label], .predicted = sums[kCounts * label + 1], .actual = sums[kCounts * label + 2]};
}

}  // namespace

TagScores::TagScores(std::vector<std::string> tags, std::optional<int64_t> background)
    : SumMetric(kCounts * tags.size() + 1), tags_(std::move(tags)), background_(background) {
  require<ConfigError>(!tags_.empty(), "metrics: scores of tags need the names of the tags");
}

void TagScores::add(std::span<const int64_t> predicted, std::span<const int64_t> truth) {
  require<DataError>(predicted.size() == truth.size(), "metrics: sentence {} has {} words and {} predicted tags",
                     examples() + 1, truth.size(), predicted.size());
  std::vector<double> row(kCounts * tags_.size() + 1, 0.0);
  for (size_t i = 0; i < truth.size(); ++i) {
    for (const int64_t tag : {predicted[i], truth[i]})
      require<DataError>(tag >= 0 && tag < std::ssize(tags_), "metrics: sentence {} has tag {}; there are 0 to {}",
                         examples() + 1, tag, tags_.size() - 1);
    row[kCounts * static_cast<size_t>(predicted[i]) + 1] += 1.0;
    row[kCounts * static_cast<size_t>(truth[i]) + 2] += 1.0;
    if (predicted[i] == truth[i]) row[kCounts * static_cast<size_t>(truth[i])] += 1.0;
  }
  row.back() = static_cast<double>(truth.size());
  keep(row);
}

std::vector<std::string> TagScores::names() const {
  std::vector<std::string> names{"accuracy"};
  const auto scores = label_score_names(tags_);
  names.insert(names.end(), scores.begin(), scores.end());
  return names;
}

std::vector<double> TagScores::scores(std::span<const double> sums) const {
  std::vector<LabelCounts> counts;
  std::vector<bool> averaged;
  double right = 0.0;
  for (size_t tag = 0; tag < tags_.size(); ++tag) {
    const LabelCounts& one = counts.emplace_back(counts_at(sums, tag));
    averaged.push_back(one.actual + one.predicted > 0.0 && background_ != static_cast<int64_t>(tag));
    right += one.hits;
  }
  std::vector<double> values{right / sums.back()};
  const auto scores = label_scores(counts, averaged);
  values.insert(values.end(), scores.begin(), scores.end());
  return values;
}

std::vector<double> TagScores::example(int64_t i) const {
  double right = 0.0;
  for (size_t tag = 0; tag < tags_.size(); ++tag) right += counts_at(row(i), tag).hits;
  return {row(i).back(), right};
}

bool mark_spans(std::span<const std::string> tags, std::optional<int64_t> background) {
  for (size_t i = 0; i < tags.size(); ++i)
    if (background != static_cast<int64_t>(i) && !tags[i].starts_with("B-") && !tags[i].starts_with("I-")) return false;
  return true;
}

std::vector<TagSpan> spans_of(std::span<const std::string> tags) {
  std::vector<TagSpan> spans;
  bool open = false;
  for (size_t i = 0; i < tags.size(); ++i) {
    const bool begins = tags[i].starts_with("B-"), inside = tags[i].starts_with("I-");
    const std::string type = begins || inside ? tags[i].substr(2) : "";
    const bool goes_on = inside && open && spans.back().type == type;
    if ((begins || inside) && !goes_on) spans.push_back({.type = type, .begin = static_cast<int64_t>(i)});
    open = begins || inside;
    if (open) spans.back().end = static_cast<int64_t>(i) + 1;
  }
  return spans;
}

SpanScores::SpanScores(std::vector<std::string> types) : SumMetric(kCounts * types.size()), types_(std::move(types)) {}

size_t SpanScores::place(const TagSpan& span) const {
  const auto found = std::find(types_.begin(), types_.end(), span.type);
  require<DataError>(found != types_.end(), "metrics: sentence {} has a span of type '{}', which is none of the {}",
                     examples() + 1, span.type, types_.size());
  return kCounts * static_cast<size_t>(found - types_.begin());
}

void SpanScores::add(std::span<const TagSpan> predicted, std::span<const TagSpan> truth) {
  std::vector<double> row(kCounts * types_.size(), 0.0);
  for (const auto& span : predicted) {
    row[place(span) + 1] += 1.0;
    if (std::find(truth.begin(), truth.end(), span) != truth.end()) row[place(span)] += 1.0;
  }
  for (const auto& span : truth) row[place(span) + 2] += 1.0;
  keep(row);
}

std::vector<std::string> SpanScores::names() const {
  std::vector<std::string> names{"precision_spans", "recall_spans", "f1_spans"};
  for (const auto& type : types_) names.push_back("f1_spans/" + type);
  return names;
}

std::vector<double> SpanScores::scores(std::span<const double> sums) const {
  LabelCounts all;
  std::vector<double> each;
  for (size_t type = 0; type < types_.size(); ++type) {
    const LabelCounts one = counts_at(sums, type);
    each.push_back(one.f1());
    all = {all.hits + one.hits, all.predicted + one.predicted, all.actual + one.actual};
  }
  std::vector<double> values{all.precision(), all.recall(), all.f1()};
  values.insert(values.end(), each.begin(), each.end());
  return values;
}

std::vector<double> SpanScores::example(int64_t i) const {
  LabelCounts all;
  for (size_t type = 0; type < types_.size(); ++type) {
    const LabelCounts one = counts_at(row(i), type);
    all = {all.hits + one.hits, all.predicted + one.predicted, all.actual + one.actual};
  }
  return {all.predicted, all.actual, all.hits};
}

}  // namespace ordo
