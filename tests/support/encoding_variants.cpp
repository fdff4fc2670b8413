// SPDX-License-Identifier: Apache-2.0
#include "support/conformance.h"

namespace ordo::test {

const std::vector<std::string>& encoding_variants() {
  static const std::vector<std::string> kVariants{
      "{kind: rope, layers: [1, 0]}",
      "{kind: rope, layout: interleaved, partial_rotary_factor: 0.5}",
      "[sinusoidal, {kind: rope, layers: [0, 1]}]",
  };
  return kVariants;
}

}  // namespace ordo::test
