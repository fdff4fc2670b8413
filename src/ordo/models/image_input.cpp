// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/image_input.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/stack.h>

#include "ordo/models/signal_text.h"

namespace ordo {

void require_images(std::string_view kind, const SignalFacts& signal) {
  require<ConfigError>(signal.image(), "model.input: {} reads images, but the data of this task are {}; use {}", kind,
                       signal_kind(signal), inputs_reading(signal));
}

Tensor image_of(const ModelInput& in, const SignalFacts& facts) {
  const auto [B, C, H, W] = sizes<4>(in.signal, "images [B, C, H, W]");
  require(C == facts.channels && H == facts.height && W == facts.width,
          "images [{}, {}, {}, {}] do not fit a model of {}", B, C, H, W, signal_text(facts));
  require(in.mask.positional(), "images have neither padding nor neighbours in their rows");
  return in.signal;
}

Positions grid_positions(int64_t rows, int64_t columns, c10::Device device) {
  Positions at = consecutive(0, rows * columns, device);
  const Tensor row = at.index.div(columns, "floor"), column = at.index.remainder(columns);
  at.coords = at::stack({row, column}, 2).to(at::kFloat);
  return at;
}

}  // namespace ordo
