// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/time.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cummax.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/where.h>

#include <algorithm>

#include "ordo/positions/table.h"

namespace ordo {

namespace {
Tensor time_columns(const Positions& at) { return at::arange(at.length(), at.index.options()).expand_as(at.index); }
}  // namespace

Tensor document_begins(const Positions& at) {
  Tensor begins = at::ones_like(at.index, at::kBool);
  if (at.length() > 1) begins.slice(1, 1).copy_(at.index.slice(1, 1) <= at.index.slice(1, 0, -1));
  return begins;
}

Tensor document_starts(const Positions& at) {
  return std::get<0>(at::cummax(at::where(document_begins(at), time_columns(at), 0), 1));
}

Tensor document_ends(const Positions& at) {
  // Seen from the end, the nearest start behind each token.
  const Tensor last = at::full({at.index.size(0), 1}, at.length(), at.index.options());
  const Tensor starts = at::where(document_begins(at), time_columns(at), at.length());
  const Tensor behind = at::cat({starts.slice(1, 1), last}, 1).flip({1});
  return (-std::get<0>(at::cummax(-behind, 1))).flip({1}) - 1;
}

void unit_field(Fields& f, double& unit) {
  f("unit", unit, "how much time is one step, in the unit of the stamps (60: minutes, from seconds)", above(0.0));
}

void fields(Fields& f, ClockSettings& c) {
  unit_field(f, c.unit);
  f("origin", c.origin, "the stamp that counts as zero; absent: the first one of each row");
}

void require_row_starts(const Positions& at, std::string_view kind, std::string_view advice) {
  if (!at.coords.defined() || at.length() == 0) return;
  const bool known = at.start ? *at.start == 0 : (at.index.select(1, 0) == 0).all().item<bool>();
  require<ConfigError>(known, "{}: these rows go on from an earlier call, whose time stamps are not kept; {}", kind,
                       advice);
}

Tensor clock_times(const Positions& at, const ClockSettings& clock, std::string_view kind) {
  const Tensor times = real_positions(at);
  if (clock.origin) return (times - *clock.origin) / clock.unit;
  if (!at.coords.defined()) return times / clock.unit;
  require_row_starts(at, kind, "set origin, so that all calls count from the same moment");
  const Tensor starts = document_starts(at).expand_as(times);
  return (times - times.gather(1, starts)) / clock.unit;
}

void fields(Fields& f, ScaleSettings& c) {
  f("step", c.step, "the shortest time scale, in units", within(1e-12, 1e12));
  f("span", c.span, "the longest one; 0: max_length steps", at_least(0.0));
}

double resolved_span(const ScaleSettings& scales, int64_t max_length, std::string_view kind) {
  const double span =
      scales.span > 0.0 ? scales.span : scales.step * static_cast<double>(std::max<int64_t>(max_length, 1));
  require<ConfigError>(span >= scales.step, "{}: span ({}) is below step ({}); the longest scale comes last", kind,
                       span, scales.step);
  return span;
}

}  // namespace ordo
