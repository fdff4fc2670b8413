// SPDX-License-Identifier: Apache-2.0
#include "ordo/core/errors.h"

namespace ordo {

void assertion_failed(const char* claim, const char* file, int line) {
  throw Error(fmt::format(
      "this is a bug in Ordo: '{}' does not hold at {}:{}; please report it with the command and the config", claim,
      file, line));
}

}  // namespace ordo
