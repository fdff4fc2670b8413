// SPDX-License-Identifier: Apache-2.0
// Corrections of p-values for how many comparisons were made. Each returns adjusted values in the order given, to be
// held against the level itself; one that is NaN (a comparison without an answer) counts as 1.
#pragma once
#include <span>
#include <vector>

namespace ordo {

// Holm (1979), against naming any difference wrongly: with p sorted upwards, the largest so far of (m - i) · p_i
// (i from 0), at most 1.
std::vector<double> holm(std::span<const double> p);

// Benjamini and Hochberg (1995), against too large a share of wrong ones among those named: with p sorted upwards, the
// smallest from here on of m / (i + 1) · p_i, at most 1.
std::vector<double> benjamini_hochberg(std::span<const double> p);

}  // namespace ordo
