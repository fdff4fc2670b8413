// SPDX-License-Identifier: Apache-2.0
// Whether a classifier is right as often as it says it will be.
#pragma once
#include "ordo/metrics/measure.h"

namespace ordo {

struct ReliabilityBin {
  int64_t examples = 0;
  double confidence = kNoNumber, accuracy = kNoNumber;  // means over them; NaN in an empty bin
};

// The expected calibration error (Naeini et al. 2015; Guo et al. 2017): Σ over bins of equal width of the confidence,
// (k / B, (k + 1) / B], 0 in the first, of the share of examples in the bin · |their accuracy - their mean confidence|.
// Empty bins contribute nothing. It depends on the number of bins, and is above 0 by chance with few examples.
class Calibration : public ExampleMetric {
 public:
  explicit Calibration(int64_t bins = 15);  // throws ConfigError below 1
  void add(double confidence, bool right);  // the probability of what was chosen; throws NumericError outside 0..1
  int64_t examples() const override { return static_cast<int64_t>(confidence_.size()); }
  std::vector<std::string> names() const override { return {"calibration_error"}; }
  std::vector<double> values(std::span<const double> weights) const override;
  std::vector<std::string> columns() const override { return {"confidence", "right"}; }
  std::vector<double> example(int64_t i) const override;
  std::vector<ReliabilityBin> reliability() const;  // the bins, from the lowest confidence

 private:
  struct Sums {
    double examples = 0.0, confidence = 0.0, right = 0.0;
  };
  std::vector<Sums> sums(std::span<const double> weights) const;
  int64_t bins_;
  std::vector<double> confidence_;
  std::vector<bool> right_;
};

}  // namespace ordo
