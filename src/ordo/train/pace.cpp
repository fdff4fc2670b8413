// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/pace.h"

#include <algorithm>

namespace ordo {

namespace {
constexpr double kLeastSeconds = 1e-9;
}

void Pace::start(int64_t step, int64_t steps) {
  began_ = asked_ = Clock::now();
  first_step_ = step;
  steps_ = steps;
  tokens_ = 0;
  asked_tokens_ = 0;
}

void Pace::stepped(int64_t tokens) { tokens_ += tokens; }

double Pace::take_tokens_per_second() {
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - asked_).count();
  const double rate = static_cast<double>(tokens_ - asked_tokens_) / std::max(seconds, kLeastSeconds);
  asked_ = now;
  asked_tokens_ = tokens_;
  return rate;
}

double Pace::seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

double Pace::seconds_left(int64_t step) const {
  const auto done = static_cast<double>(std::max<int64_t>(1, step - first_step_));
  return seconds() / done * static_cast<double>(steps_ - step);
}

}  // namespace ordo
