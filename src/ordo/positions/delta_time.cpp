// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/delta_time.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/log1p.h>
#include <ATen/ops/stack.h>

#include "ordo/positions/table.h"
#include "ordo/positions/time.h"

namespace ordo {

namespace {

// Time since the token before, fp64 [1|B, L].
Tensor gaps_of(const Positions& at) {
  const bool stated = at.coords.defined() && at.coords.size(-1) == 2;
  if (stated) return at.coords.select(-1, 1).to(at::kDouble);
  require_row_starts(at, DeltaTime::kKind,
                     "give two coordinates a token, its time and the gap before it, or whole rows");
  const Tensor times = real_positions(at);
  // Only the index gets here when a row goes on, and its step is 1.
  const Tensor first = at.index.slice(1, 0, 1).ne(0).to(at::kDouble).expand({times.size(0), -1});
  const Tensor between = times.slice(1, 1) - times.slice(1, 0, -1);
  return at::cat({first, between.masked_fill(document_begins(at).slice(1, 1), 0.0)}, 1);
}

}  // namespace

void fields(Fields& f, DeltaTime::Config& c) { unit_field(f, c.unit); }

DeltaTime::DeltaTime(const Config& config, const PositionFacts& facts)
    : unit_(config.unit),
      project_(register_module("project", std::make_shared<Linear>(2, facts.dim, Linear::Options{}))) {}

Tensor DeltaTime::input(const Tensor& x, const Positions& at) {
  const Tensor gaps = gaps_of(at).clamp_min(0.0) / unit_;
  const Tensor features = at::stack({at::log1p(gaps), gaps}, -1).to(accumulate_type(x.scalar_type()));
  return (x + project_->forward(features)).to(x.scalar_type());
}

}  // namespace ordo
