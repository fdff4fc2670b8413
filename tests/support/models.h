// SPDX-License-Identifier: Apache-2.0
// Small decoders and batches for tests of models.
#pragma once
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/remainder.h>

#include "ordo/models/decoder.h"

namespace ordo::test {

inline constexpr int64_t kSmallVocabulary = 11, kSmallLength = 12;

inline Choice<PositionEncoding> position(std::string_view kind) { return Choice<PositionEncoding>(kind); }

// Three layers, width 16, four heads over two groups.
inline Decoder::Config small_config(std::string_view kind = "rope") {
  Decoder::Config config;
  config.dim = 16;
  config.layers = 3;
  config.max_length = kSmallLength;
  config.attention.heads = 4;
  config.attention.kv_heads = 2;
  config.position = {position(kind)};
  config.init.std = 0.2;  // larger than in earnest, so that every part of a small model matters
  return config;
}

inline std::shared_ptr<Decoder> small_decoder(const Decoder::Config& config, uint64_t seed = 1) {
  return std::make_shared<Decoder>(config, ModelFacts{.vocab_size = kSmallVocabulary, .seed = seed});
}

// Ids that repeat with no short period; each row of the batch starts elsewhere.
inline Tensor some_ids(int64_t rows, int64_t length) {
  const Tensor n = at::arange(rows * length, at::kLong);
  return at::remainder(n * n + 3 * n, kSmallVocabulary).view({rows, length});
}

inline ModelInput input_of(const Tensor& ids, const Draw& draw = {}) {
  return {.ids = ids, .at = consecutive(0, ids.size(1), at::kCPU), .draw = draw};
}

}  // namespace ordo::test
