// SPDX-License-Identifier: Apache-2.0
// The charts of a report, a place (a setting of the other factors) and metric each.
#pragma once
#include <vector>

#include "ordo/report/arms.h"
#include "ordo/views/svg.h"

namespace ordo::report {

// Every value as a dot, with mean and interval: the compared metric at one length.
std::vector<Panel> value_charts(const StudyReport& study, const Arms& arms, int64_t length);
std::vector<Panel> difference_charts(const StudyReport& study, const Arms& arms);
// Over the steps: mean and t-interval over seeds, of the compared metric in validation and of the training loss.
std::vector<Panel> learning_charts(const StudyReport& study, const Arms& arms);
std::vector<Panel> length_charts(const StudyReport& study, const Arms& arms);
std::vector<Panel> position_loss_charts(const StudyReport& study, const Arms& arms);  // at the longest length
std::vector<Panel> cost_charts(const StudyReport& study, const Arms& arms);

}  // namespace ordo::report
