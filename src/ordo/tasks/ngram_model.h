// SPDX-License-Identifier: Apache-2.0
// Counted language models, beside which a trained one is read: what single tokens and pairs of tokens know already.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ordo/data/tokens.h"

namespace ordo {

// Mean losses, in nats a token.
struct NgramLosses {
  double unigram = 0.0, bigram = 0.0;
};

// Of one token w: (c(w) + 1) / (N + V). Of w behind v: (c(vw) + t(v) p(w)) / (c(v) + t(v)), where t(v) counts the
// different tokens seen behind v (Witten & Bell 1991); behind a v that was never followed, p(w). No pair crosses from
// one document into the next.
class NgramModel {
 public:
  NgramModel(const TokenSequence& training, int64_t vocab_size);
  // Over each token but the first of each document: those that a model is asked for. At least one.
  NgramLosses losses(const TokenSequence& held_out) const;

 private:
  double unigram(int64_t token) const;
  double bigram(int64_t before, int64_t token) const;
  int64_t vocab_size_, tokens_ = 0;
  std::vector<int64_t> counts_, followed_, followers_;  // by token: c(w); how often another follows, and how many do
  std::unordered_map<uint64_t, int64_t> pairs_;         // by before * V + token
};

}  // namespace ordo
