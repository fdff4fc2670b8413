// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/decoder.h"

namespace ordo {

void fields(Fields& f, Decoder::Config& c) {
  fields(f, static_cast<StackModelConfig&>(c));
  f("memory", c.memory,
    "segment recurrence (Transformer-XL): tokens of the segments before whose hidden states every block sees, without "
    "gradient, where the rows of a task go on; 0: none",
    within(0, 1 << 20));
}

}  // namespace ordo
