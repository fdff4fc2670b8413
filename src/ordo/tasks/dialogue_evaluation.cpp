// SPDX-License-Identifier: Apache-2.0
// Answers judged, dialogue by dialogue.
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>

#include "ordo/metrics/likelihood.h"
#include "ordo/metrics/share.h"
#include "ordo/tasks/dialogue_examples.h"
#include "ordo/tasks/measured.h"

namespace ordo {

namespace {

struct AnswerSums {
  double nats = 0.0, right = 0.0, tokens = 0.0, unknown = 0.0;
  int64_t characters = 0;
};

// fp64 on the CPU: the sum of each row [B, L] -> [B].
std::vector<double> row_sums(const Tensor& values) {
  const Tensor sums = values.sum(1, /*keepdim=*/false, at::kDouble).to(at::kCPU).contiguous();
  return {sums.const_data_ptr<double>(), sums.const_data_ptr<double>() + sums.numel()};
}

// Which targets stand for what the tokenizer has not.
Tensor unknown_targets(const Tensor& targets, const DialogueLayout& layout) {
  const Tensor characters = targets.eq(layout.unknown());
  return layout.unknown_word() ? characters.logical_or(targets.eq(*layout.unknown_word())) : characters;
}

// Adds what the model makes of some windows to the sums of their dialogues.
void judge_windows(Model& model, const DialogueExamples& examples, const DialogueLayout& layout,
                   std::span<const uint64_t> numbers, std::vector<AnswerSums>& sums) {
  const c10::NoGradGuard no_gradients;
  const Batch batch = to_device(examples.batch(numbers), model.head().weight().device());
  Tensor correct;
  const Tensor hidden = model.forward(input_of(batch));
  const auto nats = row_sums(model.head().token_losses(hidden, batch.targets, &correct));
  const Tensor unknown = unknown_targets(batch.targets, layout);
  const auto right = row_sums(correct.logical_and(unknown.logical_not()));
  const auto tokens = row_sums(batch.targets.ne(kIgnore)), lacking = row_sums(unknown);
  for (size_t i = 0; i < numbers.size(); ++i) {
    AnswerSums& of = sums[examples.dialogue_of(numbers[i])];
    of.nats += nats[i];
    of.right += right[i];
    of.tokens += tokens[i];
    of.unknown += lacking[i];
    of.characters += examples.characters(numbers[i]);
  }
}

}  // namespace

Evaluation Dialogue::evaluate(Model& model, const StreamOptions& options) const {
  require<ConfigError>(options.stride == 0,
                       "dialogues are judged in windows of whole turns, over which none slides: leave the stride out");
  const auto examples = this->examples(options.split, options.length);
  const auto& dialogues = examples->dialogues();
  std::vector<AnswerSums> sums(dialogues.size());
  for (int64_t from = 0; from < examples->count(); from += options.batch_size) {
    if (options.stop != nullptr && options.stop->load()) return {};
    std::vector<uint64_t> numbers(static_cast<size_t>(std::min(options.batch_size, examples->count() - from)));
    std::iota(numbers.begin(), numbers.end(), static_cast<uint64_t>(from));
    judge_windows(model, *examples, layout(), numbers, sums);
  }
  Likelihood likelihood;
  Share accuracy("accuracy");
  Evaluation made{.protocol = "whole_examples"};
  double unknown = 0.0;
  for (const AnswerSums& of : sums) {
    likelihood.add(of.nats, std::llround(of.tokens), of.characters);
    accuracy.add(of.right, of.tokens);
    made.tokens += of.tokens;
    unknown += of.unknown;
    made.outcomes.accuracy.push_back(of.right / of.tokens);
  }
  measure(likelihood, options, made);
  measure(accuracy, options, made);
  const std::array<const ExampleMetric*, 2> metrics{&likelihood, &accuracy};
  for (size_t i = 0; options.details && i < dialogues.size(); ++i)
    made.rows.push_back(example_line(i, dialogues[i].where, {{"turns", dialogues[i].turns.size()}}, metrics));
  if (examples->cut_turns() > 0)
    made.notes.push_back(fmt::format("{} turns of the {} split are cut: a window of {} tokens has no room for more",
                                     examples->cut_turns(), split_name(options.split), options.length));
  if (unknown > 0.0)
    made.notes.push_back(fmt::format(
        "{:.0f} of the {:.0f} tokens asked stand for what the tokenizer has not: whatever is written there is wrong",
        unknown, made.tokens));
  if (options.details && !texts().left_out.empty()) made.notes.push_back(texts().left_out);
  return made;
}

}  // namespace ordo
