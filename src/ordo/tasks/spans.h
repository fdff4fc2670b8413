// SPDX-License-Identifier: Apache-2.0
// Which spans of a text are cut out, and what is read and written then (Raffel et al. 2020).
#pragma once
#include <cstdint>
#include <vector>

#include "ordo/core/hash.h"
#include "ordo/data/streams.h"

namespace ordo {

// How many tokens of a window are cut out, and in how many spans.
struct SpanCounts {
  int64_t cut = 0, spans = 0;
};
SpanCounts span_counts(int64_t length, double share, double mean_span);
// True where a token is cut out: first a span that stays, then one that is cut, and so on, their lengths any with the
// same chance, as in the authors' code.
std::vector<bool> cut_tokens(int64_t length, const SpanCounts& counts, KeyedSequence& draw);
// What becomes of a window: what an encoder reads, what a decoder is to write.
struct SpanRow {
  std::vector<int64_t> source, target;
};
SpanRow span_row(const std::vector<int64_t>& ids, const std::vector<bool>& cut, const std::vector<int64_t>& sentinels);

struct SpanRules {
  double share = 0.15, mean_span = 3.0;
  std::vector<int64_t> sentinels = {};  // one more than a window has spans
  int64_t start = 0;                    // what a decoder reads first
};
// Rows of windows: the source of each is its text with sentinels, its ids are `start` and the target without its last
// token. What is cut out is a function of (key, where the window begins). Borders of documents are as any other place.
Batch span_batch(const TokenSequence& tokens, const std::vector<Window>& windows, const SpanRules& rules, uint64_t key);

}  // namespace ordo
