// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/decoder.h"

namespace ordo {

void fields(Fields& f, Decoder::Config& c) { fields(f, static_cast<StackConfig&>(c)); }

}  // namespace ordo
