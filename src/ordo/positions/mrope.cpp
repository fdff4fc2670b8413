// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/mrope.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>

#include <numeric>

#include "ordo/positions/rotary_checks.h"
#include "ordo/positions/rotate.h"

namespace ordo {

namespace {

constexpr int64_t kMropeAxes = 3;  // time, height, width

// How many pairs each axis turns.
std::vector<int64_t> sections(const Mrope::Config& config, const PositionFacts& facts) {
  const int64_t pairs = facts.head_dim / 2, side = 3 * pairs / 8;
  if (config.mrope_section.empty()) return {pairs - 2 * side, side, side};
  const auto& given = config.mrope_section;
  require<ConfigError>(
      static_cast<int64_t>(given.size()) == kMropeAxes,
      "mrope: mrope_section has {} numbers; 3 are needed, of time, height and width; give them, or leave it out",
      given.size());
  const int64_t sum = std::accumulate(given.begin(), given.end(), int64_t{0});
  require<ConfigError>(sum == pairs,
                       "mrope: the sections of mrope_section add up to {}, but heads of {} channels have {} pairs; "
                       "make them add up to {}, or leave mrope_section out",
                       sum, facts.head_dim, pairs, pairs);
  return given;
}

}  // namespace

void fields(Fields& f, Mrope::Config& c) {
  f("theta", c.theta, "base of the wavelengths", above(1.0));
  f("mrope_section", c.mrope_section,
    "how many pairs of a head turn by time, by height and by width, from the fastest; absent: 2 : 3 : 3", at_least(0));
}

Mrope::Mrope(const Config& config, const PositionFacts& facts)
    : frequencies_(rotary_frequencies(config.theta, facts.head_dim)),
      table_([all = frequencies_](const Tensor& positions) {
        return turns(positions.unsqueeze(-1) * all.on(positions.device()));
      }) {
  refuse_across(kKind, facts);
  require_groups(kKind, facts, 2);
  axis_ = FixedTensor(at::arange(kMropeAxes).repeat_interleave(at::tensor(sections(config, facts), at::kLong)));
}

Tensor Mrope::turned(const Tensor& x, const Positions& at) {
  const at::ScalarType type = accumulate_type(x.scalar_type());
  if (!at.coords.defined()) return rotate(x, table_.at(at, type), RotaryLayout::half);
  require<ConfigError>(at.coords.size(-1) == kMropeAxes,
                       "mrope: takes three coordinates a token (time, height, width), found {}", at.coords.size(-1));
  const Tensor coords = at.coords.to(at::kDouble);
  const Tensor angles = coords.index_select(-1, axis_.on(coords.device())) * frequencies_.on(coords.device());
  return rotate(x, turns(angles).to(type), RotaryLayout::half);
}

Tensor Mrope::query(const Tensor& q, const Positions& at, int64_t layer) {
  (void)layer;
  return turned(q, at);
}

Tensor Mrope::key(const Tensor& k, const Positions& at, int64_t layer) {
  (void)layer;
  return turned(k, at);
}

Tensor Mrope::frequencies(int64_t length) const {
  (void)length;
  return frequencies_.value();
}

}  // namespace ordo
