// SPDX-License-Identifier: Apache-2.0
// How a recurrent decoder looks at its source: over all that the encoder gives, weighed by its own state (Bahdanau et
// al. 2015; Luong et al. 2015).
#pragma once
#include <memory>

#include "ordo/models/model.h"

namespace ordo {

enum class SourceScore {
  none,
  additive,       // v^T tanh(W h + U m) (Bahdanau et al. 2015)
  multiplicative  // h^T W m (Luong et al. 2015, "general")
};
extern const std::span<const NamedValue> kSourceScores;

class SourceAttention : public torch::nn::Module {
 public:
  // What is looked at: an encoder's outputs m, and what the score needs of them, once for all tokens.
  struct Source {
    Tensor hidden, scored;  // [B, Ls, D] each
    Tensor keys;            // bool [B, Ls], undefined: no padding
  };
  SourceAttention(SourceScore score, int64_t dim, bool bias);
  Source source(const Tensor& hidden, const Tensor& keys) const;
  // h [B, L, D] -> tanh(W [context; h]) [B, L, D], Luong's attentional state. The additive score takes B * L * Ls * D
  // numbers.
  Tensor forward(const Tensor& h, const Source& source) const;
  // Of a token that is written, with its share of W m; in fp32.
  double flops(int64_t source_length) const;
  double activation_bytes(int64_t source_length) const;

 private:
  SourceScore score_;
  int64_t dim_;
  std::shared_ptr<Linear> query_, key_, v_, out_;  // children "query", "v" (additive), "key", "out"
};

}  // namespace ordo
