// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/generate/ensemble.h"

#include <cmath>

#include "ordo/core/errors.h"
#include "small_models.h"
#include "support/thrown.h"
#include "table_model.h"

namespace ordo::test {

namespace {

Logits logarithms(const std::vector<double>& probabilities) {
  Logits logits;
  for (const double p : probabilities) logits.push_back(std::log(p));
  return logits;
}

TableModel always(const std::vector<double>& probabilities) {
  return {static_cast<int64_t>(probabilities.size()),
          [=](const Tokens&, const Tokens&) { return logarithms(probabilities); }};
}

}  // namespace

TEST_CASE("an ensemble of one, and one of a model and itself, writes what the model writes", "[unit]") {
  const auto model = small_model("rope");
  for (const GenerateConfig& config :
       {GenerateConfig{.max_new_tokens = 8, .greedy = true}, GenerateConfig{.max_new_tokens = 8, .samples = 3},
        GenerateConfig{.max_new_tokens = 8, .beam = {.width = 3}, .n_best = 2, .stop = {4}}}) {
    const Answers alone = generate(*model, prompts_of(kUneven), config);
    for (const auto& members : {std::vector{model.get()}, std::vector{model.get(), model.get()}}) {
      const Answers together = generate(Ensemble(members), prompts_of(kUneven), config);
      for (size_t prompt = 0; prompt < alone.size(); ++prompt)
        for (size_t i = 0; i < alone[prompt].size(); ++i) {
          CHECK(together[prompt][i].ids == alone[prompt][i].ids);
          CHECK(together[prompt][i].score == Approx(alone[prompt][i].score).epsilon(1e-9));
        }
    }
  }
}

TEST_CASE("an ensemble goes by the mean of its models' probabilities, not of their logarithms", "[unit]") {
  TableModel a = always({0.9, 0.09, 0.01}), b = always({0.0001, 0.4, 0.5999});
  const auto first = [](std::vector<Model*> models) {
    const GenerateConfig config{.max_new_tokens = 1, .greedy = true};
    return generate(Ensemble(std::move(models)), prompts_of({{0}}), config)[0][0];
  };
  CHECK(first({&b}).ids == Row{2});
  CHECK(first({&a, &b}).ids == Row{0});  // of the logarithms' means 1 has the largest
  CHECK(first({&a, &b}).log_probability == Approx(std::log(0.9001 / 2)).epsilon(1e-12));
}

TEST_CASE("models of an ensemble need one vocabulary, and read the same", "[unit]") {
  TableModel three = always({0.2, 0.3, 0.5}), two = always({0.5, 0.5}), reader(3, drawn_rule(3, 1.0), true);
  const auto refused = [](std::vector<Model*> models) { return thrown<ConfigError>([&] { Ensemble{models}; }); };
  CHECK(contains(refused({&three, &two}), "the first has 3 ids, model 2 has 2"));
  CHECK(contains(refused({&three, &reader}), "source"));
  CHECK(contains(refused({}), "at least one"));
}

TEST_CASE("an ensemble writes no longer than its shortest model can", "[unit]") {
  const auto bounded = small_model("learned"), free = small_model("rope");
  const Ensemble both({free.get(), bounded.get()});
  CHECK(both.max_length() == 24);
  CHECK(both.refuses_length(25));
  CHECK_FALSE(both.refuses_length(24));
}

}  // namespace ordo::test
