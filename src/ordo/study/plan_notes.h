// SPDX-License-Identifier: Apache-2.0
// What a reader must know of how a study's runs were made.
#pragma once
#include <string>
#include <vector>

#include "ordo/study/arms.h"

namespace ordo {

std::vector<std::string> notes_of(const StudyConfig& study, const std::vector<Arm>& arms);

}  // namespace ordo
