// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/source_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>

#include <limits>

namespace ordo {

namespace {
constexpr NamedValue kSourceScoreNames[] = {{"none", static_cast<int>(SourceScore::none)},
                                            {"additive", static_cast<int>(SourceScore::additive)},
                                            {"multiplicative", static_cast<int>(SourceScore::multiplicative)}};
}  // namespace

constinit const std::span<const NamedValue> kSourceScores(kSourceScoreNames);

SourceAttention::SourceAttention(SourceScore score, int64_t dim, bool bias) : score_(score), dim_(dim) {
  const auto linear = [&](const char* name, int64_t in, int64_t out, bool with_bias) {
    return register_module(name, std::make_shared<Linear>(in, out, Linear::Options{.bias = with_bias}));
  };
  key_ = linear("key", dim, dim, false);
  if (score == SourceScore::additive) {
    query_ = linear("query", dim, dim, bias);
    v_ = linear("v", dim, 1, false);
  }
  out_ = linear("out", 2 * dim, dim, bias);
}

SourceAttention::Source SourceAttention::source(const Tensor& hidden, const Tensor& keys) const {
  return {.hidden = hidden, .scored = key_->forward(hidden), .keys = keys};
}

Tensor SourceAttention::forward(const Tensor& h, const Source& source) const {
  Tensor scores = score_ == SourceScore::additive
                      ? v_->forward((query_->forward(h).unsqueeze(2) + source.scored.unsqueeze(1)).tanh()).squeeze(3)
                      : at::matmul(h, source.scored.to(h.scalar_type()).transpose(1, 2));
  scores = scores.to(accumulate_type(scores.scalar_type()));
  if (source.keys.defined()) {
    const Tensor hidden = source.keys.logical_not() & source.keys.any(1, /*keepdim=*/true);  // no token at all: zeros
    scores = scores.masked_fill(hidden.unsqueeze(1), -std::numeric_limits<double>::infinity());
  }
  const Tensor context = at::matmul(scores.softmax(-1).to(source.hidden.scalar_type()), source.hidden);
  return out_->forward(at::cat({context.to(h.scalar_type()), h}, 2)).tanh();
}

double SourceAttention::flops(int64_t source_length) const {
  const auto D = static_cast<double>(dim_), S = static_cast<double>(source_length);
  const double query = score_ == SourceScore::additive ? D * D : 0.0;
  return 2.0 * (query + D * D + 2.0 * S * D + 2.0 * D * D);  // W h, W m; scores and context; out
}

double SourceAttention::activation_bytes(int64_t source_length) const {
  const auto D = static_cast<double>(dim_), S = static_cast<double>(source_length);
  constexpr double kBytes = 4.0;
  // Weights; of the additive score each tanh; W m, context and h, the result.
  return kBytes * (S + (score_ == SourceScore::additive ? S * D : 0.0) + 4.0 * D);
}

}  // namespace ordo
