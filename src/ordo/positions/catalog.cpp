// SPDX-License-Identifier: Apache-2.0
// The only list of position encodings.
#include "ordo/positions/alibi.h"
#include "ordo/positions/calendar.h"
#include "ordo/positions/cape.h"
#include "ordo/positions/chain.h"
#include "ordo/positions/cope.h"
#include "ordo/positions/deberta.h"
#include "ordo/positions/delta_time.h"
#include "ordo/positions/expression.h"
#include "ordo/positions/fire.h"
#include "ordo/positions/fox.h"
#include "ordo/positions/kerple.h"
#include "ordo/positions/learned.h"
#include "ordo/positions/liere.h"
#include "ordo/positions/mlp_bias.h"
#include "ordo/positions/mrope.h"
#include "ordo/positions/none.h"
#include "ordo/positions/path.h"
#include "ordo/positions/randomized.h"
#include "ordo/positions/rope.h"
#include "ordo/positions/rope_2d.h"
#include "ordo/positions/sandwich.h"
#include "ordo/positions/shape.h"
#include "ordo/positions/shaw.h"
#include "ordo/positions/sinusoidal.h"
#include "ordo/positions/sinusoidal_learned.h"
#include "ordo/positions/t5_bias.h"
#include "ordo/positions/time2vec.h"
#include "ordo/positions/time_age.h"
#include "ordo/positions/time_decay.h"
#include "ordo/positions/time_rope.h"
#include "ordo/positions/time_sinusoidal.h"
#include "ordo/positions/transformer_xl.h"
#include "ordo/positions/window_bias.h"
#include "ordo/positions/xpos.h"

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

bool share_a_layer(const PositionEncoding& a, const PositionEncoding& b, int64_t layers) {
  for (int64_t i = 0; i < layers; ++i)
    if (a.acts_in(i) && b.acts_in(i)) return true;
  return false;
}

// Why two entries cannot stand in one list, in words; nothing when they can.
std::optional<std::string> cannot_meet(std::string_view kind, const PositionTraits& one, std::string_view other_kind,
                                       const PositionTraits& other) {
  const Places& acts = other.places;
  if (one.gives_axes > 0 && acts.anywhere() && other.takes_axes >= 0 && other.takes_axes != one.gives_axes)
    return fmt::format(
        "{} moves tokens to {} real-valued coordinate{} each, which {} does not take; leave one of them out", kind,
        one.gives_axes, one.gives_axes == 1 ? "" : "s", other_kind);
  if (one.keys != KeyCache::raw) return std::nullopt;
  if (acts.query_key && !acts.scores)
    return fmt::format(
        "{} turns queries and keys by the length of their row, and {} turns them too; give each its own "
        "layers, or leave one of them out",
        kind, other_kind);
  if (other.reads_content)
    return fmt::format(
        "{} turns queries and keys by the length of their row, and {} reads them beyond their product, so "
        "that decoding would differ from one pass; give each its own layers, or leave one of them out",
        kind, other_kind);
  return std::nullopt;
}

// Throws, at the later entry, where one part cannot work with what another one makes.
void require_company(const std::vector<Choice<PositionEncoding>>& list,
                     const std::vector<std::shared_ptr<PositionEncoding>>& parts, int64_t layers) {
  for (size_t a = 0; a < parts.size(); ++a)
    for (size_t b = 0; b < parts.size(); ++b) {
      if (a == b || !share_a_layer(*parts[a], *parts[b], layers)) continue;
      if (const auto why = cannot_meet(list[a].kind, parts[a]->traits(), list[b].kind, parts[b]->traits()))
        refuse_at(list[std::max(a, b)].source, *why);
    }
}

}  // namespace

const PositionCatalog& positions() {
  // clang-format off
  static const PositionCatalog list{"position encoding",
                                    {
                                        placed<NoPosition>(),
                                        placed<Sinusoidal>(),
                                        placed<Learned>(),
                                        placed<SinusoidalLearned>(),
                                        placed<Randomized>(),
                                        placed<ShiftedPositions>(),
                                        placed<Cape>(),
                                        placed<Rope>(),
                                        placed<Rope2d>(),
                                        placed<Mrope>(),
                                        placed<Liere>(),
                                        placed<Xpos>(),
                                        placed<TransformerXl>(),
                                        placed<Shaw>(),
                                        placed<Deberta>(),
                                        placed<T5Bias>(),
                                        placed<Alibi>(),
                                        placed<Kerple>(),
                                        placed<Sandwich>(),
                                        placed<Fire>(),
                                        placed<MlpBias>(),
                                        placed<WindowBias>(),
                                        placed<Cope>(),
                                        placed<Fox>(),
                                        placed<Path>(),
                                        placed<TimeSinusoidal>(),
                                        placed<TimeRope>(),
                                        placed<Time2Vec>(),
                                        placed<TimeDecay>(),
                                        placed<TimeAge>(),
                                        placed<Calendar>(),
                                        placed<DeltaTime>(),
                                        placed<Expression>(),
                                    }};
  // clang-format on
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
  require_company(list, parts, facts.layers);
  return std::make_shared<Chain>(std::move(parts));
}

}  // namespace ordo
