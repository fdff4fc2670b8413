// SPDX-License-Identifier: Apache-2.0
#include "ordo/generate/score.h"

#include <ATen/ops/logsumexp.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ordo/core/errors.h"
#include "ordo/generate/prompts.h"

namespace ordo {

namespace {

// Rows of prompt and continuation without its last token, and where in them (rows one after the other, padded on the
// right) each continued token is foretold.
struct ForcedRows {
  TokenRows texts;
  std::vector<int64_t> places, targets;
};

ForcedRows forced_rows(const std::vector<Prompt>& prompts, const TokenRows& continuations) {
  ForcedRows forced;
  size_t longest = 0;
  for (size_t row = 0; row < prompts.size(); ++row) {
    auto text = prompts[row].ids;
    const auto& more = continuations[row];
    if (!more.empty()) text.insert(text.end(), more.begin(), more.end() - 1);
    longest = std::max(longest, text.size());
    forced.texts.push_back(std::move(text));
  }
  for (size_t row = 0; row < prompts.size(); ++row)
    for (size_t i = 0; i < continuations[row].size(); ++i) {
      forced.places.push_back(static_cast<int64_t>(row * longest + prompts[row].ids.size() - 1 + i));
      forced.targets.push_back(continuations[row][i]);
    }
  return forced;
}

// fp64 on the CPU: the log-probability of each target.
Tensor log_probabilities(Model& model, const ForcedRows& forced, const TokenRows& sources) {
  const c10::Device device = model.head().weight().device();
  const PaddedRows rows = pad_rows(forced.texts, Side::right, device);
  const Tensor hidden = model.forward(
      {.ids = rows.ids, .at = rows.at(), .mask = {.keys = rows.keys}, .source = encoder_input(sources, device)});
  const Tensor wanted = hidden.flatten(0, 1).index_select(0, at::tensor(forced.places).to(device));
  return model.head().token_losses(wanted, at::tensor(forced.targets).to(device)).to(at::kCPU, at::kDouble).neg();
}

void require_continuations(const Ensemble& models, const std::vector<Prompt>& prompts, const TokenRows& continuations) {
  require(prompts.size() == continuations.size(), "{} prompt(s) and {} continuation(s): each needs one", prompts.size(),
          continuations.size());
  TokenRows texts;
  for (size_t row = 0; row < prompts.size(); ++row) {
    require(prompts[row].prefix.empty(), "prompt {} forces first tokens: what is scored is given, nothing is written",
            row + 1);
    texts.push_back(prompts[row].ids);
  }
  require_tokens(texts, models.vocab_size(), "prompt");
  for (size_t row = 0; row < prompts.size(); ++row) {
    if (continuations[row].empty()) continue;
    require_ids(continuations[row], models.vocab_size(), "continuation", row + 1);
    require_length(models, static_cast<int64_t>(prompts[row].ids.size()),
                   static_cast<int64_t>(continuations[row].size()));
  }
}

}  // namespace

std::vector<ContinuationScore> score(const Ensemble& models, const std::vector<Prompt>& prompts,
                                     const TokenRows& continuations) {
  require_continuations(models, prompts, continuations);
  const TokenRows sources = sources_of(prompts);
  if (!prompts.empty()) require_sources(models, sources);
  std::vector<ContinuationScore> scores(prompts.size());
  const ForcedRows forced = forced_rows(prompts, continuations);
  if (forced.targets.empty()) return scores;
  const c10::NoGradGuard no_gradients;
  const EvaluationMode evaluation(models);
  std::vector<Tensor> of_models;
  for (Model* const model : models.models()) of_models.push_back(log_probabilities(*model, forced, sources));
  const Tensor mean =
      at::logsumexp(at::stack(of_models), 0).sub(std::log(static_cast<double>(of_models.size()))).contiguous();
  const double* next = mean.const_data_ptr<double>();
  for (size_t row = 0; row < prompts.size(); ++row) {
    scores[row].tokens.assign(next, next + continuations[row].size());
    next += continuations[row].size();
    scores[row].sum = std::accumulate(scores[row].tokens.begin(), scores[row].tokens.end(), 0.0);
  }
  return scores;
}

}  // namespace ordo
