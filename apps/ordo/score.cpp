// SPDX-License-Identifier: Apache-2.0
#include "score.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ordo/core/text.h"
#include "ordo/generate/prompts.h"
#include "ordo/generate/score.h"

namespace ordo::cli {
namespace {

std::vector<PromptText> answers_of(const ScoreCall& call) {
  std::vector<PromptText> answers;
  for (const auto& text : call.answers) answers.push_back({text, fmt::format("--score {}", answers.size() + 1)});
  if (call.file)
    for (auto& line : lines_of(read_given(*call.file), *call.file)) answers.push_back(std::move(line));
  require<ConfigError>(answers.size() == call.prompts.size(),
                       "{} prompt(s) and {} answer(s) to score: each prompt needs one", call.prompts.size(),
                       answers.size());
  for (const auto& answer : answers) {
    size_t bad = 0;
    require<DataError>(valid_utf8(answer.text, &bad), "{} is not valid UTF-8 at byte {}", answer.where, bad);
  }
  return answers;
}

std::vector<ContinuationScore> scores_of(const ScoreCall& call, const std::vector<PromptText>& answers) {
  const TextWriter& writer = *call.writers.text;
  const auto prompts = encode_each(call.prompts, [&](std::string_view text) { return writer.prompt(text); });
  auto rows = encode_each(answers, [&](std::string_view text) { return writer.answer(text); });
  const auto ends = writer.ends();
  for (auto& row : rows)
    if (!ends.empty()) row.push_back(ends.front());
  const Ensemble models = call.writers.ensemble();
  require_sources(models, sources_of(prompts));  // of all before the first batch
  std::vector<ContinuationScore> scores;
  for (size_t from = 0; from < rows.size(); from += static_cast<size_t>(call.batch)) {
    const size_t to = std::min(rows.size(), from + static_cast<size_t>(call.batch));
    const auto part = [&](const auto& all) {
      return std::decay_t<decltype(all)>(all.begin() + static_cast<std::ptrdiff_t>(from),
                                         all.begin() + static_cast<std::ptrdiff_t>(to));
    };
    for (auto& one : score(models, part(prompts), part(rows))) scores.push_back(std::move(one));
  }
  return scores;
}

double per_token(const ContinuationScore& score) {
  return score.sum / static_cast<double>(std::max<size_t>(score.tokens.size(), 1));
}

void print_table(const std::vector<PromptText>& answers, const std::vector<ContinuationScore>& scores) {
  print(fmt::format("{:>15}  {:>9}  {:>6}  {}\n", "log-probability", "per token", "tokens", "answer"));
  for (size_t i = 0; i < answers.size(); ++i)
    print(fmt::format("{:>15.4f}  {:>9.4f}  {:>6}  {}\n", scores[i].sum, per_token(scores[i]), scores[i].tokens.size(),
                      answers[i].text));
}

}  // namespace

int score_answers(const ScoreCall& call) {
  const auto answers = answers_of(call);
  const auto scores = scores_of(call, answers);
  if (!call.json) {
    print_table(answers, scores);
    return kDone;
  }
  Json document = call.writers.about();
  document["results"] = Json::array();
  for (size_t i = 0; i < answers.size(); ++i)
    document["results"].push_back({{"prompt", call.prompts[i].text},
                                   {"answer", answers[i].text},
                                   {"log_probability", scores[i].sum},
                                   {"per_token", per_token(scores[i])},
                                   {"token_log_probabilities", scores[i].tokens}});
  print_json(document);
  return kDone;
}

}  // namespace ordo::cli
