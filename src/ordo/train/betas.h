// SPDX-License-Identifier: Apache-2.0
// A check shared by the optimisers that take a pair of decay rates.
#pragma once
#include <string_view>
#include <vector>

namespace ordo {

// Throws ConfigError unless there are two, each in [0, 1).
void require_two_betas(const std::vector<double>& betas, std::string_view optimizer);

}  // namespace ordo
