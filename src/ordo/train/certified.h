// SPDX-License-Identifier: Apache-2.0
// train.certify: a certificate that must hold before the first step.
#pragma once
#include "ordo/train/trainer.h"

namespace ordo {

// Certifies the model that is about to be trained: with its weights when it has made steps already, else with fresh
// ones that show more. Writes certificate.json into the run folder, where there is one. Throws Error (exit 1) that
// names the properties which do not hold.
void require_certificate(const RunConfig& config, const TrainerParts& parts, int64_t step);

}  // namespace ordo
