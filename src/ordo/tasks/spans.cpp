// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/spans.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>

#include "ordo/tasks/rows.h"

namespace ordo {

namespace {

// `total` as a sum of `parts` numbers, each at least 1, any such sum with the same chance.
std::vector<int64_t> random_parts(int64_t total, int64_t parts, KeyedSequence& draw) {
  std::vector<int64_t> borders = draw_distinct(draw, parts - 1, total - 1);  // behind element 0, 1, …
  std::sort(borders.begin(), borders.end());
  borders.push_back(total - 1);
  std::vector<int64_t> sizes;
  int64_t begin = -1;
  for (const int64_t border : borders) {
    sizes.push_back(border - begin);
    begin = border;
  }
  return sizes;
}

Tensor span_rows(const std::vector<std::vector<int64_t>>& rows) {
  const Tensor all = at::empty({std::ssize(rows), std::ssize(rows.front())}, at::kLong);
  int64_t* next = all.data_ptr<int64_t>();
  for (const auto& row : rows) next = std::copy(row.begin(), row.end(), next);
  return all;
}

}  // namespace

SpanCounts span_counts(int64_t length, double share, double mean_span) {
  const auto rounded = [](double x) { return static_cast<int64_t>(std::llround(x)); };
  const int64_t cut =
      std::clamp<int64_t>(rounded(static_cast<double>(length) * share), 1, std::max<int64_t>(length - 1, 1));
  const int64_t most = std::max<int64_t>(std::min(cut, length - cut), 1);
  return {.cut = cut, .spans = std::clamp<int64_t>(rounded(static_cast<double>(cut) / mean_span), 1, most)};
}

std::vector<bool> cut_tokens(int64_t length, const SpanCounts& counts, KeyedSequence& draw) {
  std::vector<bool> cut;
  if (length == counts.cut) return std::vector<bool>(static_cast<size_t>(length),
                                                     true);  // a window of one token
  const auto lost = random_parts(counts.cut, counts.spans, draw);
  const auto kept = random_parts(length - counts.cut, counts.spans, draw);
  for (size_t i = 0; i < lost.size(); ++i) {
    cut.insert(cut.end(), static_cast<size_t>(kept[i]), false);
    cut.insert(cut.end(), static_cast<size_t>(lost[i]), true);
  }
  return cut;
}

SpanRow span_row(const std::vector<int64_t>& ids, const std::vector<bool>& cut, const std::vector<int64_t>& sentinels) {
  SpanRow row;
  size_t span = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!cut[i]) {
      row.source.push_back(ids[i]);
      continue;
    }
    if (i == 0 || !cut[i - 1]) {
      row.source.push_back(sentinels.at(span));
      row.target.push_back(sentinels.at(span++));
    }
    row.target.push_back(ids[i]);
  }
  row.target.push_back(sentinels.at(span));
  return row;
}

Batch span_batch(const TokenSequence& tokens, const std::vector<Window>& windows, const SpanRules& rules,
                 uint64_t key) {
  ORDO_ASSERT(!windows.empty());
  std::vector<int64_t> ids(static_cast<size_t>(windows[0].end - windows[0].begin)), documents(ids.size());
  const SpanCounts counts = span_counts(std::ssize(ids), rules.share, rules.mean_span);
  std::vector<std::vector<int64_t>> sources, read, written;
  Batch batch;
  for (const Window& window : windows) {
    tokens.read(window.begin, ids, documents);
    KeyedSequence draw(mix(key, static_cast<uint64_t>(window.begin)));
    SpanRow row = span_row(ids, cut_tokens(std::ssize(ids), counts, draw), rules.sentinels);
    sources.push_back(std::move(row.source));
    read.emplace_back(row.target).insert(read.back().begin(), rules.start);
    read.back().pop_back();
    written.push_back(std::move(row.target));
    batch.examples.push_back(tokens.place(window.begin));
  }
  batch.ids = span_rows(read);
  batch.targets = span_rows(written);
  batch.at = consecutive(0, batch.ids.size(1), at::kCPU);
  batch.source.ids = span_rows(sources);
  batch.source.at = consecutive(0, batch.source.ids.size(1), at::kCPU);
  batch.weight = static_cast<double>(batch.targets.numel());
  return batch;
}

}  // namespace ordo
