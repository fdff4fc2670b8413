// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/none.h"

namespace ordo {

void fields(Fields& f, NoPosition::Config& c) { (void)f, (void)c; }

}  // namespace ordo
