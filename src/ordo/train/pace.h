// SPDX-License-Identifier: Apache-2.0
// Speed of a run over the steps since one last asked, and the time that is left.
#pragma once
#include <chrono>
#include <cstdint>

namespace ordo {

class Pace {
 public:
  void start(int64_t step, int64_t steps);
  void stepped(int64_t tokens);  // of this step
  // Tokens a second since the last call (or the start), evaluations and saves in between included.
  double take_tokens_per_second();
  double seconds() const;                   // since the start
  double seconds_left(int64_t step) const;  // at the average of this process so far

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point began_, asked_;
  int64_t first_step_ = 0, steps_ = 0;
  int64_t tokens_ = 0, asked_tokens_ = 0;
};

}  // namespace ordo
