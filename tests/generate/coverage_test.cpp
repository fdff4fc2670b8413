// SPDX-License-Identifier: Apache-2.0
// The coverage penalty of a beam search.
#include "support/catch.h"

#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "ordo/generate/beam.h"
#include "ordo/generate/session.h"
#include "ordo/models/encoder_decoder.h"
#include "ordo/models/probe.h"
#include "small_models.h"
#include "support/models.h"
#include "support/thrown.h"
#include "table_model.h"

namespace ordo::test {

namespace {

constexpr int64_t kStop = 0;

// First 1 (0.6) or 2 (0.4), then the end. The source has two tokens: the first choice looks at both alike, an end
// behind 1 at the first alone, one behind 2 at both alike.
TableModel two_answers() {
  const double never = -60.0;
  return TableModel(
      3,
      [=](const Tokens& text, const Tokens&) {
        return text.size() == 1 ? Logits{never, std::log(0.6), std::log(0.4)} : Logits{0.0, never, never};
      },
      /*reads_source=*/true,
      [](const Tokens& text, const Tokens&) {
        return text.size() > 1 && text.back() == 1 ? std::vector<double>{1.0, 0.0} : std::vector<double>{0.5, 0.5};
      });
}

std::shared_ptr<EncoderDecoder> pair_that_looks() {
  EncoderDecoder::Config config;
  static_cast<StackConfig&>(config) = small_config("rope");
  config.layers = 2;
  config.init.std = 0.5;
  return std::make_shared<EncoderDecoder>(config, ModelFacts{.vocab_size = kSmallVocabulary, .seed = 3});
}

// What the last block looks at, of a whole text.
class LastLooks final : public Probe {
 public:
  bool wants_source_weights(int64_t) const override { return true; }
  void source_weights(int64_t, const Tensor& weights) override { last = weights[0].mean(0).to(at::kDouble); }
  Tensor last;  // [L, Ls]
};

double log_coverage(EncoderDecoder& model, const Prompt& prompt, const Answer& answer) {
  const c10::NoGradGuard no_gradients;
  model.eval();
  Row text = prompt.ids;
  text.insert(text.end(), answer.ids.begin(), answer.ids.end());
  if (!answer.ended) text.pop_back();
  LastLooks probe;
  ModelInput in = input_of(at::tensor(text).unsqueeze(0));
  in.source = {.ids = at::tensor(prompt.source).unsqueeze(0),
               .at = consecutive(0, static_cast<int64_t>(prompt.source.size()), at::kCPU)};
  in.probe = &probe;
  model.forward(in);
  const auto first = static_cast<int64_t>(prompt.ids.size()) - 1;
  return probe.last.slice(0, first).sum(0).clamp_max(1.0).log().sum().item<double>();
}

Answers answers_with(double coverage_penalty, Stopping stopping) {
  TableModel model = two_answers();
  return generate(
      model, {{.ids = {2}, .source = {1, 2}}},
      {.max_new_tokens = 5,
       .beam = {.width = 2, .length_penalty = 0.0, .stopping = stopping, .coverage_penalty = coverage_penalty},
       .n_best = 2,
       .stop = {kStop}});
}

}  // namespace

TEST_CASE("coverage: a token of the source that was looked at half costs log 0.5, and more than once nothing",
          "[golden]") {
  for (const Stopping stopping : {Stopping::first, Stopping::estimate, Stopping::best}) {
    const auto without = answers_with(0.0, stopping).at(0), with = answers_with(0.75, stopping).at(0);
    CHECK(without.at(0).ids == Tokens{1});
    CHECK(without.at(0).score == Approx(std::log(0.6)));
    CHECK(with.at(0).ids == Tokens{2});  // both had 0.5 + 0.5
    CHECK(with.at(0).score == Approx(std::log(0.4)));
    CHECK(with.at(1).ids == Tokens{1});  // 0.5 + 1, of which 1 counts, and 0.5
    CHECK(with.at(1).score == Approx(std::log(0.6) + 0.75 * std::log(0.5)));
    CHECK(with.at(1).log_probability == Approx(std::log(0.6)));
  }
}

TEST_CASE("coverage: what was looked at sums to one a token over its own source, whoever is in the batch", "[unit]") {
  const auto model = pair_that_looks();
  Session session(*model, {{1, 2, 3, 4}, {5, 6}}, Watch::source);
  session.append({{1}, {1}});
  session.keep_rows({1, 0});
  session.append({{2}, {3}});
  const Tensor looks = session.source_weights();
  REQUIRE(looks.sizes().vec() == std::vector<int64_t>{2, 4});
  for (int64_t row = 0; row < 2; ++row) CHECK(looks[row].sum().item<double>() == Approx(1.0));
  CHECK(looks[0][2].item<double>() == 0.0);  // padding
  CHECK(looks[1][2].item<double>() > 0.0);
  Session alone(*model, {{5, 6}}, Watch::source);
  alone.append({{1}});
  alone.append({{2}});
  for (int64_t i = 0; i < 2; ++i)
    CHECK(looks[0][i].item<double>() == Approx(alone.source_weights()[0][i].item<double>()).epsilon(1e-5));
}

TEST_CASE("coverage: scores are those of whole texts without a cache, alone and in a batch", "[unit]") {
  const auto model = pair_that_looks();
  const GenerateConfig config{.max_new_tokens = 6, .beam = {.width = 3, .coverage_penalty = 0.4}, .stop = {kStop}};
  const std::vector<Prompt> prompts{
      {.ids = {1}, .source = {1, 2, 3, 4}}, {.ids = {1, 3}, .source = {5, 6}}, {.ids = {2}, .source = {7, 7, 1}}};
  const Answers together = generate(*model, prompts, config);
  for (size_t i = 0; i < prompts.size(); ++i) {
    CAPTURE(i);
    const Answer &answer = together[i][0], alone = generate(*model, {prompts[i]}, config)[0][0];
    CHECK(answer.ids == alone.ids);
    CHECK(answer.score == Approx(alone.score));
    const auto length = static_cast<double>(answer.ids.size() + (answer.ended ? 1 : 0));
    CHECK(answer.score == Approx(answer.log_probability / length + 0.4 * log_coverage(*model, prompts[i], answer)));
  }
}

TEST_CASE("coverage: needs beams, a source, and attention to it", "[unit]") {
  CHECK(contains(thrown<ConfigError>([] { check({.beam = {.coverage_penalty = 0.2}}); }), "give beam.width too"));
  CHECK(contains(thrown<ConfigError>([] { check({.beam = {.width = 2, .coverage_penalty = -0.2}}); }),
                 "beam.coverage_penalty must be a number of at least 0"));
  const GenerateConfig config{.max_new_tokens = 2, .beam = {.width = 2, .coverage_penalty = 0.2}};
  TableModel reads_none(3, drawn_rule(3, 1.0));
  CHECK(contains(thrown<ConfigError>([&] { generate(reads_none, {{.ids = {1}}}, config); }), "the model reads none"));
  TableModel shows_nothing(3, drawn_rule(3, 1.0), /*reads_source=*/true);
  CHECK(contains(thrown<ConfigError>([&] { generate(shows_nothing, {{.ids = {1}, .source = {1}}}, config); }),
                 "it is for model.kind: encoder_decoder"));
}

}  // namespace ordo::test
