// SPDX-License-Identifier: Apache-2.0
// A text as ids, ready for a model.
#pragma once
#include <cstdint>
#include <vector>

namespace ordo {

// Ids, and for each the segment that it belongs to (BERT's token types: 0, and 1 for the second of a pair).
struct Encoded {
  std::vector<int64_t> ids, types;
};

}  // namespace ordo
