// SPDX-License-Identifier: Apache-2.0
// The only list of models.
#include "ordo/models/decoder.h"

namespace ordo {

const ModelCatalog& models() {
  static const ModelCatalog list("model", {entry<Decoder, Model, ModelFacts>()});
  return list;
}

template <>
const Kinds& kinds_of<Model>() {
  return models().kinds();
}

}  // namespace ordo
