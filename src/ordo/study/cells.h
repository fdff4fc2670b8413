// SPDX-License-Identifier: Apache-2.0
// Cells: one metric of one combination at one length, over the seeds; and what is made of them along the lengths.
#pragma once
#include <vector>

#include "ordo/study/outcomes.h"
#include "ordo/study/summary.h"

namespace ordo {

Cell cell_of(const Plan& plan, const OutcomeTable& outcomes, const Question& question);

// Every metric of every combination, scaling and length; of the compared metric also the area under the curve, where
// there are several lengths. What no run has is left out, unless it is the compared metric.
std::vector<Cell> all_cells(const Plan& plan, const OutcomeTable& outcomes);

// Of the compared metric and those of the claims, where there are several lengths.
std::vector<LengthCurve> length_curves(const Plan& plan, const std::vector<Cell>& cells);

// Of the compared metric at the compared length; combinations without items, with fewer than two seeds, or in which
// nothing varies are left out.
std::vector<SourceShares> source_shares(const Plan& plan, const OutcomeTable& outcomes);

// How far apart two neighbouring values must lie at least to be of two modes: this (of shares, nats, bits), and where
// the metric is no share a fifth of their mean.
inline constexpr double kLeastGap = 0.2;
double modes_gap(const std::string& metric, const std::vector<double>& values);

// The compared length of a combination: the given one, else the first evaluated one; 0: the area.
int64_t compared_length(const StudyConfig& study, const OutcomeTable& outcomes, const Combination& levels);

}  // namespace ordo
