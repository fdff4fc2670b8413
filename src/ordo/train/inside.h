// SPDX-License-Identifier: Apache-2.0
// What a Trainer is made of. For trainer.cpp (steps and the loop) and trainer_state.cpp (state, evaluations,
// checkpoints) alone.
#pragma once
#include <chrono>

#include "ordo/train/judge.h"
#include "ordo/train/saver.h"
#include "ordo/train/trainer.h"
#include "ordo/train/update.h"

namespace ordo {

using TrainClock = std::chrono::steady_clock;

struct Trainer::Inside {
  Inside(const RunConfig& run_config, TrainerParts trainer_parts);

  StepReport step();
  RunReport run();
  CheckpointContent content() const;
  void restore(const CheckpointContent& from, std::string_view what);
  std::vector<EvalReport> evaluate(Split split, const std::atomic<bool>* stop = nullptr);  // none: it was stopped

  std::vector<Batch> next_batches();
  void restore_memory(const NamedTensors& saved);
  void settle(const UpdateReport& update);
  void roll_back(const std::string& why);
  void load_weights(const CheckpointContent& from);
  void require_same_data(const TrainState& saved) const;
  void keep_verdicts_of_same_metrics(TrainState& saved) const;
  void tell_missing_splits() const;
  // False: a stop cut it short, and the step still counts as not evaluated. One that fails leaves a checkpoint behind.
  bool evaluate_now();
  bool judged_now();
  void save_unjudged();
  bool due(int64_t every) const { return every > 0 && state.step % every == 0; }
  bool stop_asked() const { return parts.stop != nullptr && parts.stop->load(); }
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
  SegmentMemory memory;  // of a model that keeps the segments before
  Judge judge;
  std::optional<Saver> saver;
  int64_t saved_step = -1;  // of the newest checkpoint of this state
  fs::path last_checkpoint;
  std::optional<CheckpointContent> good;  // on_nonfinite: rollback: where to go back to
  int64_t skipped_in_a_row = 0;
};

}  // namespace ordo
