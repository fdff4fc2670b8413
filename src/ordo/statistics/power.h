// SPDX-License-Identifier: Apache-2.0
// How many seeds a difference takes.
#pragma once
#include <cstdint>
#include <optional>

namespace ordo {

// The chance that the two-sided paired t-test over n seeds finds a difference of `effect` standard deviations of the
// paired differences: P(|T| > t(1 - alpha / 2, n - 1)), T noncentral t with n - 1 degrees and centre effect · √n.
// 0.75 for 3 at 3 seeds, 0.91 for 2 at 5; for the strictest step of Holm over m comparisons alpha is 0.05 / m (over 5:
// 0.25 and 0.55). NaN: fewer than two seeds, or an effect that is NaN. Throws Error unless
// 0 < alpha < 1.
double paired_power(double effect, int64_t seeds, double alpha = 0.05);

// The fewest seeds with which that chance reaches `power`; nothing when the difference is 0 or not a number, or when
// more than a million would be needed. A spread of 0: two. The sign-flip test may ask for more: repetitions_to_pass.
std::optional<int64_t> seeds_needed(double difference, double sd, double power = 0.8, double alpha = 0.05);

}  // namespace ordo
