// SPDX-License-Identifier: Apache-2.0
// Positions that do not say that they are consecutive (padding, packing) send every bias through its tiles.
#include "support/catch.h"

#include "attention/kernel_case.h"

namespace ordo::test {

TEST_CASE("tiled: at listed positions, gradients of biases that read content are those of eager", "[unit]") {
  for (const char* encoding : {"transformer_xl", "shaw", "deberta", "cope", "fox", "path"})
    for (const int64_t groups : {2, 4}) {
      INFO(encoding << ", keys of " << groups << " heads");
      const KernelCase c{
          .encoding = encoding, .G = groups, .mask = {.causal = true}, .consecutive = false, .type = at::kDouble};
      CHECK(agrees_with_eager("tiled", c, Tolerance::fp64, 1e-9));
    }
}

}  // namespace ordo::test
