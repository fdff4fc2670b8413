// SPDX-License-Identifier: Apache-2.0
// The only list of position encodings.
#include "ordo/positions/alibi.h"
#include "ordo/positions/chain.h"
#include "ordo/positions/learned.h"
#include "ordo/positions/none.h"
#include "ordo/positions/rope.h"
#include "ordo/positions/sinusoidal.h"

namespace ordo {

namespace {

// An entry of the list: the kind's own settings, and where it acts.
template <class T>
struct Placed {
  typename T::Config own;
  PlacedSettings placed;
};

template <class T>
Entry<PositionEncoding, PositionFacts> placed() {
  return {{T::kKind, T::kSummary, [] { return std::make_shared<Placed<T>>(); },
           [](Fields& f, void* config) {
             auto& c = *static_cast<Placed<T>*>(config);
             fields(f, c.own);
             fields(f, c.placed);
           }},
          [](const void* config, const PositionFacts& facts) -> std::shared_ptr<PositionEncoding> {
            const auto& c = *static_cast<const Placed<T>*>(config);
            auto made = std::make_shared<T>(c.own, facts);
            made->act_in(c.placed.layers);
            return made;
          }};
}

}  // namespace

const PositionCatalog& positions() {
  static const PositionCatalog list{"position encoding",
                                    {
                                        placed<NoPosition>(),
                                        placed<Sinusoidal>(),
                                        placed<Learned>(),
                                        placed<Rope>(),
                                        placed<Alibi>(),
                                    }};
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
