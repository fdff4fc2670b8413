// SPDX-License-Identifier: Apache-2.0
// From a prompt to tokens: processors and sampling over the logits of the last token, with a cache.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/models/model.h"

namespace ordo {

struct GenerateConfig {
  int64_t max_new_tokens = 200;
  bool greedy = false;  // the likeliest token; the settings of sampling then count for nothing and may not be given
  double temperature = 1.0;
  int64_t top_k = 0;                // 0: all
  double top_p = 1.0;               // nucleus (Holtzman et al. 2020)
  double min_p = 0.0;               // of the likeliest token's probability
  double repetition_penalty = 1.0;  // Keskar et al. 2019; also of a greedy choice
  uint64_t seed = 0;
  std::vector<int64_t> stop = {};  // ids that end a row; they are neither returned nor reported
  int64_t vocab_size = 0;  // only ids below it are chosen: a model may have room to spare; 0: all of the model's
};
// Throws ConfigError with all that is wrong: numbers out of range, `greedy` together with settings of sampling.
void check(const GenerateConfig& config);

// Called for each new token of each live row, in order of steps: (row, id). Returning false ends everything.
using OnToken = std::function<bool(int64_t row, int64_t id)>;

// Prompts of unequal length are padded on the left; results hold the new tokens only. A row's draw depends on (seed,
// row, step) alone, never on who else is in the batch. An empty prompt, or one that leaves the encoding's range, is a
// ConfigError that says so.
std::vector<std::vector<int64_t>> generate(Model& model, const std::vector<std::vector<int64_t>>& prompts,
                                           const GenerateConfig& config, const OnToken& on_token = {});

// Joins pieces of bytes and hands out whole UTF-8 characters only.
class Utf8Joiner {
 public:
  std::string add(std::string_view bytes);  // what has become whole
  std::string finish();                     // what is left, bad bytes replaced by U+FFFD

 private:
  std::string pending_;
};

}  // namespace ordo
