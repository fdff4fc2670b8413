// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/token_input.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include "ordo/models/signal_text.h"
#include "ordo/nn/unallocated.h"
#include "ordo/ops/type_name.h"

namespace ordo {

namespace {

// Looks where it costs nothing: on the CPU. Elsewhere the embedding's own kernel has the last word.
void check_ids(const Tensor& ids, int64_t vocab_size) {
  require(ids.scalar_type() == at::kLong, "token ids must be int64, found {}", type_name(ids.scalar_type()));
  if (!ids.is_cpu() || ids.numel() == 0) return;
  const auto [low, high] = at::aminmax(ids);
  if (low.item<int64_t>() >= 0 && high.item<int64_t>() < vocab_size) return;
  const Tensor wrong = ((ids < 0) | (ids >= vocab_size)).nonzero()[0];
  const int64_t row = wrong[0].item<int64_t>(), column = wrong[1].item<int64_t>();
  throw DataError(
      fmt::format("token id {} (row {}, column {}) is outside the vocabulary of {} ids (0 to {}); was the text encoded "
                  "with another tokenizer?",
                  ids[row][column].item<int64_t>(), row, column, vocab_size, vocab_size - 1));
}

// What a mask says of each fresh token has the shape of the ids.
void check_mask(const Mask& mask, int64_t B, int64_t L) {
  for (const auto& [t, name] : {std::pair{mask.keys, "mask.keys"}, std::pair{mask.q_segment, "mask.q_segment"},
                                std::pair{mask.k_segment, "mask.k_segment"}}) {
    if (!t.defined()) continue;
    require(t.dim() == 2 && (t.size(0) == 1 || t.size(0) == B) && t.size(1) == L,
            "{} has the shape {}, expected [1|B, L] of ids [{}, {}]", name,
            fmt::format("[{}]", fmt::join(t.sizes(), ", ")), B, L);
  }
}

// One past the last position in use. A device other than the CPU is not asked: there the columns are counted.
int64_t reach(const Positions& at, int64_t columns) {
  if (at.start) return *at.start + at.length();
  return at.index.is_cpu() && at.index.numel() > 0 ? at.index.max().item<int64_t>() + 1 : columns;
}

int64_t vocabulary_of(const InputFacts& facts) {
  require<ConfigError>(!facts.signal.defined(),
                       "model.input: {} reads token ids, but the data of this task are {}; use {}", TokenInput::kKind,
                       signal_kind(facts.signal), inputs_reading(facts.signal));
  return facts.vocab_size;
}

}  // namespace

void fields(Fields& f, TokenInput::Config& c) {
  (void)f;
  (void)c;
}

TokenInput::TokenInput(const Config& config, const InputFacts& facts)
    : TokenInput(vocabulary_of(facts), facts.dim, facts.scaled) {
  (void)config;
}

TokenInput::TokenInput(int64_t vocab_size, int64_t dim, bool scaled) : InputLayer(dim, scaled) {
  require<ConfigError>(vocab_size > 0, "the data names no vocabulary (vocab_size {}), so no embedding can be built",
                       vocab_size);
  weight = register_parameter("weight", at::zeros({vocab_size, dim}, weight_options()));
}

void TokenInput::reset(const Initialiser& init, const std::string& path) {
  init.normal(weight, parameter_name(path, "weight"), init.embedding_std());
}

Tensor TokenInput::embed(const Tensor& ids, const Positions& at, const Mask& mask) const {
  const auto [B, L] = sizes<2>(ids, "ids [B, L]");
  const auto [rows, length] = sizes<2>(at.index, "positions [1|B, L]");
  require((rows == 1 || rows == B) && length == L, "positions [{}, {}] do not fit ids [{}, {}]", rows, length, B, L);
  check_mask(mask, B, L);
  check_ids(ids, weight.size(0));
  const Tensor x = at::embedding(weight, ids);
  return scaled(x);
}

void check_reach(PositionEncoding& position, const Positions& at, int64_t columns) {
  const auto refused = position.refuses_length(reach(at, columns));
  require<ConfigError>(!refused, "{}", refused.value_or(""));
}

}  // namespace ordo
