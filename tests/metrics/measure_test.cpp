// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/measure.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "metrics/stored.h"
#include "ordo/core/errors.h"
#include "ordo/core/hash.h"
#include "ordo/metrics/bleu.h"
#include "ordo/metrics/chrf.h"
#include "ordo/metrics/classes.h"
#include "ordo/metrics/error_rate.h"
#include "ordo/metrics/multi_label.h"
#include "ordo/metrics/ranking.h"
#include "ordo/metrics/rouge.h"
#include "ordo/metrics/ter.h"

namespace ordo::test {

namespace {

ClassScores right_of(int right, int examples) {
  ClassScores scores({.classes = {"no", "yes"}});
  for (int i = 0; i < examples; ++i) scores.add(i < right ? 1 : 0, 1);
  return scores;
}

// Scores in steps of a quarter, so that many are equal; each example is truly of one label or two.
template <class Metric>
Metric of_labels(Metric metric) {
  KeyedSequence draw(11);
  for (int i = 0; i < 30; ++i) {
    std::vector<double> scores;
    for (int k = 0; k < 4; ++k) scores.push_back(static_cast<double>(draw.below(5)) / 4.0);
    const auto first = static_cast<int64_t>(draw.below(3));
    metric.add(scores, i % 3 == 0 ? std::vector<int64_t>{first, 3} : std::vector<int64_t>{first});
  }
  return metric;
}

std::vector<std::unique_ptr<TextMetric>> text_metrics() {
  std::vector<std::unique_ptr<TextMetric>> metrics;
  metrics.push_back(std::make_unique<Bleu>());
  metrics.push_back(std::make_unique<Chrf>(ChrfConfig{.word_order = 2}));
  metrics.push_back(std::make_unique<Ter>());
  metrics.push_back(std::make_unique<Rouge>());
  metrics.push_back(std::make_unique<ErrorRate>(ErrorUnit::words));
  metrics.push_back(std::make_unique<ExactMatch>());
  return metrics;
}

}  // namespace

TEST_CASE("measure: a share's interval is the binomial's", "[unit]") {
  const ClassScores scores = right_of(30, 100);
  const MetricValue found = metric_values(scores, {.draws = 20000}).front();
  CHECK(found.name == "accuracy");
  CHECK(found.value == 0.3);
  CHECK(found.interval.kind == "bootstrap");
  CHECK(found.interval.low == Approx(0.21).margin(0.011));  // quantiles of Binomial(100, 0.3): 21 and 39
  CHECK(found.interval.high == Approx(0.39).margin(0.011));
  const MetricValue narrower = metric_values(scores, {.draws = 20000, .level = 0.5}).front();
  CHECK(narrower.interval.low == Approx(0.27).margin(0.011));
  CHECK(narrower.interval.high == Approx(0.33).margin(0.011));
}

TEST_CASE("measure: an interval depends on the seed, and on nothing else", "[unit]") {
  const ClassScores scores = right_of(30, 100);
  const Interval first = metric_values(scores, {.draws = 40}).front().interval;
  CHECK(first.low == metric_values(scores, {.draws = 40}).front().interval.low);
  const Interval other = metric_values(scores, {.draws = 40, .seed = 1}).front().interval;
  CHECK((first.low != other.low || first.high != other.high));
}

TEST_CASE("measure: every draw takes as many examples as there are, the same for all metrics", "[unit]") {
  std::vector<double> weights(50), again(50), next(50);
  draw_examples({}, 3, weights);
  draw_examples({}, 3, again);
  draw_examples({}, 4, next);
  CHECK(std::accumulate(weights.begin(), weights.end(), 0.0) == 50.0);
  CHECK(weights == again);
  CHECK(weights != next);
}

TEST_CASE("measure: an example of weight two is the example twice, one of weight none is not there", "[unit]") {
  for (const Json& corpus : stored("texts")) {
    const Json& examples = corpus.at("examples");
    if (examples.size() < 2 || examples.size() > 4) continue;
    auto weighted = text_metrics(), repeated = text_metrics();
    std::vector<double> weights;
    for (size_t i = 0; i < examples.size(); ++i) {
      weights.push_back(static_cast<double>((i + 2) % 3));
      for (size_t m = 0; m < weighted.size(); ++m) {
        weighted[m]->add(hypothesis_of(examples[i]), references_of(examples[i]));
        for (double count = 0; count < weights.back(); ++count) {
          repeated[m]->add(hypothesis_of(examples[i]), references_of(examples[i]));
        }
      }
    }
    for (size_t m = 0; m < weighted.size(); ++m) {
      INFO(weighted[m]->names().front());
      CHECK(same(values_of(*weighted[m], weights).begin()->second, values_of(*repeated[m]).begin()->second));
    }
  }
}

TEST_CASE("measure: any bytes are a text that can be compared, and are equal to themselves", "[unit]") {
  auto with_itself = text_metrics(), with_another = text_metrics();
  KeyedSequence sequence(5);
  const auto bytes = [&sequence] {
    std::string text(8 + sequence.below(24), ' ');
    for (char& byte : text) byte = static_cast<char>(sequence.below(256));
    return text;
  };
  for (int round = 0; round < 50; ++round) {
    const std::string text = "four words or more " + bytes(), other = bytes();
    for (auto& metric : with_itself) metric->add(text, std::span(&text, 1));
    for (auto& metric : with_another) metric->add(text, std::span(&other, 1));
  }
  for (size_t m = 0; m < with_itself.size(); ++m) {
    const std::string name = with_itself[m]->names().front();
    const bool error = name == "ter" || name == "wer", percent = name != "rouge_l" && name != "exact_match";
    CHECK(values_of(*with_itself[m]).at(name) == Approx(error ? 0.0 : percent ? 100.0 : 1.0));
    CHECK(std::isfinite(values_of(*with_another[m]).at(name)));
  }
}

TEST_CASE("measure: several weightings at once have the values that each has alone", "[unit]") {
  const std::vector<std::string> labels{"a", "b", "c", "d"};
  ClassScores classes({.classes = {"no", "yes"}});
  RocArea area;
  for (int i = 0; i < 30; ++i) {
    classes.add(i % 2, i % 3 == 0 ? 1 : 0);
    area.add(i * 7 % 5, i % 4 == 0);
  }
  const auto areas = of_labels(LabelAreas(labels));
  const auto decisions = of_labels(MultiLabelScores({.labels = labels}));
  constexpr size_t kTogether = ExampleMetric::kTogether;
  std::vector<double> together(30 * kTogether), weights(30);
  for (const ExampleMetric* metric :
       {static_cast<const ExampleMetric*>(&classes), static_cast<const ExampleMetric*>(&area),
        static_cast<const ExampleMetric*>(&areas), static_cast<const ExampleMetric*>(&decisions)}) {
    for (size_t one = 0; one < kTogether; ++one) {
      draw_examples({}, static_cast<int64_t>(one), weights);
      for (size_t i = 0; i < weights.size(); ++i) together[i * kTogether + one] = weights[i];
    }
    const auto found = metric->values_together(together);
    REQUIRE(found.size() == kTogether);
    for (size_t one = 0; one < kTogether; ++one) {
      draw_examples({}, static_cast<int64_t>(one), weights);
      CHECK(found[one] == metric->values(weights));
    }
  }
  CHECK(areas.names() == std::vector<std::string>{"auc_macro", "auc/a", "auc/b", "auc/c", "auc/d"});
  CHECK(values_of(areas).at("auc_macro") == values_of(decisions).at("auc_macro"));
}

TEST_CASE("measure: the number of draws is the one asked for", "[unit]") {
  // Of 3 draws the lowest and the highest are the ends at a level of 0.9; a fourth would move one of them.
  RocArea area;
  for (int i = 0; i < 40; ++i) area.add(i * 7 % 13, i % 3 == 0);
  std::vector<double> weights(40), drawn;
  for (int64_t draw = 0; draw < 3; ++draw) {
    draw_examples({}, draw, weights);
    drawn.push_back(area.values(weights).front());
  }
  const Interval found = metric_values(area, {.draws = 3, .level = 0.9}).front().interval;
  CHECK(found.low == *std::min_element(drawn.begin(), drawn.end()));
  CHECK(found.high == *std::max_element(drawn.begin(), drawn.end()));
}

TEST_CASE("measure: no interval without spread, without a second example, without draws", "[unit]") {
  CHECK_FALSE(metric_values(right_of(10, 10)).front().interval.exists());
  CHECK_FALSE(metric_values(right_of(1, 1)).front().interval.exists());
  CHECK_FALSE(metric_values(right_of(5, 10), {.draws = 0}).front().interval.exists());
  const MetricValue none = metric_values(right_of(0, 0)).front();
  CHECK(std::isnan(none.value));
  CHECK_FALSE(none.interval.exists());
}

TEST_CASE("measure: draws in which a metric is undefined are left out while they are few", "[unit]") {
  RocArea rare, even;
  for (int i = 0; i < 12; ++i) {
    rare.add(i, i == 7);
    even.add(i, i % 2 == 0);
  }
  CHECK_FALSE(metric_values(rare).front().interval.exists());
  CHECK(metric_values(even).front().interval.exists());
}

TEST_CASE("measure: draws and levels that cannot be are refused", "[unit]") {
  CHECK_THROWS_AS(metric_values(right_of(1, 2), {.draws = -1}), Error);
  CHECK_THROWS_AS(metric_values(right_of(1, 2), {.level = 1.0}), Error);
}

}  // namespace ordo::test
