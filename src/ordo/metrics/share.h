// SPDX-License-Identifier: Apache-2.0
// How large a part of something is: right tokens of all tokens, right answers of all answers.
#pragma once
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "ordo/metrics/measure.h"

namespace ordo {

// The sum of the parts over the sum of the wholes; NaN where the wholes are 0.
class Share final : public SumMetric {
 public:
  explicit Share(std::string name) : SumMetric(2), name_(std::move(name)) {}
  void add(double part, double whole) { keep(std::array{part, whole}); }
  std::vector<std::string> names() const override { return {name_}; }

 protected:
  std::vector<double> scores(std::span<const double> sums) const override {
    return {sums[1] > 0.0 ? sums[0] / sums[1] : kNoNumber};
  }

 private:
  std::string name_;
};

}  // namespace ordo
