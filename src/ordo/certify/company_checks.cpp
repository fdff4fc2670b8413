// SPDX-License-Identifier: Apache-2.0
// The company a token is in: cache, padding, other rows, other documents. It may change nothing.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <fmt/format.h>

#include <algorithm>

#include "ordo/certify/checks.h"

namespace ordo::certify_checks {

namespace {

std::vector<int64_t> one_by_one(int64_t first, int64_t n) {
  std::vector<int64_t> ends;
  for (int64_t end = first; end <= n; ++end) ends.push_back(end);
  return ends;
}

constexpr int64_t kTooShort = 4;

// "" or why lengths at which the encoding stays itself are too short to look at.
std::string too_short(Lab& lab) {
  if (lab.length() >= kTooShort) return {};
  return lab.changes_at() > 0 ? "the encoding's turns depend on the total length from the start"
                              : fmt::format("rows of {} tokens have no parts to compare", lab.length());
}

}  // namespace

Property cache_equals_full(Lab& lab) {
  if (!lab.model().causal())
    return not_applicable("a two-sided stack reads a row as a whole: it has no cache to go on from");
  if (const auto why = too_short(lab); !why.empty()) return not_applicable(why);
  Model& model = lab.model();
  const int64_t n = lab.length();
  const LabRows rows = lab.rows(2, n);
  const Tensor whole = lab.hidden(rows);
  double steps = 0.0;
  for (const auto& ends :
       {one_by_one(1, n), std::vector<int64_t>{n / 2, n / 2 + 1, n}, std::vector<int64_t>{1, n - 1, n}})
    steps = std::max(steps, difference(lab.in_steps(model, rows, ends), whole));
  const LabPaddedRows padded = padded_rows(lab, n);
  const Tensor alone =
      lab.hidden({.ids = padded.rows.ids.slice(0, 0, 1).slice(1, padded.pads), .at = consecutive(0, n, lab.device())});
  const Tensor stepped = lab.in_steps(model, padded.rows, one_by_one(padded.pads + 2, n + padded.pads));
  const double left = difference(stepped[0].slice(0, padded.pads), alone[0]);
  return excused(
      at_most(std::max(steps, left), kReordered,
              fmt::format("{} tokens in one pass, one by one, in chunks, and left-padded", n),
              fmt::format("through the cache {} tokens give something else: in steps {:.1g}, left-padded {:.1g}", n,
                          steps, left)),
      lab.moves_by_row());
}

Property padding_invariance(Lab& lab) {
  if (const auto why = too_short(lab); !why.empty()) return not_applicable(why);
  const int64_t n = lab.length();
  const LabPaddedRows padded = padded_rows(lab, n);
  const Tensor alone =
      lab.hidden({.ids = padded.rows.ids.slice(0, 1, 2).slice(1, 0, n), .at = consecutive(0, n, lab.device())})[0];
  const Tensor together = lab.hidden(padded.rows);
  const double left = difference(together[0].slice(0, padded.pads), alone),
               right = difference(together[1].slice(0, 0, n), alone);
  return excused(
      at_most(
          std::max(left, right), kReordered,
          fmt::format("{} pads on the left ({:.1g}) and on the right ({:.1g}) against none", padded.pads, left, right),
          fmt::format("{} pads change real tokens: on the left {:.1g}, on the right {:.1g}", padded.pads, left, right)),
      lab.moves_by_row());
}

Property batch_invariance(Lab& lab) {
  const LabRows three = lab.rows(3, lab.length(), 21);
  const Tensor together = lab.hidden(three);
  double worst = 0.0;
  for (int64_t i = 0; i < 3; ++i) {
    LabRows one = three;
    one.ids = three.ids.slice(0, i, i + 1);
    worst = std::max(worst, difference(together.slice(0, i, i + 1), lab.hidden(one)));
  }
  return excused(at_most(worst, kReordered, "each of three rows alone and among the others",
                         "a row changes with the rows beside it"),
                 lab.moves_by_row());
}

Property packing_equals_separate(Lab& lab) {
  if (const auto why = too_short(lab); !why.empty()) return not_applicable(why);
  const int64_t n = lab.length(), first = std::max<int64_t>(n / 3, 1);
  const std::vector<int64_t> lengths{first, 1, n - first - 1};
  std::vector<Tensor> segments;
  const at::TensorOptions whole_numbers = at::TensorOptions(at::kLong).device(lab.device());
  for (size_t i = 0; i < lengths.size(); ++i)
    segments.push_back(at::ones({1, lengths[i]}, whole_numbers) * static_cast<int64_t>(i + 1));
  LabRows packed{.ids = lab.ids(1, n, 31)};
  packed.mask.q_segment = packed.mask.k_segment = at::cat(segments, 1);
  packed.at = from_segments(packed.mask.q_segment);
  const Tensor together = lab.hidden(packed);
  double worst = 0.0;
  int64_t begin = 0;
  for (const int64_t length : lengths) {
    const LabRows alone{.ids = packed.ids.slice(1, begin, begin + length), .at = consecutive(0, length, lab.device())};
    worst = std::max(worst, difference(together.slice(1, begin, begin + length), lab.hidden(alone)));
    begin += length;
  }
  return excused(
      at_most(worst, kReordered, fmt::format("three documents in one row of {}, one of them a single token", n),
              "documents that share a row are not as they are alone: they see each other, or count on"),
      lab.moves_by_row());
}

}  // namespace ordo::certify_checks
