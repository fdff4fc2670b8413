// SPDX-License-Identifier: Apache-2.0
// The only list of position encodings.
#include "ordo/positions/alibi.h"
#include "ordo/positions/chain.h"
#include "ordo/positions/learned.h"
#include "ordo/positions/none.h"
#include "ordo/positions/rope.h"
#include "ordo/positions/sinusoidal.h"

namespace ordo {

const PositionCatalog& positions() {
  static const PositionCatalog list("position encoding", {
                                                             entry<NoPosition, PositionEncoding, PositionFacts>(),
                                                             entry<Sinusoidal, PositionEncoding, PositionFacts>(),
                                                             entry<Learned, PositionEncoding, PositionFacts>(),
                                                             entry<Rope, PositionEncoding, PositionFacts>(),
                                                             entry<Alibi, PositionEncoding, PositionFacts>(),
                                                         });
  return list;
}

template <>
const Kinds& kinds_of<PositionEncoding>() {
  return positions().kinds();
}

std::shared_ptr<PositionEncoding> make_position(const std::vector<Choice<PositionEncoding>>& list,
                                                const PositionFacts& facts) {
  if (list.empty()) return std::make_shared<NoPosition>();
  if (list.size() == 1) return positions().build(list[0], facts);
  std::vector<std::shared_ptr<PositionEncoding>> parts;
  for (const auto& choice : list) parts.push_back(positions().build(choice, facts));
  return std::make_shared<Chain>(std::move(parts));
}

}  // namespace ordo
