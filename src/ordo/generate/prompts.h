// SPDX-License-Identifier: Apache-2.0
// What is asked of models, checked before anything is computed.
#pragma once
#include <vector>

#include "ordo/generate/generate.h"
#include "ordo/generate/padding.h"

namespace ordo {

// Throws ConfigError for prompts that are empty, too long with their new tokens, or hold what the models cannot read or
// `config` does not let them write.
void require_prompts(const Ensemble& models, const std::vector<Prompt>& prompts, const GenerateConfig& config);
// Their sources; no rows when none of them has one.
TokenRows sources_of(const std::vector<Prompt>& prompts);
// Throws ConfigError unless each row of an encoder-decoder has a source that it can read, and no other model has any.
void require_sources(const Ensemble& models, const TokenRows& sources);
// Throws ConfigError when prompts of `prompt` tokens and `fresh` new ones leave the range of a model; says what fits.
void require_length(const Ensemble& models, int64_t prompt, int64_t fresh);

}  // namespace ordo
