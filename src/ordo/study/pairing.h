// SPDX-License-Identifier: Apache-2.0
// The proof that the arms of a seed began alike: the same first weights where they share them, the same batches.
#pragma once
#include <vector>

#include "ordo/study/run_reader.h"
#include "ordo/study/summary.h"

namespace ordo {

// Fills first_weights (the checksum of what all runs of a group have in the same shape) and unpaired_parameters (the
// size of the rest) of each run. A group: the runs of a seed, an instance and a combination of the other factors than
// the compared one. `weights` belongs to `runs`, one each; empty where a run does not tell.
void pair_first_weights(const Plan& plan, const std::vector<FirstWeights>& weights, std::vector<RunFacts>& runs);

PairingProof pairing_proof(const Plan& plan, const std::vector<RunFacts>& runs);

}  // namespace ordo
