// SPDX-License-Identifier: Apache-2.0
// Sequences of tags: an example is a sentence, so that intervals come from drawing sentences, and what is counted are
// its words, or the spans that its tags mark.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ordo/metrics/label_counts.h"
#include "ordo/metrics/measure.h"

namespace ordo {

// Values:
//   accuracy          share of words whose tag is right
//   …_macro, …_micro  as in ClassScores: over the tags but the background that occur in truth or predictions
//   …/TAG             of one tag
// What a sentence contributes: the number of its words, and how many are right.
class TagScores : public SumMetric {
 public:
  // `background`: the tag that means "nothing here". Throws ConfigError when there is no tag.
  TagScores(std::vector<std::string> tags, std::optional<int64_t> background);
  // Tags of a sentence by their number. Throws DataError for one that is not there, or for unequal numbers of them.
  void add(std::span<const int64_t> predicted, std::span<const int64_t> truth);
  std::vector<std::string> names() const override;
  std::vector<std::string> columns() const override { return {"words", "right"}; }
  std::vector<double> example(int64_t i) const override;

 protected:
  std::vector<double> scores(std::span<const double> sums) const override;

 private:
  std::vector<std::string> tags_;
  std::optional<int64_t> background_;
};

// What tags as "B-PER", "I-PER" mark: a span of one type. It begins at B, and at an I that goes on from nothing or from
// another type, as in the evaluation of CoNLL 2003 (Tjong Kim Sang and De Meulder).
struct TagSpan {
  std::string type;
  int64_t begin = 0, end = 0;  // words [begin, end)
  bool operator==(const TagSpan&) const = default;
};
// Do all tags but the background begin with B- or I-?
bool mark_spans(std::span<const std::string> tags, std::optional<int64_t> background);
std::vector<TagSpan> spans_of(std::span<const std::string> tags);  // of a sentence; other tags are outside of all

// Spans that agree in type, begin and end count, others do not: precision_spans, recall_spans, f1_spans over all, equal
// to seqeval's; f1_spans/TYPE of each type. A sentence contributes how many were predicted, are true, and are both.
class SpanScores : public SumMetric {
 public:
  explicit SpanScores(std::vector<std::string> types);
  // Throws DataError for a type that is not there.
  void add(std::span<const TagSpan> predicted, std::span<const TagSpan> truth);
  std::vector<std::string> names() const override;
  std::vector<std::string> columns() const override { return {"predicted_spans", "true_spans", "right_spans"}; }
  std::vector<double> example(int64_t i) const override;

 protected:
  std::vector<double> scores(std::span<const double> sums) const override;

 private:
  size_t place(const TagSpan& span) const;
  std::vector<std::string> types_;
};

}  // namespace ordo
