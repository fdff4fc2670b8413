// SPDX-License-Identifier: Apache-2.0
// Texts in the caches of a model, or of several: what is appended is computed once and kept, so that a text goes on
// where it stands. A chat keeps its session from turn to turn; a window that moves starts another one.
#pragma once
#include <memory>
#include <vector>

#include "ordo/generate/ensemble.h"
#include "ordo/generate/padding.h"

namespace ordo {

enum class Watch { nothing, source };  // source: where tokens look in it

// Its models are in evaluation mode while it lives.
class Session {
 public:
  // `sources`: one a row of what an encoder-decoder reads; none for models without an encoder. Throws ConfigError when
  // the models want it otherwise.
  explicit Session(const Ensemble& models, TokenRows sources = {}, Watch watch = Watch::nothing);

  // Appends at least one token to each row (the first call decides how many rows there are); rows of unequal length
  // are padded on the left. What may follow, fp64 [rows, V] on the CPU: the logits of one model, or the logarithm of
  // the mean probability of several. Throws ConfigError for ids outside the vocabulary and for lengths that a model
  // refuses; the session is then as before.
  Tensor append(const TokenRows& tokens);
  // With Watch::source, of what was appended last: how the last token of each row divides its attention among the
  // tokens of its source, fp64 [rows, longest source] on the CPU, 0 at padding. That of the last decoder block, the
  // mean of its heads; of several models their mean.
  const Tensor& source_weights() const { return source_weights_; }
  // Row i becomes what row rows[i] was; rows may be dropped and repeated.
  void keep_rows(const std::vector<int64_t>& rows);
  // The first `tokens` of each row stay, at least one. For rows without padding only: those appended at equal lengths.
  void truncate(int64_t tokens);

  int64_t rows() const { return static_cast<int64_t>(lengths_.size()); }
  int64_t length(int64_t row) const { return lengths_.at(static_cast<size_t>(row)); }  // tokens held

 private:
  void require_fit(const TokenRows& tokens) const;
  ModelInput input(const TokenRows& tokens, c10::Device device) const;

  Ensemble models_;
  EvaluationMode evaluation_;
  TokenRows sources_;
  std::vector<std::shared_ptr<Cache>> caches_;
  std::vector<int64_t> lengths_;
  bool even_ = true;  // no padding so far
  Watch watch_;
  Tensor source_weights_;
};

}  // namespace ordo
