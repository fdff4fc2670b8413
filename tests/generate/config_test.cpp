// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <limits>

#include "ordo/core/errors.h"
#include "ordo/generate/generate.h"
#include "support/thrown.h"

namespace ordo::test {

TEST_CASE("settings of generation that are out of range or contradict are refused by name", "[unit]") {
  struct Case {
    GenerateConfig config;
    std::string part;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Case> cases{{{.max_new_tokens = -1}, "max_new_tokens"},
                                {{.temperature = 0.0}, "temperature"},
                                {{.temperature = nan}, "temperature"},
                                {{.temperature = std::numeric_limits<double>::infinity()}, "temperature"},
                                {{.top_k = -1}, "top_k"},
                                {{.top_p = 0.0}, "top_p"},
                                {{.top_p = 1.5}, "top_p"},
                                {{.top_p = nan}, "top_p"},
                                {{.min_p = -0.1}, "min_p"},
                                {{.min_p = 1.1}, "min_p"},
                                {{.repetition_penalty = 0.0}, "repetition_penalty"},
                                {{.greedy = true, .temperature = 0.5}, "greedy and temperature"},
                                {{.greedy = true, .top_k = 5}, "greedy and top_k"},
                                {{.greedy = true, .top_p = 0.5}, "greedy and top_p"},
                                {{.greedy = true, .min_p = 0.5}, "greedy and min_p"},
                                {{.greedy = true, .samples = 2}, "greedy and samples"},
                                {{.samples = 0}, "samples"},
                                {{.greedy = true, .beam = {.width = 2}}, "beam and greedy"},
                                {{.temperature = 0.5, .beam = {.width = 2}}, "beam and temperature"},
                                {{.top_k = 5, .beam = {.width = 2}}, "beam and top_k"},
                                {{.top_p = 0.5, .beam = {.width = 2}}, "beam and top_p"},
                                {{.min_p = 0.5, .beam = {.width = 2}}, "beam and min_p"},
                                {{.repetition_penalty = 2.0, .beam = {.width = 2}}, "beam and repetition_penalty"},
                                {{.samples = 2, .beam = {.width = 2}}, "beam and samples"},
                                {{.beam = {.width = -1}}, "beam.width"},
                                {{.beam = {.width = 2, .length_penalty = nan}}, "length_penalty"},
                                {{.beam = {.length_penalty = 0.5}}, "give beam.width"},
                                {{.beam = {.stopping = Stopping::first}}, "give beam.width"},
                                {{.n_best = -1}, "n_best"},
                                {{.n_best = 2}, "1 answer(s)"},
                                {{.samples = 3, .n_best = 4}, "3 answer(s)"},
                                {{.beam = {.width = 2}, .n_best = 3}, "2 beam(s)"},
                                {{.no_repeat_ngram = -1}, "no_repeat_ngram"},
                                {{.min_new_tokens = -1}, "min_new_tokens"},
                                {{.max_new_tokens = 3, .min_new_tokens = 4, .stop = {1}}, "min_new_tokens (4)"},
                                {{.min_new_tokens = 4}, "give stop"}};
  for (const auto& [config, part] : cases) CHECK(contains(thrown<ConfigError>([&] { check(config); }), part));
  CHECK_NOTHROW(check({}));
  CHECK_NOTHROW(check({.greedy = true, .repetition_penalty = 1.2}));
  CHECK_NOTHROW(check({.samples = 3, .n_best = 3}));
  CHECK_NOTHROW(check({.beam = {.width = 3, .length_penalty = 0.0}, .n_best = 3, .min_new_tokens = 2, .stop = {1}}));
}

}  // namespace ordo::test
