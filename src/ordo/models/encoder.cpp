// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/encoder.h"

namespace ordo {

void fields(Fields& f, Encoder::Config& c) { fields(f, static_cast<StackModelConfig&>(c)); }

std::shared_ptr<Cache> Encoder::make_cache() const {
  throw ConfigError(
      "an encoder reads a sequence as a whole, so it cannot go on token by token; use model.kind: decoder");
}

}  // namespace ordo
