// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/trainer.h"

#include <ATen/Context.h>

#include <algorithm>
#include <utility>

#include "ordo/core/hash.h"
#include "ordo/core/log.h"
#include "ordo/core/text.h"
#include "ordo/ops/device.h"
#include "ordo/train/certified.h"
#include "ordo/train/inside.h"
#include "ordo/train/jsonl.h"
#include "ordo/train/memory.h"

namespace ordo {

namespace {
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
  allow_tf32(c.tf32);
}

StreamOptions training_stream(const RunConfig& config) {
  return {.split = Split::train,
          .batch_size = rows_of(config.train),
          .length = config.train.length,
          .batch_tokens = config.train.batch_tokens,
          .seed = config.seed(),
          .training = true};
}

HorizonFacts horizon_facts(const RunConfig& config, const Task& task, const BatchStream& stream) {
  const auto accumulate = static_cast<double>(config.train.accumulate);
  return {.steps_per_epoch = stream.batches_per_epoch() / accumulate,
          .tokens_per_step =
              static_cast<double>(rows_of(config.train) * task.row_length(config.train.length)) * accumulate};
}

ScheduleFacts schedule_facts(const RunConfig& config, const Model& model, const HorizonFacts& h) {
  return {.steps = horizon_steps(config.train.steps, h),
          .dim = model.dim(),
          .steps_per_epoch = h.steps_per_epoch,
          .tokens_per_step = h.tokens_per_step};
}
}  // namespace

Trainer::Inside::Inside(const RunConfig& run_config, TrainerParts trainer_parts)
    : config(run_config),
      parts(std::move(trainer_parts)),
      stream(prefetched(parts.task->open(training_stream(config)), kBatchesAhead)),
      horizons(horizon_facts(config, *parts.task, *stream)),
      facts(schedule_facts(config, *parts.model, horizons)),
      updater(config, *parts.model, facts),
      judge(config) {
  judge.require_splits(*parts.task);
  set_switches(config.train);
  parts.model->train();
  parts.model->recompute(blocks_to_recompute(config, *parts.model));
  state.best_by = config.checkpoint.best;
  if (config.train.early_stop) state.early_by = config.train.early_stop->metric;
  state.data_fingerprint = hash_text(parts.task->fingerprint());
  if (const Tokenizer* tokenizer = parts.task->tokenizer())
    state.tokenizer_fingerprint = hash_text(tokenizer->fingerprint());
  if (!parts.run.empty()) saver.emplace(parts.run, config.checkpoint.keep);
}

// ---- one step ----

StepReport Trainer::Inside::step() {
  const auto began = TrainClock::now();
  const int64_t epoch = stream->epoch();
  if (config.train.on_nonfinite == OnNonfinite::rollback && !good) good = content();
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
    for (const Tensor& read : {batch->ids, batch->source.ids, batch->signal})
      if (state.data_order && read.defined()) {
        const Tensor whole = read.contiguous();
        state.data_order = mix(*state.data_order, hash_bytes(whole.data_ptr(), whole.nbytes()));
      }
    if (!batch->continues) memory.hidden.clear();
    if (parts.model->kept_tokens() > 0) batch->memory = &memory;
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
  memory.hidden.clear();  // it may hold what was not finite
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

// ---- the loop ----

void Trainer::Inside::tell_missing_splits() const {
  for (const Split split : judge.splits())
    if (!parts.task->has(split))
      log::info("there is no {0} data, so evaluations pass it over: give task.data.{0} to have its metrics",
                split_name(split));
}

RunReport Trainer::Inside::run() {
  const auto began = TrainClock::now();
  const int64_t evaluate_every = horizon_steps(config.evaluate.every, horizons);
  const int64_t save_every = horizon_steps(config.checkpoint.every, horizons);
  if (state.step == facts.steps && state.evaluated == state.step) {
    log::info("the run is complete: step {} of {}; raise train.steps to go on", state.step, facts.steps);
    return finish(RunReport::End::done, began);
  }
  if (!parts.run.empty()) write_file(parts.run / "config.yaml", resolved_yaml(config));
  if (config.train.certify) require_certificate(config, parts, state.step);
  tell([&](Observer& o) { o.started(config, state.step, facts.steps); });
  tell_missing_splits();
  while (true) {
    const bool last = state.step >= facts.steps;
    const bool to_evaluate = state.step > state.evaluated && (last || due(evaluate_every));
    if (stop_asked() && (!last || to_evaluate)) {
      save_now();
      return finish(RunReport::End::stopped_by_signal, began);
    }
    if (to_evaluate && !evaluate_now()) continue;
    if (last || judge.no_longer_improves(state)) break;
    if (state.step > 0 && (due(save_every) || judge.new_best())) save_now();
    if (saver) tell_saved(saver->written());
    if (stop_asked()) continue;
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

// ---- what others see ----

namespace {
TrainerParts accepted(TrainerParts parts) {
  if (const auto refusal = parts.task->refuses(*parts.model)) throw ConfigError(*refusal);
  const int64_t kept = parts.model->kept_tokens();
  require<ConfigError>(kept == 0 || parts.task->rows_go_on(),
                       "model.memory ({}) goes on from the segment before, but the rows of this task do not: use "
                       "task.kind: language_modeling with task.sampling: consecutive, or model.memory: 0",
                       kept);
  return parts;
}
}  // namespace

Trainer::Trainer(const RunConfig& config, TrainerParts parts)
    : inside_(std::make_unique<Inside>(config, accepted(std::move(parts)))) {}
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
                    .tokenizer = {},
                    .memory = checkpoint.memory()},
                   what);
  const fs::path& run = inside_->parts.run;
  if (run.empty()) return;
  if (fs::weakly_canonical(checkpoint.folder().parent_path()) == fs::weakly_canonical(run)) {
    inside_->saved_step = inside_->state.step;
    inside_->last_checkpoint = checkpoint.folder();
  }
  trim_metrics(run / kMetricsFile, inside_->state.step, inside_->state.evaluated);
}

}  // namespace ordo
