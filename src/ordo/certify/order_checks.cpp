// SPDX-License-Identifier: Apache-2.0
// Order and distance: what the encoding tells, and what nobody may see.
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <algorithm>

#include "ordo/certify/checks.h"

namespace ordo::certify_checks {

namespace {

// A fixed order of 0 … n-1 that no reversal and no shift is.
Tensor shuffled(int64_t n, at::Device device) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) order[static_cast<size_t>(i)] = i;
  uint64_t state = 5;
  for (int64_t i = n - 1; i > 0; --i) {
    state = mix(state, static_cast<uint64_t>(i));
    std::swap(order[static_cast<size_t>(i)], order[state % static_cast<uint64_t>(i + 1)]);
  }
  return at::tensor(order, at::kLong).to(device);
}

}  // namespace

Property permutation_equivariance(Lab& lab) {
  const LabRows plain = lab.rows(1, lab.length());
  const Tensor order = shuffled(lab.length(), lab.device());
  LabRows moved = plain;
  moved.ids = plain.ids.index_select(1, order);
  const double measured = difference(lab.hidden(moved), lab.hidden(plain).index_select(1, order));
  if (lab.model().causal())
    return not_applicable(
        "the causal mask breaks it by itself: a token sees only what stands before it; asked of two-sided stacks",
        measured);
  if (lab.windowed()) return not_applicable("the window of attention breaks it by itself", measured);
  if (!lab.encodes())
    return at_most(measured, kReordered, "without an encoding P f(X) = f(P X): order is not seen at all",
                   "without an encoding P f(X) must be f(P X), but is not: something else sees order");
  Property broken =
      more_than(measured, kTold, "P f(X) is not f(P X): the encoding breaks the symmetry, as it must to tell order");
  broken.expected = false;
  if (broken.verdict == Verdict::fail)
    broken.why = "P f(X) = f(P X): a shuffled row gives the shuffled output, so the encoding has no effect";
  return broken;
}

Property order_sensitivity(Lab& lab) {
  if (!lab.encodes()) return not_applicable("there is no encoding whose effect could be seen");
  const LabRows rows = lab.rows(2, lab.length());
  const auto logits = [&](Model& model) {
    const at::NoGradGuard no_grad;
    return model.head().logits(lab.hidden(model, rows));
  };
  const double measured = difference(logits(lab.model()), logits(lab.model({.bare = true})));
  return more_than(measured, kTold,
                   measured > kTold ? "the logits differ from those without the encoding, all other weights equal"
                                    : "the logits are those of the same weights without the encoding: it does nothing");
}

Property shift_invariance(Lab& lab) {
  constexpr int64_t kShift = 11;
  const int64_t end = lab.changes_at() > 0 ? lab.changes_at() - 1 : lab.length() + kShift;
  PositionEncoding& position = lab.model().position();
  int64_t n = std::min(lab.length(), end - kShift);
  if (position.refuses_length(lab.length() + kShift)) n = std::min(n, lab.model().max_length() - kShift);
  const int64_t shift = n >= 4 ? kShift : 1;
  if (n < 4) n = std::min(lab.length(), end) - 1;
  if (n < 2) return not_applicable("the model is too short for a shift");
  const LabRows here = lab.rows(1, n);
  LabRows there = here, gathered = here;
  there.at = consecutive(shift, n, lab.device());
  gathered.at = there.at;
  gathered.at.start = std::nullopt;
  const Tensor expected = lab.hidden(here);
  const double measured = std::max(difference(lab.hidden(there), expected), difference(lab.hidden(gathered), expected));
  if (!lab.traits().relative)
    return not_applicable("the encoding does not claim it: positions count, not distances alone", measured);
  return at_most(
      measured, kReordered, fmt::format("moved by {} positions, as a slice of tables and gathered one by one", shift),
      fmt::format("the encoding claims that distances alone count, but {} positions more change the outputs", shift));
}

Property causality(Lab& lab) {
  if (!lab.model().causal()) return not_applicable("a two-sided stack sees later tokens by design");
  const int64_t n = lab.length(), from = n / 2;
  if (n < 2) return not_applicable("rows of one token have nothing later");
  const LabRows rows = lab.rows(2, n);
  LabRows changed = rows;
  changed.ids = at::cat({rows.ids.slice(1, 0, from), lab.ids(2, n - from, 77)}, 1);
  const Tensor before = lab.hidden(rows), after = lab.hidden(changed);
  const double measured = difference(after.slice(1, 0, from), before.slice(1, 0, from));
  return at_most(measured, kSame, fmt::format("tokens from {} on were changed: nothing earlier moves", from),
                 fmt::format("tokens from {} on were changed, and earlier ones moved: something looks ahead", from));
}

}  // namespace ordo::certify_checks
