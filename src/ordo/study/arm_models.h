// SPDX-License-Identifier: Apache-2.0
// The models of a study's arms: whether each can be built, and whether any two are one and the same.
#pragma once
#include <vector>

#include "ordo/study/arms.h"

namespace ordo {

// Tells the problems which arms have no model, and which give identical ones: those whose resolved configs agree in all
// that decides more than the record of a run (study/deciding.h); or whose configs differ under `model` alone, while the
// models have the same first weights and, with weights drawn at random, the same gradients in training and the same
// outputs at every evaluated length, to the bit.
void check_models(const StudyConfig& study, const std::vector<Arm>& arms, Problems& problems);

}  // namespace ordo
