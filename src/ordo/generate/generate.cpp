// SPDX-License-Identifier: Apache-2.0
#include "ordo/generate/generate.h"

#include <ATen/ops/logsumexp.h>

#include <algorithm>
#include <utility>

#include "ordo/core/errors.h"
#include "ordo/generate/beam.h"
#include "ordo/generate/processors.h"
#include "ordo/generate/prompts.h"
#include "ordo/generate/sampling.h"
#include "ordo/generate/session.h"

namespace ordo {

namespace {

// Rows that still grow, in one session: each draw of each prompt is one. Those that end leave.
class Generation {
 public:
  Generation(const Ensemble& models, const std::vector<Prompt>& prompts, const GenerateConfig& config)
      : prompts_(prompts), config_(config), session_(models, sources_of(prompts)) {
    for (int64_t prompt = 0; prompt < static_cast<int64_t>(prompts.size()); ++prompt)
      for (int64_t sample = 0; sample < config.samples; ++sample)
        rows_.push_back({.prompt = prompt, .sample = sample, .text = prompts[static_cast<size_t>(prompt)].ids});
    for (size_t row = 0; row < rows_.size(); ++row) live_.push_back(row);
  }

  Answers run(const OnToken& on_token) {
    Tensor logits = prompts_read();
    for (int64_t step = 0; take_tokens(logits, step, on_token) && step + 1 < config_.max_new_tokens; ++step)
      logits = session_.append(newest_tokens());
    Answers answers(prompts_.size());
    for (Row& row : rows_) answers[static_cast<size_t>(row.prompt)].push_back(std::move(row.answer));
    return answers;
  }

 private:
  struct Row {
    int64_t prompt, sample;
    std::vector<int64_t> text;  // prompt and what followed
    Answer answer = {};
  };

  // A prompt is read once, however many answers it gets.
  Tensor prompts_read() {
    TokenRows texts;
    std::vector<int64_t> readers;
    for (const Prompt& prompt : prompts_) texts.push_back(prompt.ids);
    for (const Row& row : rows_) readers.push_back(row.prompt);
    const Tensor logits = session_.append(texts);
    session_.keep_rows(readers);
    return config_.samples == 1 ? logits : logits.repeat_interleave(config_.samples, 0);
  }

  TokenRows newest_tokens() const {
    TokenRows tokens;
    for (const size_t row : live_) tokens.push_back({rows_[row].text.back()});
    return tokens;
  }

  // One token for each live row, from logits [live rows, V]; rows that end leave the session. False: none is left, or
  // the listener has heard enough.
  bool take_tokens(const Tensor& logits, int64_t step, const OnToken& on_token) {
    const Tensor totals = at::logsumexp(logits, 1);
    std::vector<size_t> staying;
    std::vector<int64_t> places;
    for (size_t i = 0; i < live_.size(); ++i) {
      const double* const first = logits.const_data_ptr<double>() + static_cast<int64_t>(i) * logits.size(1);
      Row& row = rows_[live_[i]];
      const auto id = choose({first, static_cast<size_t>(usable_ids(logits.size(1), config_))}, row, step);
      if (!id) continue;
      row.answer.log_probability += first[*id] - totals.const_data_ptr<double>()[i];
      row.answer.score = row.answer.log_probability;
      row.answer.ended = std::find(config_.stop.begin(), config_.stop.end(), *id) != config_.stop.end();
      if (row.answer.ended) continue;
      row.text.push_back(*id);
      row.answer.ids.push_back(*id);
      staying.push_back(live_[i]);
      places.push_back(static_cast<int64_t>(i));
      if (on_token && !on_token(static_cast<int64_t>(live_[i]), *id)) return false;
    }
    if (!staying.empty()) session_.keep_rows(places);
    live_ = std::move(staying);
    return !live_.empty();
  }

  // Nothing: the settings leave nothing to choose from.
  std::optional<int64_t> choose(std::span<const double> logits, const Row& row, int64_t step) const {
    const Prompt& prompt = prompts_[static_cast<size_t>(row.prompt)];
    return next_token(logits, {.text = row.text, .fresh = step, .prefix = prompt.prefix},
                      {.prompt = row.prompt, .sample = row.sample, .step = step}, config_);
  }

  const std::vector<Prompt>& prompts_;
  const GenerateConfig& config_;
  Session session_;
  std::vector<Row> rows_;
  std::vector<size_t> live_;  // rows in the session, in its order
};

void keep_best(Answers& answers, int64_t n) {
  for (auto& of_prompt : answers) {
    std::stable_sort(of_prompt.begin(), of_prompt.end(),
                     [](const Answer& a, const Answer& b) { return a.score > b.score; });
    of_prompt.resize(static_cast<size_t>(n));
  }
}

}  // namespace

Answers generate(const Ensemble& models, const std::vector<Prompt>& prompts, const GenerateConfig& config,
                 const OnToken& on_token) {
  check(config);
  require_prompts(models, prompts, config);
  const bool beam = config.beam.width > 0;
  require(!beam || !on_token, "nobody can listen to a beam search: its tokens are settled at the end");
  const int64_t wanted = config.n_best > 0 ? config.n_best : config.samples;
  if (prompts.empty() || config.max_new_tokens == 0)
    return Answers(prompts.size(), std::vector<Answer>(static_cast<size_t>(wanted)));
  if (beam) return beam_search(models, prompts, config);
  Answers answers = Generation(models, prompts, config).run(on_token);
  if (config.n_best > 0) keep_best(answers, config.n_best);
  return answers;
}

}  // namespace ordo
