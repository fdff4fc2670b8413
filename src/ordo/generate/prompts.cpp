// SPDX-License-Identifier: Apache-2.0
#include "ordo/generate/prompts.h"

#include <algorithm>

#include "ordo/core/errors.h"
#include "ordo/generate/processors.h"

namespace ordo {

namespace {

void require_prefix(const Prompt& prompt, size_t number, int64_t usable, const GenerateConfig& config) {
  require<ConfigError>(static_cast<int64_t>(prompt.prefix.size()) <= config.max_new_tokens,
                       "prompt {} forces {} first tokens, more than max_new_tokens ({})", number, prompt.prefix.size(),
                       config.max_new_tokens);
  for (const int64_t id : prompt.prefix) {
    require<ConfigError>(id >= 0 && id < usable, "prompt {} forces token id {}; the ids that may be written end at {}",
                         number, id, usable - 1);
    require<ConfigError>(std::find(config.stop.begin(), config.stop.end(), id) == config.stop.end(),
                         "prompt {} forces token id {}, which is a stop id and would end the answer", number, id);
  }
}

}  // namespace

void require_prompts(const Ensemble& models, const std::vector<Prompt>& prompts, const GenerateConfig& config) {
  require<ConfigError>(config.beam.coverage_penalty == 0.0 || models.reads_source(),
                       "beam.coverage_penalty weighs how much of its source an answer has attended to, and the model "
                       "reads none: it is for model.kind: encoder_decoder");
  TokenRows texts;
  size_t longest = 0;
  for (size_t row = 0; row < prompts.size(); ++row) {
    texts.push_back(prompts[row].ids);
    longest = std::max(longest, prompts[row].ids.size());
    require_prefix(prompts[row], row + 1, usable_ids(models.vocab_size(), config), config);
  }
  require_tokens(texts, models.vocab_size(), "prompt");
  if (!prompts.empty() && config.max_new_tokens > 0)
    require_length(models, static_cast<int64_t>(longest), config.max_new_tokens);
}

TokenRows sources_of(const std::vector<Prompt>& prompts) {
  TokenRows sources;
  for (const Prompt& prompt : prompts) sources.push_back(prompt.source);
  const bool none = std::all_of(sources.begin(), sources.end(), [](const auto& source) { return source.empty(); });
  return none ? TokenRows{} : sources;
}

void require_sources(const Ensemble& models, const TokenRows& sources) {
  if (!models.reads_source())
    return require<ConfigError>(sources.empty(), "the model has no encoder: it cannot read the source that is given");
  require<ConfigError>(!sources.empty(), "the model is an encoder-decoder: it writes of a source, and none is given");
  require_tokens(sources, models.vocab_size(), "source");
  for (size_t row = 0; row < sources.size(); ++row) {
    const auto refusal = models.refuses_length(static_cast<int64_t>(sources[row].size()));
    require<ConfigError>(!refusal, "source {} has {} tokens: {}", row + 1, sources[row].size(), refusal.value_or(""));
  }
}

void require_length(const Ensemble& models, int64_t prompt, int64_t fresh) {
  const int64_t needed = prompt + fresh - 1;  // the last token is never fed back
  const auto refusal = models.refuses_length(needed);
  if (!refusal) return;
  const int64_t room = models.max_length() - prompt + 1;
  const bool helps = room > 0 && !models.refuses_length(models.max_length());
  throw ConfigError(fmt::format("a prompt of {} token(s) and {} new one(s) need {} positions: {}; {}", prompt, fresh,
                                needed, *refusal,
                                helps ? fmt::format("at most {} new tokens fit", room) : "shorten the prompt"));
}

}  // namespace ordo
