// SPDX-License-Identifier: Apache-2.0
// Sums over the judged tokens of a split, and the metrics made of them.
#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

#include "ordo/data/tokenizer.h"
#include "ordo/tasks/task.h"

namespace ordo {

class TokenScores {
 public:
  explicit TokenScores(const Tokenizer* tokenizer);  // null: no metrics per character or byte
  // Runs the model, which must be in eval mode, without gradients.
  void add(Model& model, const Batch& batch);
  double tokens() const { return tokens_; }
  Metrics metrics() const;

 private:
  void count_text(const Tensor& targets);
  struct Size {
    int64_t bytes = 0, characters = 0;
  };
  std::vector<Size> sizes_;  // of each token's text, by id
  double tokens_ = 0.0, bytes_ = 0.0, characters_ = 0.0;
  Tensor loss_, correct_;  // fp64 sums on the model's device: reading them would wait for it
};

}  // namespace ordo
