// SPDX-License-Identifier: Apache-2.0
// Encoder-decoders write of sources, greedily and by beams, each as if alone.
#include "support/catch.h"

#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>

#include "ordo/generate/score.h"
#include "ordo/models/encoder_decoder.h"
#include "small_models.h"
#include "support/models.h"

namespace ordo::test {

namespace {

std::shared_ptr<EncoderDecoder> small_pair(const std::string& position) {
  EncoderDecoder::Config config;
  static_cast<StackConfig&>(config) = small_config(position);
  config.layers = 2;
  config.max_length = 24;
  config.init.std = 0.5;  // choices differ
  return std::make_shared<EncoderDecoder>(config, ModelFacts{.vocab_size = kSmallVocabulary, .seed = 3});
}

const std::vector<Prompt> kSources{{.ids = {1}, .source = {1, 2, 3, 4}},
                                   {.ids = {1}, .source = {5}},
                                   {.ids = {1, 2}, .source = {10, 9, 8, 7, 6, 5, 4}},
                                   {.ids = {1}, .source = {3, 3}},
                                   {.ids = {4, 5, 6}, .source = {2, 7, 1}},
                                   {.ids = {0}, .source = {0}},
                                   {.ids = {1}, .source = {6, 4}},
                                   {.ids = {1}, .source = {9, 9, 9, 9, 9}}};

// The whole text anew, of one row, without a cache and without padding: log-probabilities of what may follow.
Tensor foretold(EncoderDecoder& model, const Row& text, const Row& source) {
  const c10::NoGradGuard no_gradients;
  model.eval();
  const auto whole = [](const Row& row) { return at::tensor(row).unsqueeze(0); };
  ModelInput in = input_of(whole(text));
  in.source = {.ids = whole(source), .at = consecutive(0, static_cast<int64_t>(source.size()), at::kCPU)};
  const Tensor hidden = model.forward(in);
  return at::log_softmax(model.head().logits(hidden[0][-1]).to(at::kDouble), 0);
}

}  // namespace

TEST_CASE("an encoder-decoder writes of uneven sources in one batch what it writes of each without a cache", "[unit]") {
  for (const auto* position : {"sinusoidal", "learned", "rope", "t5_bias"}) {
    CAPTURE(position);
    const auto model = small_pair(position);
    const Answers answers = generate(*model, kSources, {.max_new_tokens = 8, .greedy = true, .stop = {4}});
    for (size_t row = 0; row < kSources.size(); ++row) {
      CAPTURE(row);
      Row text = kSources[row].ids;
      double sum = 0.0;
      const Answer& answer = answers[row][0];
      for (size_t step = 0; step < answer.ids.size() + (answer.ended ? 1 : 0); ++step) {
        const Tensor next = foretold(*model, text, kSources[row].source);
        const int64_t likeliest = next.argmax().item().toLong();
        CHECK(likeliest == (step < answer.ids.size() ? answer.ids[step] : 4));
        sum += next[likeliest].item().toDouble();
        text.push_back(likeliest);
      }
      CHECK(answer.log_probability == Approx(sum).margin(1e-4));
    }
  }
}

TEST_CASE("beams and scores of an encoder-decoder are the same for eight sources in one batch and for each alone",
          "[unit]") {
  for (const auto* position : {"sinusoidal", "learned", "rope", "t5_bias"}) {
    CAPTURE(position);
    const auto model = small_pair(position);
    const GenerateConfig config{.max_new_tokens = 8, .beam = {.width = 3}, .n_best = 2, .stop = {4}};
    const Answers together = generate(*model, kSources, config);
    for (size_t row = 0; row < kSources.size(); ++row) {
      CAPTURE(row);
      const auto alone = answers_to(*model, kSources[row], config);
      REQUIRE(alone.size() == together[row].size());
      for (size_t i = 0; i < alone.size(); ++i) {
        CHECK(together[row][i].ids == alone[i].ids);
        CHECK(together[row][i].score == Approx(alone[i].score).margin(1e-4));
      }
    }
    Rows written = first_ids(together);
    for (size_t row = 0; row < written.size(); ++row)
      if (together[row][0].ended) written[row].push_back(4);
    const auto scores = score(*model, kSources, written);
    for (size_t row = 0; row < scores.size(); ++row)
      CHECK(scores[row].sum == Approx(together[row][0].log_probability).margin(1e-4));
  }
}

}  // namespace ordo::test
