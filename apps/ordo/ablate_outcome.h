// SPDX-License-Identifier: Apache-2.0
// What a study found, in words for a terminal.
#pragma once
#include <string>

#include "ordo/study/summary.h"

namespace ordo::cli {

// The answer first, then the table of the compared metric, the claims, and what is missing.
std::string outcome_text(const StudyConfig& study, const Summary& summary);

}  // namespace ordo::cli
