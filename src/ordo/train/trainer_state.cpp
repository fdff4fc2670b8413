// SPDX-License-Identifier: Apache-2.0
// A Trainer's state: what a checkpoint holds, how it is restored, judged and saved.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "ordo/checkpoint/weights.h"
#include "ordo/core/log.h"
#include "ordo/train/evaluate.h"
#include "ordo/train/inside.h"
#include "ordo/train/weights.h"

namespace ordo {

// ---- state ----

namespace {
NamedTensors named(const SegmentMemory& memory) {
  NamedTensors all;
  for (size_t i = 0; i < memory.hidden.size(); ++i) all.emplace_back(fmt::format("blocks.{:04}", i), memory.hidden[i]);
  return all;
}
}  // namespace

CheckpointContent Trainer::Inside::content() const {
  TrainState now = state;
  now.data = json_line(stream->state());
  now.scaler = json_line(updater.scaler().state());
  CheckpointContent all{.model = copies_of(weights_of(*parts.model)),
                        .optimizer = copies_of(updater.optimizer().state()),
                        .ema = {},
                        .state = state_text(now),
                        .config = resolved_yaml(config),
                        .tokenizer = {},
                        .memory = copies_of(named(memory))};
  if (const Ema* ema = updater.ema()) all.ema = copies_of(ema->state());
  if (parts.task->tokenizer() != nullptr)
    all.tokenizer = [task = parts.task](const fs::path& folder) { task->tokenizer()->save(folder); };
  return all;
}

void Trainer::Inside::load_weights(const CheckpointContent& from) {
  load_into(from.model, weights_of(*parts.model), "the model's weights");
  updater.optimizer().restore(from.optimizer);
  Ema* ema = updater.ema();
  if (ema != nullptr && from.ema.empty()) {
    log::info("the checkpoint has no averaged weights (train.ema was 0): the average starts from its weights");
    updater.restart_ema();
  } else if (ema != nullptr) {
    ema->restore(from.ema);
  }
}

// Rows that go on do so with what stood before them when the checkpoint was written.
void Trainer::Inside::restore_memory(const NamedTensors& saved) {
  memory.hidden.clear();
  if (parts.model->kept_tokens() == 0) return;  // of another model.memory
  for (const auto& [name, hidden] : saved) {
    require<CheckpointError>(hidden.dim() == 3 && std::ssize(saved) == parts.model->layers() &&
                                 hidden.size(0) == rows_of(config.train) && hidden.size(2) == parts.model->dim(),
                             "the checkpoint's memory of the segments before, {} blocks of {} rows, does not fit {} "
                             "blocks and train.batch_size ({}): start a new run",
                             saved.size(), hidden.dim() > 0 ? hidden.size(0) : 0, parts.model->layers(),
                             rows_of(config.train));
    memory.hidden.push_back(hidden.to(parts.device));
  }
}

void Trainer::Inside::require_same_data(const TrainState& saved) const {
  require<CheckpointError>(saved.tokenizer_fingerprint == state.tokenizer_fingerprint,
                           "the checkpoint was trained with another tokenizer ({}, now {}): its token ids mean "
                           "something else. Start a new run",
                           saved.tokenizer_fingerprint, state.tokenizer_fingerprint);
  if (saved.data_fingerprint == state.data_fingerprint) return;
  require<CheckpointError>(parts.force,
                           "the training data is not what the checkpoint was trained on ({}, now {}). Give the same "
                           "data, start a new run, or "
                           "go on with --force",
                           saved.data_fingerprint, state.data_fingerprint);
  log::warn("the training data is not what the checkpoint was trained on; going on with --force");
}

// What was the best by another metric says nothing about this one.
void Trainer::Inside::keep_verdicts_of_same_metrics(TrainState& saved) const {
  if (!saved.best_by.empty() && saved.best_by != state.best_by) saved.best.reset();
  if (!saved.early_by.empty() && saved.early_by != state.early_by) {
    saved.early_best.reset();
    saved.without_improvement = 0;
  }
  saved.best_by = state.best_by;
  saved.early_by = state.early_by;
}

void Trainer::Inside::restore(const CheckpointContent& from, std::string_view what) {
  TrainState saved = parse_state(from.state, what);
  require<ConfigError>(saved.step <= facts.steps,
                       "train.steps ({}) lies before the checkpoint's step ({}): raise train.steps, or start a new run",
                       facts.steps, saved.step);
  require_same_data(saved);
  load_weights(from);
  restore_memory(from.memory);
  stream->restore(parse_json(saved.data, "the place in the data"));
  updater.scaler().restore(parse_json(saved.scaler, "the loss scaler's state"));
  saved.data_fingerprint = state.data_fingerprint;
  keep_verdicts_of_same_metrics(saved);
  state = std::move(saved);
  if (good) good = content();
}

// ---- evaluation ----

std::vector<EvalReport> Trainer::Inside::evaluate(Split split, const std::atomic<bool>* stop) {
  const Ema::Scope averaged(updater.ema());
  EvaluateOptions options = evaluate_options(config, split);
  options.stop = stop;
  auto reports = evaluate_lengths(*parts.task, *parts.model, options);
  for (auto& r : reports) r.step = state.step;
  return reports;
}

// Nothing is told or judged before all splits are through: what a stop cut short is made again as a whole.
bool Trainer::Inside::evaluate_now() {
  const TrainState before = state;
  const Judge unmoved = judge;
  try {
    return judged_now();
  } catch (...) {  // what was trained is kept: a run that is mended goes on with this evaluation
    state = before;
    judge = unmoved;
    save_unjudged();
    throw;
  }
}

// Why an evaluation failed matters more than that its step could not be saved.
void Trainer::Inside::save_unjudged() {
  if (!saver) return;
  try {
    save_now();
    tell_saved(saver->finish());
    log::warn("the evaluation failed; step {} is saved before the run ends", state.step);
  } catch (const std::exception& error) {
    log::warn("the evaluation failed, and step {} could not be saved: {}", state.step, error.what());
  }
}

bool Trainer::Inside::judged_now() {
  std::vector<std::vector<EvalReport>> all;
  for (const Split split : judge.splits()) {
    if (!parts.task->has(split)) continue;
    all.push_back(evaluate(split, parts.stop));
    if (all.back().empty()) return false;
  }
  for (auto& reports : all) {
    const auto trained = std::find_if(reports.begin(), reports.end(),
                                      [&](const EvalReport& r) { return r.length == config.train.length; });
    const auto served =
        std::find_if(reports.begin(), reports.end(), [](const EvalReport& r) { return r.refused.empty(); });
    if (const auto judged = trained != reports.end() ? trained : served; judged != reports.end())
      judge.judge(*judged, state);
    for (const auto& r : reports) tell([&](Observer& o) { o.evaluated(r); });
  }
  state.evaluated = state.step;
  saved_step = -1;  // a checkpoint of this step, from a stop before its evaluation, lacks the verdict
  return true;
}

// ---- checkpoints ----

void Trainer::Inside::save_now() {
  if (!saver || saved_step == state.step) return;
  const auto broken = first_nonfinite(weights_of(*parts.model));
  require<NumericError>(!broken,
                        "step {}: the weights {} are not finite, so no checkpoint is written; earlier ones are intact",
                        state.step, broken.value_or(""));
  CheckpointContent now = content();
  if (good) good = now;
  tell([&](Observer& o) { o.saving(parts.run / checkpoint_name(state.step)); });
  saver->save(state.step, std::move(now), judge.take_new_best());
  saved_step = state.step;
}

void Trainer::Inside::tell_saved(const std::vector<fs::path>& folders) {
  for (const auto& folder : folders) {
    last_checkpoint = folder;
    tell([&](Observer& o) { o.saved(folder); });
  }
}

void Trainer::Inside::roll_back(const std::string& why) {
  ORDO_ASSERT(good.has_value());
  const TrainState then = parse_state(good->state, "the state kept for a rollback");
  load_weights(*good);
  updater.scaler().restore(parse_json(then.scaler, "the scaler kept for a rollback"));
  state.updates = then.updates;
  log::warn("{}; weights, optimiser and averages are those of step {} again, and the run goes on past this batch", why,
            then.step);
}

}  // namespace ordo
