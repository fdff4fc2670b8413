// SPDX-License-Identifier: Apache-2.0
// What a metric over examples is: something that takes examples one after the other, keeps of each only the few numbers
// its value is made of, and can say its value for any weights of the examples. Its interval comes from drawing weights,
// never from the texts again, and what one example contributes is a row for a file.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/core/json.h"
#include "ordo/statistics/interval.h"

namespace ordo {

class ExampleMetric {
 public:
  virtual ~ExampleMetric() = default;
  virtual int64_t examples() const = 0;
  // What values() gives: "bleu"; or "accuracy", "f1_macro", "f1/spam".
  virtual std::vector<std::string> names() const = 0;
  // The values when example i counts weights[i] times (>= 0, not all 0); NaN where one is undefined.
  virtual std::vector<double> values(std::span<const double> weights) const = 0;
  // values() of kTogether weightings: weights [examples, kTogether], row after row. For metrics that pass over much
  // to make a value: one pass makes them all.
  static constexpr size_t kTogether = 8;
  virtual std::vector<std::vector<double>> values_together(std::span<const double> weights) const;
  // What example i contributes, and what the numbers are called; NaN where there is none.
  virtual std::vector<std::string> columns() const = 0;
  virtual std::vector<double> example(int64_t i) const = 0;
  // The settings that make two values comparable, in sacreBLEU's form "nrefs:1|case:mixed|…"; empty: there are none.
  virtual std::string signature() const { return {}; }
};

// A metric that is a function of sums over the examples.
class SumMetric : public ExampleMetric {
 public:
  explicit SumMetric(size_t width) : width_(width) {}
  int64_t examples() const final { return static_cast<int64_t>(rows_.size() / width_); }
  std::vector<double> values(std::span<const double> weights) const final;
  std::vector<std::string> columns() const override { return names(); }
  std::vector<double> example(int64_t i) const override { return scores(row(i)); }  // as if it were alone

 protected:
  virtual std::vector<double> scores(std::span<const double> sums) const = 0;  // sums [width]
  void keep(std::span<const double> row);
  std::span<const double> row(int64_t i) const;

 private:
  size_t width_;
  std::vector<double> rows_;  // [examples, width]
};

// The percentile bootstrap over examples (Efron 1979; for translation Koehn 2004): as many examples are drawn with
// replacement as there are, `draws` times. The draws depend on the seed and the number of examples alone: all metrics
// of a test set, and all models on it, see the same ones, so that their values may be subtracted draw by draw.
// Costs draws · examples · numbers kept of each: 0.05 s for BLEU of 2000 sentences.
struct Resampling {
  int64_t draws = 1000;  // 0: no intervals
  double level = 0.95;
  uint64_t seed = 0;
};
// weights[i]: how often example i is in draw number `draw`.
void draw_examples(const Resampling& how, int64_t draw, std::span<double> weights);

struct MetricValue {
  std::string name;
  double value = kNoNumber;
  // Kind "bootstrap". None: fewer than two examples, no draws, all draws equal (no spread is no estimate of the
  // spread), or a value undefined in more than a tail, (1 - level) / 2, of the draws; in fewer, those are left out.
  Interval interval;
};
// Without examples every value is NaN. Throws Error when the level is not between 0 and 1 or the number of draws is
// negative.
std::vector<MetricValue> metric_values(const ExampleMetric& metric, const Resampling& how = {});

// {"bleu": 31.2, …}: the columns of example i; what is not finite becomes null when it is written.
Json example_row(const ExampleMetric& metric, int64_t i);

}  // namespace ordo
