// SPDX-License-Identifier: Apache-2.0
// How likely given continuations are: forced decoding, in one pass and without a cache.
#pragma once
#include <vector>

#include "ordo/generate/ensemble.h"
#include "ordo/generate/generate.h"
#include "ordo/generate/padding.h"

namespace ordo {

struct ContinuationScore {
  double sum = 0.0;            // of `tokens`, in fp64
  std::vector<double> tokens;  // log-probability of each token, given the prompt and the tokens before it
};

// One continuation a prompt; a prompt's `prefix` is part of no continuation and must be empty. Of an ensemble the
// logarithm of the mean probability of each token. Prompts and sources may differ in length, an empty continuation has
// the sum 0; batches only cost memory, they change nothing. Throws ConfigError as generate() does.
std::vector<ContinuationScore> score(const Ensemble& models, const std::vector<Prompt>& prompts,
                                     const TokenRows& continuations);

}  // namespace ordo
