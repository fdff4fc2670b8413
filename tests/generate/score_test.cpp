// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/generate/score.h"

#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "ordo/core/errors.h"
#include "small_models.h"
#include "support/thrown.h"
#include "table_model.h"

namespace ordo::test {

namespace {

const Rows kContinuations{{4, 5}, {1, 2, 3, 4, 5, 6}, {}, {9}};

// Of one row by itself: the logarithm of the softmax over all logits of one forward.
std::vector<double> plain_scores(Model& model, const Row& prompt, const Row& continuation) {
  const c10::NoGradGuard no_gradients;
  model.eval();
  Row text = prompt;
  text.insert(text.end(), continuation.begin(), continuation.end());
  const Tensor hidden = model.forward(
      {.ids = at::tensor(text).unsqueeze(0), .at = consecutive(0, static_cast<int64_t>(text.size()), at::kCPU)});
  const Tensor logarithms = at::log_softmax(model.head().logits(hidden[0]).to(at::kDouble), 1);
  std::vector<double> scores;
  for (size_t i = 0; i < continuation.size(); ++i)
    scores.push_back(logarithms[static_cast<int64_t>(prompt.size() + i) - 1][continuation[i]].item().toDouble());
  return scores;
}

}  // namespace

TEST_CASE("scores of uneven continuations in one batch are those of each alone", "[unit]") {
  for (const auto* position : {"none", "sinusoidal", "learned", "rope", "alibi"}) {
    CAPTURE(position);
    const auto model = small_model(position);
    const auto scores = score(*model, prompts_of(kUneven), kContinuations);
    REQUIRE(scores.size() == kUneven.size());
    for (size_t row = 0; row < kUneven.size(); ++row) {
      const auto expected = plain_scores(*model, kUneven[row], kContinuations[row]);
      REQUIRE(scores[row].tokens.size() == expected.size());
      double sum = 0.0;
      for (size_t i = 0; i < expected.size(); ++i) {
        CHECK(scores[row].tokens[i] == Approx(expected[i]).margin(2e-5));
        sum += scores[row].tokens[i];
      }
      CHECK(scores[row].sum == sum);
    }
  }
}

TEST_CASE("a written answer scores what its log-probability says", "[unit]") {
  const auto model = small_model("rope"), other = small_model("alibi", 8);
  for (const Ensemble& models : {Ensemble(*model), Ensemble({model.get(), other.get()})})
    for (const GenerateConfig& config :
         {GenerateConfig{.max_new_tokens = 9, .greedy = true, .stop = {4}},
          GenerateConfig{.max_new_tokens = 9, .temperature = 2.0, .top_k = 6, .stop = {4}},
          GenerateConfig{.max_new_tokens = 9, .beam = {.width = 3}, .stop = {4}}}) {
      const Answers answers = generate(models, prompts_of(kUneven), config);
      Rows continuations = first_ids(answers);
      for (size_t row = 0; row < continuations.size(); ++row)
        if (answers[row][0].ended) continuations[row].push_back(4);
      const auto scores = score(models, prompts_of(kUneven), continuations);
      for (size_t row = 0; row < scores.size(); ++row)
        CHECK(scores[row].sum == Approx(answers[row][0].log_probability).margin(1e-4));
    }
}

TEST_CASE("scores read the source, each row its own", "[unit]") {
  const auto rule = drawn_rule(7, 3.0);
  TableModel model(7, rule, /*reads_source=*/true);
  const std::vector<Prompt> prompts{{.ids = {0}, .source = {1, 2, 3}}, {.ids = {0, 1}, .source = {4}}};
  const auto scores = score(model, prompts, {{5}, {6}});
  for (size_t row = 0; row < 2; ++row) {
    const Logits logits = rule(prompts[row].ids, prompts[row].source);
    double total = 0.0;
    for (const double logit : logits) total += std::exp(logit);
    CHECK(scores[row].sum == Approx(logits[5 + row] - std::log(total)).margin(1e-6));
  }
  CHECK(contains(thrown<ConfigError>([&] { score(model, {{.ids = {0}}}, {{5}}); }), "encoder-decoder"));
}

TEST_CASE("what cannot be scored is refused", "[unit]") {
  const auto model = small_model("learned");  // 24 positions
  CHECK(contains(thrown<Error>([&] { score(*model, prompts_of({{1}}), {}); }), "1 prompt(s) and 0 continuation(s)"));
  CHECK(contains(thrown<ConfigError>([&] { score(*model, prompts_of({{}}), {{1}}); }), "prompt 1 is empty"));
  CHECK(contains(thrown<ConfigError>([&] {
                   score(*model, prompts_of({{1}, {1}}), {{1}, {11}});
                 }),
                 "continuation 2 has token id 11"));
  CHECK(contains(thrown<ConfigError>([&] { score(*model, prompts_of({{1}}), {Row(25, 1)}); }), "25 positions"));
  CHECK(contains(thrown<Error>([&] { score(*model, {{.ids = {1}, .prefix = {2}}}, {{1}}); }), "first tokens"));
  CHECK(score(*model, {}, {}).empty());
}

}  // namespace ordo::test
