// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/calibration.h"

#include <algorithm>
#include <cmath>

#include "ordo/core/errors.h"

namespace ordo {

Calibration::Calibration(int64_t bins) : bins_(bins) {
  require<ConfigError>(bins >= 1, "metrics: the calibration error needs one bin or more (found: {})", bins);
}

void Calibration::add(double confidence, bool right) {
  require<NumericError>(confidence >= 0.0 && confidence <= 1.0,
                        "metrics: the confidence of example {} must be a probability (found: {})", examples() + 1,
                        confidence);
  confidence_.push_back(confidence);
  right_.push_back(right);
}

std::vector<Calibration::Sums> Calibration::sums(std::span<const double> weights) const {
  std::vector<Sums> bins(static_cast<size_t>(bins_));
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto place = static_cast<int64_t>(std::ceil(confidence_[i] * static_cast<double>(bins_))) - 1;
    Sums& bin = bins[static_cast<size_t>(std::clamp<int64_t>(place, 0, bins_ - 1))];
    bin.examples += weights[i];
    bin.confidence += weights[i] * confidence_[i];
    bin.right += right_[i] ? weights[i] : 0.0;
  }
  return bins;
}

std::vector<double> Calibration::values(std::span<const double> weights) const {
  double gaps = 0.0, examples = 0.0;
  for (const Sums& bin : sums(weights)) {
    gaps += std::abs(bin.right - bin.confidence);
    examples += bin.examples;
  }
  return {gaps / examples};
}

std::vector<double> Calibration::example(int64_t i) const {
  const auto at = static_cast<size_t>(i);
  return {confidence_.at(at), right_.at(at) ? 1.0 : 0.0};
}

std::vector<ReliabilityBin> Calibration::reliability() const {
  std::vector<ReliabilityBin> bins;
  for (const Sums& bin : sums(std::vector<double>(confidence_.size(), 1.0))) {
    bins.push_back({static_cast<int64_t>(bin.examples), bin.confidence / bin.examples, bin.right / bin.examples});
  }
  return bins;
}

}  // namespace ordo
