// SPDX-License-Identifier: Apache-2.0
// Models without attention, and recurrent encoder-decoders, write in batches, sessions and beams, each row as if alone.
#include "support/baselines.h"
#include "support/catch.h"

#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>

#include "ordo/generate/score.h"
#include "ordo/generate/session.h"
#include "small_models.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

const std::vector<Prompt> kShortSources{{.ids = {1}, .source = {1, 2, 3, 4}},
                                        {.ids = {1, 2}, .source = {10, 9, 8, 7, 6, 5, 4}},
                                        {.ids = {4, 5, 6}, .source = {3}}};

// Log-probabilities of what may follow: the whole text anew, of one row, without a cache and without padding.
Tensor likely_next(Model& model, const Prompt& prompt, const Row& text) {
  const auto whole = [](const Row& row) { return at::tensor(row, at::kLong).unsqueeze(0); };
  ModelInput in = input_of(whole(text));
  if (!prompt.source.empty())
    in.source = {.ids = whole(prompt.source), .at = consecutive(0, std::ssize(prompt.source), at::kCPU)};
  const Tensor hidden = evaluated(model, in);
  const c10::NoGradGuard no_gradients;
  return at::log_softmax(model.head().logits(hidden[0][-1]).to(at::kDouble), 0);
}

void check_greedy(const std::string& kind, const std::vector<Prompt>& prompts) {
  CAPTURE(kind);
  const auto model = baseline(kind);
  const Answers answers = generate(*model, prompts, {.max_new_tokens = 6, .greedy = true, .stop = {}});
  for (size_t row = 0; row < prompts.size(); ++row) {
    Row text = prompts[row].ids;
    double sum = 0.0;
    for (const int64_t id : answers[row][0].ids) {
      const Tensor next = likely_next(*model, prompts[row], text);
      CHECK(next.argmax().item().toLong() == id);
      sum += next[id].item().toDouble();
      text.push_back(id);
    }
    CHECK(answers[row][0].log_probability == Approx(sum).margin(1e-4));
  }
}

void check_beams(const std::string& kind, const std::vector<Prompt>& prompts) {
  CAPTURE(kind);
  const auto model = baseline(kind);
  const GenerateConfig config{.max_new_tokens = 6, .beam = {.width = 3}, .n_best = 2, .stop = {4}};
  const Answers together = generate(*model, prompts, config);
  for (size_t row = 0; row < prompts.size(); ++row) {
    const auto alone = answers_to(*model, prompts[row], config);
    REQUIRE(alone.size() == together[row].size());
    for (size_t i = 0; i < alone.size(); ++i) {
      CHECK(together[row][i].ids == alone[i].ids);
      CHECK(together[row][i].score == Approx(alone[i].score).margin(1e-4));
    }
  }
}

}  // namespace

TEST_CASE("models without attention write of uneven prompts in one batch what they write of each without a cache",
          "[unit]") {
  for (const auto& kind : kCausalBaselines) check_greedy(kind, prompts_of(kUneven));
  for (const auto& kind : kPairBaselines) check_greedy(kind, kShortSources);
}

TEST_CASE("beams of models without attention are the same for all prompts in one batch and for each alone", "[unit]") {
  for (const auto& kind : kCausalBaselines) check_beams(kind, prompts_of(kUneven));
  for (const auto& kind : kPairBaselines) check_beams(kind, kShortSources);
}

TEST_CASE("sessions of models without attention grow unevenly, and are cut and go on", "[unit]") {
  for (const auto& kind : kCausalBaselines) {
    CAPTURE(kind);
    const auto model = baseline(kind);
    Session uneven(*model);
    uneven.append({{1, 2, 3}, {4}, {9, 9}});
    uneven.append({{5}, {6, 7, 8}, {1, 1}});
    uneven.keep_rows({1, 1, 0});
    const Tensor next = uneven.append({{2, 3}, {10}, {0}});
    const Rows texts{{4, 6, 7, 8, 2, 3}, {4, 6, 7, 8, 10}, {1, 2, 3, 5, 0}};
    for (int64_t row = 0; row < 3; ++row)
      CHECK(close(next[row], Session(*model).append({texts[static_cast<size_t>(row)]})[0], Tolerance::fp32_sum));
    Session cut(*model);
    cut.append({{1, 2, 3, 4, 5}});
    cut.truncate(2);
    CHECK(close(cut.append({{7, 8}}), Session(*model).append({{1, 2, 7, 8}}), Tolerance::fp32_sum));
  }
}

}  // namespace ordo::test
