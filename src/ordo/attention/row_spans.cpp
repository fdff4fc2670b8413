// SPDX-License-Identifier: Apache-2.0
#include "ordo/attention/row_spans.h"

#include <ATen/TensorOperators.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace ordo {

namespace {
struct Run {
  int64_t low = 0, high = 0;
};

// Where each document's keys stand; nothing when one appears in two places.
std::optional<std::unordered_map<int64_t, Run>> runs_of(const int64_t* segments, int64_t length) {
  std::unordered_map<int64_t, Run> runs;
  for (int64_t j = 0; j < length; ++j) {
    const auto [found, fresh] = runs.try_emplace(segments[j], Run{j, j});
    if (found->second.high != j) return std::nullopt;
    ++found->second.high;
  }
  return runs;
}

// The columns between the first and the last real key.
Run real_keys(const bool* keys, int64_t length) {
  const bool* const first = std::find(keys, keys + length, true);
  const bool* last = keys + length;
  while (last != first && !last[-1]) --last;
  return {first - keys, last - keys};
}

void narrow(RowSpans& spans, size_t place, const Run& run) {
  spans.low[place] = static_cast<int32_t>(std::max<int64_t>(spans.low[place], run.low));
  spans.high[place] =
      static_cast<int32_t>(std::max<int64_t>(spans.low[place], std::min<int64_t>(spans.high[place], run.high)));
}

void by_causality(RowSpans& spans, const Mask& mask, int64_t Lq, int64_t Lk) {
  for (int64_t i = 0; i < Lq; ++i) {
    const auto [k0, k1] = mask.visible(i, i + 1, Lk);
    for (int64_t b = 0; b < spans.batch; ++b) {
      spans.low[spans.place(b, i, Lq)] = static_cast<int32_t>(k0);
      spans.high[spans.place(b, i, Lq)] = static_cast<int32_t>(std::max(k0, k1));
    }
  }
}

bool by_segments(RowSpans& spans, const Mask& mask, int64_t Lq, int64_t Lk) {
  const Tensor q = mask.q_segment.cpu().contiguous(), k = mask.k_segment.cpu().contiguous();
  for (int64_t b = 0; b < spans.batch; ++b) {
    const int64_t* const of_q = q.const_data_ptr<int64_t>() + (q.size(0) == 1 ? 0 : b * Lq);
    const auto runs = runs_of(k.const_data_ptr<int64_t>() + (k.size(0) == 1 ? 0 : b * Lk), Lk);
    if (!runs) return false;
    for (int64_t i = 0; i < Lq; ++i) {
      const auto found = runs->find(of_q[i]);
      narrow(spans, spans.place(b, i, Lq), found == runs->end() ? Run{} : found->second);
    }
  }
  return true;
}

void by_padding(RowSpans& spans, const Mask& mask, int64_t Lq, int64_t Lk) {
  const Tensor keys = mask.keys.cpu().contiguous();
  for (int64_t b = 0; b < spans.batch; ++b) {
    const bool* const real = keys.const_data_ptr<bool>() + (keys.size(0) == 1 ? 0 : b * Lk);
    const Run run = real_keys(real, Lk);
    if (std::find(real + run.low, real + run.high, false) != real + run.high) spans.hidden_keys = keys.logical_not();
    for (int64_t i = 0; i < Lq; ++i) narrow(spans, spans.place(b, i, Lq), run);
  }
}
}  // namespace

std::pair<int64_t, int64_t> RowSpans::columns(int64_t b, int64_t q0, int64_t q1, int64_t Lq) const {
  int64_t k0 = std::numeric_limits<int64_t>::max(), k1 = 0;
  for (int64_t i = q0; i < q1; ++i) {
    const size_t at = place(b, i, Lq);
    if (low[at] >= high[at]) continue;
    k0 = std::min<int64_t>(k0, low[at]);
    k1 = std::max<int64_t>(k1, high[at]);
  }
  return k0 < k1 ? std::pair{k0, k1} : std::pair<int64_t, int64_t>{0, 0};
}

std::optional<RowSpans> row_spans(const Mask& mask, int64_t Lq, int64_t Lk) {
  if (mask.prefix > 0 && mask.window) return std::nullopt;
  RowSpans spans;
  for (const Tensor& t : {mask.keys, mask.q_segment, mask.k_segment})
    if (t.defined()) spans.batch = std::max(spans.batch, t.size(0));
  spans.low.resize(static_cast<size_t>(spans.batch * Lq));
  spans.high.resize(spans.low.size());
  by_causality(spans, mask, Lq, Lk);
  if (mask.q_segment.defined() && !by_segments(spans, mask, Lq, Lk)) return std::nullopt;
  if (mask.keys.defined()) by_padding(spans, mask, Lq, Lk);
  return spans;
}

}  // namespace ordo
