// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/metrics/tagging.h"

#include <fmt/format.h>

#include <map>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

using Tags = std::vector<std::string>;

// "PER 0-2, LOC 3-4".
std::string told_spans(const Tags& tags) {
  std::vector<std::string> all;
  for (const auto& span : spans_of(tags)) all.push_back(fmt::format("{} {}-{}", span.type, span.begin, span.end));
  return join(all, ", ");
}

std::map<std::string, double> valued(const ExampleMetric& metric) {
  std::map<std::string, double> values;
  for (const auto& one : metric_values(metric, {.draws = 0})) values[one.name] = one.value;
  return values;
}

}  // namespace

TEST_CASE("tagging: spans begin at B, and at an I that goes on from nothing or from another type", "[unit]") {
  CHECK(told_spans({"B-PER", "I-PER", "O", "B-LOC", "B-LOC", "I-LOC"}) == "PER 0-2, LOC 3-4, LOC 4-6");
  CHECK(told_spans({"I-PER", "I-LOC", "O", "I-LOC"}) == "PER 0-1, LOC 1-2, LOC 3-4");
  CHECK(told_spans({"O", "O"}) == "");
  CHECK(mark_spans(Tags{"O", "B-X", "I-X"}, 0));
  CHECK_FALSE(mark_spans(Tags{"O", "B-X", "NN"}, 0));
  CHECK_FALSE(mark_spans(Tags{"O", "B-X"}, std::nullopt));
}

// The example of seqeval's documentation: one of two spans has its borders right.
TEST_CASE("tagging: only spans with type and both borders right count", "[unit]") {
  SpanScores scores({"MISC", "PER"});
  const Tags truth{"O", "O", "O", "B-MISC", "I-MISC", "I-MISC", "O"};
  const Tags predicted{"O", "O", "B-MISC", "I-MISC", "I-MISC", "I-MISC", "O"};
  scores.add(spans_of(predicted), spans_of(truth));
  const Tags person{"B-PER", "I-PER", "O"};
  scores.add(spans_of(person), spans_of(person));
  const auto values = valued(scores);
  CHECK(values.at("precision_spans") == 0.5);
  CHECK(values.at("recall_spans") == 0.5);
  CHECK(values.at("f1_spans") == 0.5);
  CHECK(values.at("f1_spans/PER") == 1.0);
  CHECK(values.at("f1_spans/MISC") == 0.0);
  CHECK(scores.example(0) == std::vector<double>{1.0, 1.0, 0.0});
  CHECK(contains(thrown<DataError>([&] { scores.add({}, std::vector<TagSpan>{{"LOC", 0, 1}}); }), "'LOC'"));
}

TEST_CASE("tagging: words are counted by tag, and the background is in the accuracy alone", "[unit]") {
  TagScores scores({"O", "A", "B"}, 0);
  scores.add(std::vector<int64_t>{0, 1, 1, 0}, std::vector<int64_t>{0, 1, 0, 2});
  scores.add(std::vector<int64_t>{2}, std::vector<int64_t>{2});
  const auto values = valued(scores);
  CHECK(values.at("accuracy") == Approx(3.0 / 5.0));
  CHECK(values.at("precision/A") == 0.5);
  CHECK(values.at("recall/B") == 0.5);
  CHECK(values.at("f1_macro") == Approx(2.0 / 3.0));
  CHECK(values.at("f1_micro") == Approx(2.0 * 2.0 / (3.0 + 3.0)));
  CHECK(scores.example(0) == std::vector<double>{4.0, 2.0});
  CHECK(contains(thrown<DataError>([&] { scores.add(std::vector<int64_t>{3}, std::vector<int64_t>{0}); }), "tag 3"));
}

}  // namespace ordo::test
