// SPDX-License-Identifier: Apache-2.0
#include "ordo/generate/padding.h"

#include <ATen/ops/zeros.h>

#include <algorithm>

#include "ordo/core/errors.h"

namespace ordo {

void require_ids(const std::vector<int64_t>& ids, int64_t vocab_size, std::string_view what, size_t number) {
  for (const int64_t id : ids)
    require<ConfigError>(id >= 0 && id < vocab_size, "{} {} has token id {}, the model's vocabulary has {}", what,
                         number, id, vocab_size);
}

void require_tokens(const TokenRows& rows, int64_t vocab_size, std::string_view what) {
  for (size_t row = 0; row < rows.size(); ++row) {
    require<ConfigError>(!rows[row].empty(), "{} {} is empty: a model needs at least one token", what, row + 1);
    require_ids(rows[row], vocab_size, what, row + 1);
  }
}

Positions PaddedRows::at() const {
  return keys.defined() ? from_padding(keys) : consecutive(0, ids.size(1), ids.device());
}

PaddedRows pad_rows(const TokenRows& rows, Side side, c10::Device device) {
  size_t shortest = rows.empty() ? 0 : rows.front().size(), longest = shortest;
  for (const auto& row : rows) {
    shortest = std::min(shortest, row.size());
    longest = std::max(longest, row.size());
  }
  const auto B = static_cast<int64_t>(rows.size()), L = static_cast<int64_t>(longest);
  const Tensor ids = at::zeros({B, L}, at::kLong), keys = at::zeros({B, L}, at::kBool);
  for (size_t row = 0; row < rows.size(); ++row) {
    const auto begin = row * longest + (side == Side::left ? longest - rows[row].size() : 0);
    std::copy(rows[row].begin(), rows[row].end(), ids.data_ptr<int64_t>() + begin);
    std::fill_n(keys.data_ptr<bool>() + begin, rows[row].size(), true);
  }
  return {.ids = ids.to(device), .keys = shortest == longest ? Tensor() : keys.to(device)};
}

EncoderInput encoder_input(const TokenRows& sources, c10::Device device) {
  if (sources.empty()) return {};
  const PaddedRows rows = pad_rows(sources, Side::right, device);
  return {.ids = rows.ids, .at = rows.at(), .keys = rows.keys};
}

}  // namespace ordo
