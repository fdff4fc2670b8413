// SPDX-License-Identifier: Apache-2.0
// Sums over the judged tokens of a split, and the metrics made of them.
#pragma once
#include <ATen/core/Tensor.h>

#include <optional>
#include <span>
#include <vector>

#include "ordo/data/tokenizer.h"
#include "ordo/tasks/task.h"
#include "ordo/tasks/token_examples.h"

namespace ordo {

class TokenScores {
 public:
  struct Keep {             // beside the sums
    bool outcomes = false;  // what became of each row, and exact_match: the share of rows all right
    bool examples = false;  // the sums of each row, read from the device after every batch
  };
  TokenScores(const Tokenizer* tokenizer, const Keep& keep);  // null: no metrics per character or byte
  // Runs the model, which must be in eval mode, without gradients.
  void add(Model& model, const Batch& batch);
  // Hidden states [B, L, D] against targets [B, L], of which `weight` count and the others are kIgnore; without
  // gradients. Targets that are `never_right` count as wrong, whatever the model writes, and in the loss like any
  // other.
  void judge(const Head& head, const Tensor& hidden, const Tensor& targets, double weight,
             std::optional<int64_t> never_right = {});
  double tokens() const { return tokens_; }
  Evaluation evaluation() const;  // all but the protocol and what comes with details
  const TokenExamples& examples() const { return examples_; }

 private:
  struct Size {
    int64_t bytes = 0, characters = 0;
  };
  Size size_of(std::span<const int64_t> targets) const;  // of their text
  void count_text(const Tensor& targets);
  void count_places(const Tensor& losses, const Tensor& counted);
  void count_rows(const Tensor& correct, const Tensor& counted);
  void add_examples(const Tensor& losses, const Tensor& correct, const Tensor& targets);
  Metrics metrics() const;
  std::vector<Size> sizes_;  // of each token's text, by id
  Keep keep_;
  double tokens_ = 0.0, bytes_ = 0.0, characters_ = 0.0;
  Tensor loss_, correct_;              // fp64 sums on the model's device: reading them would wait for it
  Tensor place_loss_, place_counted_;  // fp64 [longest row so far]
  std::vector<Tensor> rows_;           // fp64 [B] of each batch: share of its targets that were right
  TokenExamples examples_;
};

}  // namespace ordo
