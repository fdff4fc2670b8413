// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/generate/generate.h"

namespace ordo {

namespace {

using Texts = std::vector<std::string>;

void check_ranges(const GenerateConfig& c, Texts& problems) {
  const auto demand = [&](bool ok, std::string_view text) {
    if (!ok) problems.emplace_back(text);
  };
  demand(c.max_new_tokens >= 0, "max_new_tokens must not be negative");
  demand(c.temperature > 0.0 && std::isfinite(c.temperature),
         "temperature must be a number above 0 (for the likeliest token each time: greedy)");
  demand(c.top_k >= 0, "top_k must not be negative (0: all)");
  demand(c.top_p > 0.0 && c.top_p <= 1.0, "top_p must be above 0 and at most 1 (1: all)");
  demand(c.min_p >= 0.0 && c.min_p <= 1.0, "min_p must be between 0 and 1 (0: all)");
  demand(c.repetition_penalty > 0.0 && std::isfinite(c.repetition_penalty),
         "repetition_penalty must be a number above 0 (1: none)");
  demand(c.samples >= 1, "samples must be at least 1");
  demand(c.beam.width >= 0, "beam.width must not be negative (0: no beam search)");
  demand(std::isfinite(c.beam.length_penalty), "beam.length_penalty must be a number (0: none)");
  demand(c.beam.coverage_penalty >= 0.0 && std::isfinite(c.beam.coverage_penalty),
         "beam.coverage_penalty must be a number of at least 0 (0: none)");
  demand(c.n_best >= 0, "n_best must not be negative (0: one of beams, all draws)");
  demand(c.no_repeat_ngram >= 0, "no_repeat_ngram must not be negative (0: n-grams may repeat)");
  demand(c.min_new_tokens >= 0, "min_new_tokens must not be negative");
}

// Settings that belong to another way of choosing would otherwise be read and ignored.
void check_company(const GenerateConfig& c, Texts& problems) {
  const auto against = [&](bool both, std::string_view one, std::string_view other, std::string_view why) {
    if (both) problems.push_back(fmt::format("{} and {} cannot be given together: {}", one, other, why));
  };
  const bool beam = c.beam.width > 0;
  against(beam && c.greedy, "beam", "greedy", "one follows the likeliest token, the other several answers");
  for (const auto& [given, name] :
       {std::pair{c.temperature != 1.0, "temperature"}, std::pair{c.top_k != 0, "top_k"},
        std::pair{c.top_p != 1.0, "top_p"}, std::pair{c.min_p != 0.0, "min_p"}, std::pair{c.samples != 1, "samples"}}) {
    against(c.greedy && given, "greedy", name, "greedy takes the likeliest token, nothing is drawn");
    against(beam && given, "beam", name, "a beam search draws nothing");
  }
  against(beam && c.repetition_penalty != 1.0, "beam", "repetition_penalty",
          "its scores are the model's log-probabilities; no_repeat_ngram forbids repetition");
  if (!beam && (c.beam.length_penalty != BeamConfig{}.length_penalty || c.beam.stopping != BeamConfig{}.stopping ||
                c.beam.coverage_penalty != 0.0))
    problems.emplace_back(
        "beam.length_penalty, beam.coverage_penalty and beam.stopping are of a beam search: give beam.width too");
}

void check_counts(const GenerateConfig& c, Texts& problems) {
  const bool beam = c.beam.width > 0;
  const int64_t most = beam ? c.beam.width : c.greedy ? 1 : c.samples;
  if (c.n_best > most)
    problems.push_back(fmt::format("n_best is {}, and there {} {} to choose from", c.n_best, most == 1 ? "is" : "are",
                                   beam ? fmt::format("{} beam(s)", most) : fmt::format("{} answer(s)", most)));
  if (c.min_new_tokens > c.max_new_tokens)
    problems.push_back(
        fmt::format("min_new_tokens ({}) must not exceed max_new_tokens ({})", c.min_new_tokens, c.max_new_tokens));
  if (c.min_new_tokens > 0 && c.stop.empty())
    problems.emplace_back("min_new_tokens holds back the stop ids, and there are none: give stop too");
}

}  // namespace

void check(const GenerateConfig& config) {
  Texts problems;
  check_ranges(config, problems);
  check_company(config, problems);
  check_counts(config, problems);
  require<ConfigError>(problems.empty(), "{}", join(problems, "\n"));
}

}  // namespace ordo
