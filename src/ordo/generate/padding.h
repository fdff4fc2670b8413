// SPDX-License-Identifier: Apache-2.0
// Rows of unequal length as one rectangle.
#pragma once
#include <c10/core/Device.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "ordo/ops/encoder_input.h"

namespace ordo {

using TokenRows = std::vector<std::vector<int64_t>>;

// Throws ConfigError for ids outside [0, vocab_size); `what` and `number`, from 1, name the row: "prompt" 3.
void require_ids(const std::vector<int64_t>& ids, int64_t vocab_size, std::string_view what, size_t number);
// Throws ConfigError for rows without tokens too.
void require_tokens(const TokenRows& rows, int64_t vocab_size, std::string_view what);

enum class Side { left, right };

// ids [B, L], 0 where a row is shorter, and keys [B, L], false there. Without padding keys are undefined: kernels and
// tables may then take their short ways.
struct PaddedRows {
  Tensor ids, keys;
  Positions at() const;  // each row's own, from 0
};
PaddedRows pad_rows(const TokenRows& rows, Side side, c10::Device device);

// What an encoder reads, padded on the right; none for no rows.
EncoderInput encoder_input(const TokenRows& sources, c10::Device device);

}  // namespace ordo
