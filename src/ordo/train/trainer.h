// SPDX-License-Identifier: Apache-2.0
// The training loop: one update after another, with evaluations and checkpoints, until done or asked to stop.
#pragma once
#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ordo/checkpoint/checkpoint.h"
#include "ordo/train/run_config.h"

namespace ordo {

// Plain data, complete: with weights, moments and EMA it continues a run to the bit.
struct TrainState {
  int64_t step = 0, tokens = 0;  // steps are updates' worth of data read, whether or not the weights moved
  int64_t updates = 0;           // updates that the weights hold: what schedule, optimiser and EMA have gone through
  int64_t skipped = 0;           // steps whose update was not made, or was taken back, for numbers that are not finite
  int64_t evaluated =
      0;  // the last step with an evaluation: a stop between an update and its evaluation makes up for it on resume
  // The metrics that the three below are of, as the config gives them; empty: none, or a text from before they were
  // kept.
  std::string best_by, early_by;
  std::optional<double> best = {};        // by checkpoint.best
  std::optional<double> early_best = {};  // by train.early_stop
  int64_t without_improvement = 0;
  std::optional<uint64_t> data_order = 0;  // a hash of all batches so far, in their order; not kept by early versions
  std::string data, scaler;                // JSON of the stream and of the loss scaler
  std::string data_fingerprint, tokenizer_fingerprint;  // of what it was trained on; empty: none
};
std::string state_text(const TrainState& state);
// Throws CheckpointError, in one line, for text that is no such state or is of a newer format.
TrainState parse_state(const std::string& text, std::string_view what);

struct StepReport {
  int64_t step = 0, tokens = 0, epoch = 0;  // tokens: of the whole run so far
  int64_t step_tokens = 0;
  double loss = 0.0;  // mean over the update's targets
  double lr = 0.0, grad_norm = 0.0, loss_scale = 1.0;
  bool skipped = false;
  int64_t skipped_in_all = 0;
  double seconds = 0.0, tokens_per_second = 0.0;  // of this step
  double peak_memory = 0.0;                       // bytes: device memory on CUDA, resident set on the CPU
};
struct EvalReport {
  int64_t step = 0, length = 0;
  Split split = Split::validation;
  Evaluation evaluation;
  bool best = false;
  std::string refused = {};  // why the model cannot be evaluated at this length; then there are no metrics
};
struct RunReport {
  enum class End { done, early_stop, stopped_by_signal } end = End::done;
  int64_t step = 0, steps = 0;
  std::optional<double> best = {};
  std::filesystem::path run, last_checkpoint;
  double peak_memory = 0.0, seconds = 0.0;
};

// Observers watch; they cannot reach the model. Called on the trainer's own thread.
struct Observer {
  virtual ~Observer() = default;
  virtual void started(const RunConfig& config, int64_t step, int64_t steps) {
    (void)config;
    (void)step;
    (void)steps;
  }
  virtual void stepped(const StepReport& report) { (void)report; }
  virtual void evaluated(const EvalReport& report) { (void)report; }  // once a length
  // A checkpoint is being written while training goes on; `saved` follows once it is durable, some steps later.
  virtual void saving(const std::filesystem::path& checkpoint) { (void)checkpoint; }
  virtual void saved(const std::filesystem::path& checkpoint) { (void)checkpoint; }
  virtual void finished(const RunReport& report) { (void)report; }
};

struct TrainerParts {
  std::shared_ptr<const Task> task;
  std::shared_ptr<Model> model;
  c10::Device device;
  std::filesystem::path run =
      {};  // empty: nothing is written (tests, bench, replay). Whoever opens the folder holds its FolderLock
  std::vector<Observer*> observers = {};
  const std::atomic<bool>* stop = nullptr;  // set by a signal: finish the step, write a checkpoint, return
  bool force = false;                       // resume although the data is not what the checkpoint was trained on
};

class Trainer {
 public:
  Trainer(const RunConfig& config, TrainerParts parts);
  ~Trainer();
  StepReport step();  // one update = `accumulate` micro-batches; usable alone from a test
  RunReport run();
  int64_t steps() const;  // of the whole run, horizons resolved
  const TrainState& state() const;
  CheckpointContent content() const;  // copies of everything a checkpoint holds
  void restore(const Checkpoint& checkpoint);
  void restore(const CheckpointContent& content);  // the same from memory
  Model& model();
  std::vector<EvalReport> evaluate(Split split);  // with EMA weights where there are any

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace ordo
