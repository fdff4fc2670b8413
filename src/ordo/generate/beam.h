// SPDX-License-Identifier: Apache-2.0
// Beam search: `width` hypotheses of each prompt grow side by side.
#pragma once
#include "ordo/generate/generate.h"

namespace ordo {

// Each step ranks all continuations of a prompt's open hypotheses by the sum of their log-probabilities (fp64; of equal
// sums the lower id first, then the better hypothesis). A stop id ends a hypothesis when its continuation is among the
// `width` best; the best `width` of the others stay open. At max_new_tokens the `width` best end as they are. Of the
// ended ones the `width` with the best scores (in which config.beam.coverage_penalty counts) are kept, and n_best of
// them are the answers: there are fewer when the vocabulary or the settings allow no more. All prompts share one batch,
// and those with enough answers leave it. Called by generate(), which has checked everything; config.beam.width > 0.
Answers beam_search(const Ensemble& models, const std::vector<Prompt>& prompts, const GenerateConfig& config);

}  // namespace ordo
