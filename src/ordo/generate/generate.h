// SPDX-License-Identifier: Apache-2.0
// From prompts to answers: the likeliest token each time, draws, or a beam search, with a cache.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/generate/ensemble.h"

namespace ordo {

struct Prompt {
  std::vector<int64_t> ids;          // what the answer goes on from; of an encoder-decoder the tokens it starts with
  std::vector<int64_t> source = {};  // what an encoder reads; empty for a model without one
  std::vector<int64_t> prefix = {};  // the answer's first tokens, forced: new tokens like all others
};

// When a beam search has enough, once `width` answers have ended.
enum class Stopping {
  first,     // at once
  estimate,  // when no open hypothesis, taken as it stands, scores above the worst answer kept
  best       // when no open hypothesis can come to score above it, whatever follows: the search goes to the end
};

struct BeamConfig {
  int64_t width = 0;            // open hypotheses of a prompt; 0: no beam search
  double length_penalty = 1.0;  // the exponent a in score = log-probability / length^a; the stop id counts as length
  Stopping stopping = Stopping::best;
  // The factor b of what is added to the score of an answer to a source: b · sum over the source's tokens i of
  // log(min(sum over the answer's tokens j of p_ij, 1)) (Wu et al. 2016, equation 14). p_ij: the share of its attention
  // that j, as it is chosen, gives to i, in the last decoder block, mean of its heads. 0: nothing.
  double coverage_penalty = 0.0;
};

struct GenerateConfig {
  int64_t max_new_tokens = 200;
  bool greedy = false;  // the likeliest token; the settings of sampling then count for nothing and may not be given
  double temperature = 1.0;
  int64_t top_k = 0;                // 0: all
  double top_p = 1.0;               // nucleus (Holtzman et al. 2020)
  double min_p = 0.0;               // of the likeliest token's probability
  double repetition_penalty = 1.0;  // Keskar et al. 2019; also of a greedy choice
  int64_t samples = 1;              // draws for each prompt
  uint64_t seed = 0;
  int64_t first_prompt = 0;     // the number of the first prompt: many that come in several calls draw as in one
  BeamConfig beam = {};         // in place of draws and of the greedy choice
  int64_t n_best = 0;           // answers of a prompt, best score first; 0: one of beams, all draws as they were drawn
  int64_t no_repeat_ngram = 0;  // no run of that many tokens stands twice in prompt and answer; 0: it may
  int64_t min_new_tokens = 0;   // before them no stop id
  std::vector<int64_t> stop = {};  // ids that end an answer; they are neither returned nor reported
  int64_t vocab_size = 0;  // only ids below it are chosen: a model may have room to spare; 0: all of the model's
};
// Throws ConfigError with all that is wrong: numbers out of range, settings that contradict each other.
void check(const GenerateConfig& config);

struct Answer {
  std::vector<int64_t> ids = {};  // new tokens; the stop id is left out
  // Sum over the new tokens, the stop id included, under the model as it is: before temperature, filters, penalties.
  double log_probability = 0.0;
  double score = 0.0;  // of a beam search: log_probability / length^length_penalty, plus what coverage_penalty adds;
                       // else log_probability
  bool ended = false;  // by a stop id; otherwise by max_new_tokens, or since nothing was left to choose from
};
using Answers = std::vector<std::vector<Answer>>;  // of each prompt: one, or n_best, or as many as there are samples

// Called for each new token of each live row, in order of steps: (row, id); row = prompt * samples + sample. Returning
// false ends everything.
using OnToken = std::function<bool(int64_t row, int64_t id)>;

// Prompts of unequal length are padded on the left, sources on the right; nothing depends on who else is in the batch.
// A draw depends on (seed, prompt's number, sample, step) alone. An empty prompt, one that leaves the encoding's range,
// a source without an encoder or the other way round are ConfigErrors that say so. Nobody listens to a beam search: its
// tokens are settled at the end.
Answers generate(const Ensemble& models, const std::vector<Prompt>& prompts, const GenerateConfig& config,
                 const OnToken& on_token = {});

// Joins pieces of bytes and hands out whole UTF-8 characters only.
class Utf8Joiner {
 public:
  std::string add(std::string_view bytes);  // what has become whole
  std::string finish();                     // what is left, bad bytes replaced by U+FFFD

 private:
  std::string pending_;
};

}  // namespace ordo
