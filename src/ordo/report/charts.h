// SPDX-License-Identifier: Apache-2.0
// The charts of a report, a place (a setting of the other factors) and metric each.
#pragma once
#include <vector>

#include "ordo/report/arms.h"
#include "ordo/views/svg.h"

namespace ordo::report {

inline constexpr size_t kFewestForBand = 3;  // of two values the interval is 13 times as wide as they are apart

// Every value as a dot, with mean and interval: the compared metric at one length.
std::vector<Panel> value_charts(const StudyReport& study, const Arms& arms, int64_t length);
std::vector<Panel> difference_charts(const StudyReport& study, const Arms& arms);
// Over the steps: mean over seeds, from kFewestForBand of them on with its t-interval, of the compared metric in
// validation and of the training loss.
std::vector<Panel> learning_charts(const StudyReport& study, const Arms& arms);
std::vector<Panel> length_charts(const StudyReport& study, const Arms& arms);
std::vector<Panel> position_loss_charts(const StudyReport& study, const Arms& arms);  // at the longest length
std::vector<Panel> cost_charts(const StudyReport& study, const Arms& arms);

}  // namespace ordo::report
