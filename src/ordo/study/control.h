// SPDX-License-Identifier: Apache-2.0
// Budget and control: what makes runs equally long, or equal in parameters or arithmetic.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ordo/study/arms.h"

namespace ordo {

// Of the assembled model of a config.
struct Figures {
  int64_t parameters = 0;
  double flops_per_step = 0.0;   // forward and backward of all rows at train.length
  double tokens_per_step = 0.0;  // of the longest rows
};
Figures figures_of(const RunConfig& config);

// Adds what budget and control set to each arm: its settings, its config, its `adjusted`; a note tells each change.
// Budgets in seconds and equal seconds need a measurement: they are left to whoever runs the study. What cannot be made
// equal goes to the problems.
inline constexpr std::string_view kAdjusted = "control: ";  // how those notes begin
void adjust(const StudyConfig& study, std::vector<Arm>& arms, Problems& problems, std::vector<std::string>& notes);

}  // namespace ordo
