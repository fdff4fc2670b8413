// SPDX-License-Identifier: Apache-2.0
// The answer of a study in one sentence, no word of it beyond what was measured.
#pragma once
#include <string>

#include "ordo/study/outcomes.h"
#include "ordo/study/summary.h"

namespace ordo {

// First what is missing, then who is better, separated or not told apart at the compared length, with the range of the
// values, then what became of the claims. "At chance" is said of a level that gets no more than one of each group of
// twins right in every run.
std::string headline_of(const Plan& plan, const OutcomeTable& outcomes, const Summary& summary);

}  // namespace ordo
