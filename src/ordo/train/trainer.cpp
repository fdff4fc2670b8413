// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/trainer.h"

#include <ATen/Context.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "ordo/core/log.h"
#include "ordo/core/text.h"
#include "ordo/train/evaluate.h"
#include "ordo/train/jsonl.h"
#include "ordo/train/judge.h"
#include "ordo/train/memory.h"
#include "ordo/train/saver.h"
#include "ordo/train/update.h"
#include "ordo/train/weights.h"

namespace ordo {

namespace {
using TrainClock = std::chrono::steady_clock;
constexpr int64_t kBatchesAhead = 2;
constexpr int64_t kMostSkippedInARow = 25;  // then the data or the model is at fault, not a batch

double seconds_since(TrainClock::time_point begin) {
  return std::chrono::duration<double>(TrainClock::now() - begin).count();
}

// LibTorch's switches are of the process, not of a trainer.
void set_switches(const TrainConfig& c) {
  auto& context = at::globalContext();
  if (c.deterministic) {
    context.setDeterministicAlgorithms(true, /*warn_only=*/false);
    context.setDeterministicFillUninitializedMemory(false);
    context.setDeterministicCuDNN(true);
    context.setBenchmarkCuDNN(false);
  }
  if (c.tf32) context.setFloat32MatmulPrecision("high");
}

std::vector<bool> recompute_flags(const RunConfig& config, const Model& model) {
  const double tokens = static_cast<double>(rows_of(config.train) * config.train.length);
  const double half = config.train.precision == Precision::fp32 ? 1.0 : 0.5;
  const double bytes = model.cost(config.train.length).activation_bytes_per_token * tokens * half;
  return recompute_policies()
      .build(config.train.recompute, {.layers = model.layers(), .activation_bytes = bytes})
      ->blocks();
}

StreamOptions training_stream(const RunConfig& config) {
  return {.split = Split::train,
          .batch_size = rows_of(config.train),
          .length = config.train.length,
          .seed = config.seed(),
          .training = true};
}

HorizonFacts horizon_facts(const RunConfig& config, const BatchStream& stream) {
  const auto accumulate = static_cast<double>(config.train.accumulate);
  return {.steps_per_epoch = stream.batches_per_epoch() / accumulate,
          .tokens_per_step = static_cast<double>(rows_of(config.train) * config.train.length) * accumulate};
}

ScheduleFacts schedule_facts(const RunConfig& config, const Model& model, const HorizonFacts& h) {
  return {.steps = horizon_steps(config.train.steps, h),
          .dim = model.dim(),
          .steps_per_epoch = h.steps_per_epoch,
          .tokens_per_step = h.tokens_per_step};
}
}  // namespace

struct Trainer::Inside {
  Inside(const RunConfig& run_config, TrainerParts trainer_parts);

  StepReport step();
  RunReport run();
  CheckpointContent content() const;
  void restore(const CheckpointContent& from, std::string_view what);
  std::vector<EvalReport> evaluate(Split split);

  std::vector<Batch> next_batches();
  void settle(const UpdateReport& update);
  void roll_back(const std::string& why);
  void load_weights(const CheckpointContent& from);
  void require_same_data(const TrainState& saved) const;
  bool judge(EvalReport& report);
  void evaluate_now();
  std::set<Split> judged_splits() const;
  bool due(int64_t every) const { return every > 0 && state.step % every == 0; }
  bool stop_asked() const { return parts.stop != nullptr && parts.stop->load(); }
  bool no_longer_improves() const {
    return config.train.early_stop && state.without_improvement >= config.train.early_stop->patience;
  }
  void save_now();
  void tell_saved(const std::vector<fs::path>& folders);
  RunReport finish(RunReport::End end, TrainClock::time_point began);
  template <class Call>
  void tell(Call call) {
    for (Observer* o : parts.observers) call(*o);
  }

  RunConfig config;
  TrainerParts parts;
  std::unique_ptr<BatchStream> stream;
  HorizonFacts horizons;
  ScheduleFacts facts;
  Updater updater;
  TrainState state;
  std::optional<MetricChoice> best_by, early_by;
  std::optional<Saver> saver;
  int64_t saved_step = -1;  // of the newest checkpoint of this state
  fs::path last_checkpoint;
  std::optional<CheckpointContent> good;  // on_nonfinite: rollback: where to go back to
  int64_t skipped_in_a_row = 0;
  bool best_is_new = false;
};

Trainer::Inside::Inside(const RunConfig& run_config, TrainerParts trainer_parts)
    : config(run_config),
      parts(std::move(trainer_parts)),
      stream(prefetched(parts.task->open(training_stream(config)), kBatchesAhead)),
      horizons(horizon_facts(config, *stream)),
      facts(schedule_facts(config, *parts.model, horizons)),
      updater(config, *parts.model, facts),
      best_by(MetricChoice::parse(config.checkpoint.best)) {
  set_switches(config.train);
  if (config.train.early_stop) early_by = MetricChoice::parse(config.train.early_stop->metric);
  parts.model->train();
  parts.model->recompute(recompute_flags(config, *parts.model));
  state.data_fingerprint = hash_text(parts.task->fingerprint());
  if (const Tokenizer* tokenizer = parts.task->tokenizer())
    state.tokenizer_fingerprint = hash_text(tokenizer->fingerprint());
  if (!parts.run.empty()) saver.emplace(parts.run, config.checkpoint.keep);
  if (config.train.on_nonfinite == OnNonfinite::rollback) good = content();
}

// ---- one step ----

StepReport Trainer::Inside::step() {
  const auto began = TrainClock::now();
  const int64_t epoch = stream->epoch();
  const auto batches = next_batches();
  const UpdateReport update = updater.update(*parts.task, *parts.model, batches, state.updates);
  int64_t tokens = 0;
  for (const auto& b : batches) tokens += b.tokens();
  ++state.step;
  state.tokens += tokens;
  settle(update);
  const double seconds = seconds_since(began);
  return {.step = state.step,
          .tokens = state.tokens,
          .epoch = epoch,
          .step_tokens = tokens,
          .loss = update.loss,
          .lr = update.lr,
          .grad_norm = update.grad_norm,
          .loss_scale = update.loss_scale,
          .skipped = !update.moved || update.broken,
          .skipped_in_all = state.skipped,
          .seconds = seconds,
          .tokens_per_second = static_cast<double>(tokens) / std::max(seconds, 1e-9),
          .peak_memory = peak_memory(parts.device)};
}

std::vector<Batch> Trainer::Inside::next_batches() {
  std::vector<Batch> batches;
  for (int64_t micro = 0; micro < config.train.accumulate; ++micro) {
    auto batch = stream->next();
    ORDO_ASSERT(batch.has_value());  // training streams have no end
    batch->draw = {.seed = config.seed(), .step = state.step + 1, .micro = micro};
    batches.push_back(to_device(*batch, parts.device));
  }
  return batches;
}

// Counts the update, or does what on_nonfinite says. Data that was read stays read: steps and tokens go on.
void Trainer::Inside::settle(const UpdateReport& update) {
  if (update.moved && !update.broken) {
    ++state.updates;
    skipped_in_a_row = 0;
    return;
  }
  ++state.skipped;
  ++skipped_in_a_row;
  if (update.overflowed) {
    log::info("step {}: gradients overflowed under the loss scale {}, the update is skipped and the scale is now {}",
              state.step, number_text(update.loss_scale), number_text(updater.scaler().scale()));
    return;
  }
  const auto policy = config.train.on_nonfinite;
  const std::string what = fmt::format("step {}: {}", state.step, update.nonfinite);
  require<NumericError>(policy != OnNonfinite::stop,
                        "{}. The run stops (train.on_nonfinite: stop); its checkpoints are from before. Lower "
                        "train.optimizer.lr, lengthen the "
                        "warm-up or set train.clip; or let the run go on with train.on_nonfinite: skip or rollback",
                        what);
  require<NumericError>(skipped_in_a_row < kMostSkippedInARow,
                        "{}. This was the {}th time in a row, so it is no matter of a single batch: look at the data, "
                        "lower train.optimizer.lr",
                        what, skipped_in_a_row);
  if (policy == OnNonfinite::rollback) return roll_back(what);
  require<NumericError>(
      !update.broken, "{}. Skipping cannot mend weights: train.on_nonfinite: rollback goes back to the last checkpoint",
      what);
  log::warn("{}; the update is skipped ({} so far)", what, state.skipped);
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

// ---- state ----

CheckpointContent Trainer::Inside::content() const {
  TrainState now = state;
  now.data = json_line(stream->state());
  now.scaler = json_line(updater.scaler().state());
  CheckpointContent all{.model = copies_of(weights_of(*parts.model)),
                        .optimizer = copies_of(updater.optimizer().state()),
                        .ema = {},
                        .state = state_text(now),
                        .config = resolved_yaml(config),
                        .tokenizer = {}};
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

void Trainer::Inside::restore(const CheckpointContent& from, std::string_view what) {
  TrainState saved = parse_state(from.state, what);
  require<ConfigError>(saved.step <= facts.steps,
                       "train.steps ({}) lies before the checkpoint's step ({}): raise train.steps, or start a new run",
                       facts.steps, saved.step);
  require_same_data(saved);
  load_weights(from);
  stream->restore(parse_json(saved.data, "the place in the data"));
  updater.scaler().restore(parse_json(saved.scaler, "the loss scaler's state"));
  saved.data_fingerprint = state.data_fingerprint;
  state = std::move(saved);
  if (good) good = content();
}

// ---- evaluation ----

std::vector<EvalReport> Trainer::Inside::evaluate(Split split) {
  const Ema::Scope averaged(updater.ema());
  auto reports = evaluate_lengths(*parts.task, *parts.model, evaluate_options(config, split));
  for (auto& r : reports) r.step = state.step;
  return reports;
}

std::set<Split> Trainer::Inside::judged_splits() const {
  std::set<Split> splits{Split::validation};
  if (best_by) splits.insert(best_by->split);
  if (early_by) splits.insert(early_by->split);
  std::erase_if(splits, [&](Split s) { return !parts.task->has(s); });
  return splits;
}

// Takes the evaluation at the trained length into account; true when it is the best so far.
bool Trainer::Inside::judge(EvalReport& report) {
  if (early_by && report.split == early_by->split) {
    const auto value = early_by->of(report.split, report.evaluation.metrics);
    const bool improved =
        value && (!state.early_best || early_by->better(*value, *state.early_best, config.train.early_stop->min_delta));
    if (improved) state.early_best = value;
    state.without_improvement = improved ? 0 : state.without_improvement + 1;
  }
  if (!best_by) return false;
  const auto value = best_by->of(report.split, report.evaluation.metrics);
  if (!value || (state.best && !best_by->better(*value, *state.best))) return false;
  state.best = value;
  state.best_step = state.step;
  return report.best = best_is_new = true;
}

void Trainer::Inside::evaluate_now() {
  for (const Split split : judged_splits()) {
    auto reports = evaluate(split);
    const auto trained = std::find_if(reports.begin(), reports.end(),
                                      [&](const EvalReport& r) { return r.length == config.train.length; });
    const auto served =
        std::find_if(reports.begin(), reports.end(), [](const EvalReport& r) { return r.refused.empty(); });
    if (const auto judged = trained != reports.end() ? trained : served; judged != reports.end()) judge(*judged);
    for (const auto& r : reports) tell([&](Observer& o) { o.evaluated(r); });
  }
  state.evaluated = state.step;
  saved_step = -1;  // a checkpoint of this step, from a stop before its evaluation, lacks the verdict
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
  saver->save(state.step, std::move(now), std::exchange(best_is_new, false));
  saved_step = state.step;
}

void Trainer::Inside::tell_saved(const std::vector<fs::path>& folders) {
  for (const auto& folder : folders) {
    last_checkpoint = folder;
    tell([&](Observer& o) { o.saved(folder); });
  }
}

// ---- the loop ----

RunReport Trainer::Inside::run() {
  const auto began = TrainClock::now();
  const int64_t evaluate_every = horizon_steps(config.evaluate.every, horizons);
  const int64_t save_every = horizon_steps(config.checkpoint.every, horizons);
  if (state.step == facts.steps && state.evaluated == state.step) {
    log::info("the run is complete: step {} of {}; raise train.steps to go on", state.step, facts.steps);
    return finish(RunReport::End::done, began);
  }
  if (!parts.run.empty()) write_file(parts.run / "config.yaml", resolved_yaml(config));
  tell([&](Observer& o) { o.started(config, state.step, facts.steps); });
  while (true) {
    const bool last = state.step >= facts.steps;
    const bool to_evaluate = state.step > state.evaluated && (last || due(evaluate_every));
    if (stop_asked() && (!last || to_evaluate)) {
      save_now();
      return finish(RunReport::End::stopped_by_signal, began);
    }
    if (to_evaluate) evaluate_now();
    if (last || no_longer_improves()) break;
    if (state.step > 0 && (due(save_every) || best_is_new)) save_now();
    if (saver) tell_saved(saver->written());
    const StepReport report = step();
    tell([&](Observer& o) { o.stepped(report); });
  }
  save_now();
  return finish(state.step >= facts.steps ? RunReport::End::done : RunReport::End::early_stop, began);
}

RunReport Trainer::Inside::finish(RunReport::End end, TrainClock::time_point began) {
  if (saver) tell_saved(saver->finish());
  const RunReport report{.end = end,
                         .step = state.step,
                         .steps = facts.steps,
                         .best = state.best,
                         .run = parts.run,
                         .last_checkpoint = last_checkpoint,
                         .peak_memory = peak_memory(parts.device),
                         .seconds = seconds_since(began)};
  tell([&](Observer& o) { o.finished(report); });
  return report;
}

// ---- the outside ----

Trainer::Trainer(const RunConfig& config, TrainerParts parts)
    : inside_(std::make_unique<Inside>(config, std::move(parts))) {}
Trainer::~Trainer() = default;

StepReport Trainer::step() {
  try {
    return inside_->step();
  } catch (...) {
    rethrow_explained(inside_->config, *inside_->parts.model);
  }
}

RunReport Trainer::run() {
  try {
    return inside_->run();
  } catch (...) {
    rethrow_explained(inside_->config, *inside_->parts.model);
  }
}

int64_t Trainer::steps() const { return inside_->facts.steps; }
const TrainState& Trainer::state() const { return inside_->state; }
CheckpointContent Trainer::content() const { return inside_->content(); }
Model& Trainer::model() { return *inside_->parts.model; }
std::vector<EvalReport> Trainer::evaluate(Split split) { return inside_->evaluate(split); }

void Trainer::restore(const CheckpointContent& content) { inside_->restore(content, "the training state"); }

void Trainer::restore(const Checkpoint& checkpoint) {
  const std::string what = (checkpoint.folder() / "state.json").string();
  inside_->restore({.model = checkpoint.model(),
                    .optimizer = checkpoint.optimizer(),
                    .ema = checkpoint.ema(),
                    .state = checkpoint.state(),
                    .config = checkpoint.config(),
                    .tokenizer = {}},
                   what);
  const fs::path& run = inside_->parts.run;
  if (run.empty()) return;
  if (fs::weakly_canonical(checkpoint.folder().parent_path()) == fs::weakly_canonical(run)) {
    inside_->saved_step = inside_->state.step;
    inside_->last_checkpoint = checkpoint.folder();
  }
  trim_metrics(run / kMetricsFile, inside_->state.step);
}

}  // namespace ordo
