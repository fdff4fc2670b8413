// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/betas.h"

#include "ordo/core/errors.h"

namespace ordo {

void require_two_betas(const std::vector<double>& betas, std::string_view optimizer) {
  require<ConfigError>(betas.size() == 2,
                       "train.optimizer.betas ({}): expected two numbers, as in [0.9, 0.999], found {}", optimizer,
                       betas.size());
}

}  // namespace ordo
