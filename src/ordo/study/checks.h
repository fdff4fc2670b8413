// SPDX-License-Identifier: Apache-2.0
// What the parts of a study must agree on.
#pragma once
#include <vector>

#include "ordo/study/arms.h"

namespace ordo {

// Keys that two parts of a study set, selections that match nothing, seeds. Throws at once when there are more
// combinations than anyone can run.
void check_settings(const StudyConfig& study, Problems& problems);
// Settles what `compare` and `claims` leave open, and checks them against factors and scalings.
void settle_questions(StudyConfig& study, Problems& problems);
// Lengths and splits that are asked about but not evaluated.
void check_evaluations(const StudyConfig& study, const std::vector<Arm>& arms, Problems& problems);

}  // namespace ordo
