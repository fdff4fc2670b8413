// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/text_rows.h"

#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include <algorithm>

#include "ordo/core/errors.h"

namespace ordo {

namespace {

// Where the ids of a text begin among those of its row, from `from` on.
int64_t begin_of(const std::vector<int64_t>& text, const std::vector<int64_t>& row, int64_t from) {
  const auto found = std::search(row.begin() + from, row.end(), text.begin(), text.end());
  require<DataError>(found != row.end(),
                     "the tokenizer encodes a text otherwise where it puts its marks around it: what of a row is text "
                     "cannot be told");
  return found - row.begin();
}

template <class Values>
void keep_parts(Values& values, const TextRow& row, int64_t first, int64_t second) {
  const auto begin = values.begin();
  const int64_t second_begin = row.front + row.first + row.middle;
  values.erase(begin + second_begin + second, begin + second_begin + row.second);
  values.erase(begin + row.front + first, begin + row.front + row.first);
}

}  // namespace

TextRows::TextRows(const Tokenizer& tokenizer, bool pairs)
    : tokenizer_(tokenizer), joined_(pairs && tokenizer.encode_special("", "").ids.empty()) {}

int64_t TextRows::vocab_size() const { return tokenizer_.vocab_size() + (joined_ ? 1 : 0); }

TextRow TextRows::row(std::string_view text, std::optional<std::string_view> pair) const {
  const auto first = tokenizer_.encode(text);
  require<DataError>(!first.empty(), "the text gives no token");
  const auto second = pair ? tokenizer_.encode(*pair) : std::vector<int64_t>();
  require<DataError>(!pair || !second.empty(), "the second text of the pair gives no token");
  Encoded whole = tokenizer_.encode_special(text, pair);
  if (joined_) {
    whole.ids.insert(whole.ids.begin() + std::ssize(first), tokenizer_.vocab_size());
    whole.types.insert(whole.types.begin() + std::ssize(first), 0);
  }
  TextRow row{.ids = std::move(whole.ids), .types = std::move(whole.types), .first = std::ssize(first)};
  row.front = begin_of(first, row.ids, 0);
  if (!pair) return row;
  const int64_t behind = row.front + row.first;
  row.middle = begin_of(second, row.ids, behind) - behind;
  row.second = std::ssize(second);
  return row;
}

void refuse_text(const std::string& where, const Tokenizer& tokenizer, const DataError& why) {
  const auto* const unknown = dynamic_cast<const UnknownCharacter*>(&why);
  if (unknown == nullptr) throw DataError(fmt::format("{}: {}", where, why.what()));
  throw DataError(
      fmt::format("{}: unknown character {}: the {} tokenizer has {} characters, those of the training split; take the "
                  "byte tokenizer, or leave such lines out with task.data.on_bad_line: skip",
                  where, unknown->what_is_there, tokenizer.kind(), tokenizer.vocab_size()));
}

TextRow cut(const TextRow& row, int64_t length) {
  const int64_t texts = length - row.marks();
  ORDO_ASSERT(texts >= 1 + (row.second > 0 ? 1 : 0));
  if (row.size() <= length) return row;
  int64_t first = row.first, second = row.second;
  if (const int64_t half = texts / 2; std::min(first, second) <= half)
    (first <= second ? second : first) = texts - std::min(first, second);
  else
    first = texts - half, second = half;
  TextRow kept = row;
  keep_parts(kept.ids, row, first, second);
  keep_parts(kept.types, row, first, second);
  kept.first = first;
  kept.second = second;
  return kept;
}

Batch side_by_side(std::span<const TextRow> rows, bool types) {
  int64_t longest = 0, shortest = rows.front().size();
  for (const auto& row : rows) {
    longest = std::max(longest, row.size());
    shortest = std::min(shortest, row.size());
  }
  Batch batch{.ids = at::zeros({std::ssize(rows), longest}, at::kLong), .at = consecutive(0, longest, at::kCPU)};
  if (types) batch.types = at::zeros_like(batch.ids);
  if (shortest < longest) batch.mask.keys = at::zeros({std::ssize(rows), longest}, at::kBool);
  for (size_t b = 0; b < rows.size(); ++b) {
    const auto place = static_cast<int64_t>(b) * longest;
    std::copy(rows[b].ids.begin(), rows[b].ids.end(), batch.ids.data_ptr<int64_t>() + place);
    if (types) std::copy(rows[b].types.begin(), rows[b].types.end(), batch.types.data_ptr<int64_t>() + place);
    if (batch.mask.keys.defined()) std::fill_n(batch.mask.keys.data_ptr<bool>() + place, rows[b].size(), true);
  }
  return batch;
}

}  // namespace ordo
