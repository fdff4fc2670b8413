// SPDX-License-Identifier: Apache-2.0
// The only list of input layers.
#include <cmath>
#include "ordo/models/feature_map_input.h"
#include "ordo/models/frame_input.h"

#include "ordo/models/input.h"
#include "ordo/models/patch_input.h"
#include "ordo/models/token_input.h"
#include "ordo/models/value_input.h"

namespace ordo {

InputLayer::InputLayer(int64_t dim, bool scaled) : scale_(scaled ? std::sqrt(static_cast<double>(dim)) : 1.0) {}

const InputCatalog& inputs() {
  static const InputCatalog list(
      "model.input", {entry<TokenInput, InputLayer, InputFacts>(), entry<PatchInput, InputLayer, InputFacts>(),
                      entry<FeatureMapInput, InputLayer, InputFacts>(), entry<FrameInput, InputLayer, InputFacts>(),
                      entry<ValueInput, InputLayer, InputFacts>()});
  return list;
}

template <>
const Kinds& kinds_of<InputLayer>() {
  return inputs().kinds();
}

}  // namespace ordo
