// SPDX-License-Identifier: Apache-2.0
// A training config as a whole: what `ordo train CONFIG` reads. Names are those of the command line, the docs and the
// logs.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ordo/config/config.h"
#include "ordo/models/model.h"
#include "ordo/nn/precision.h"
#include "ordo/tasks/task.h"
#include "ordo/train/optimizer.h"
#include "ordo/train/recompute_policy.h"
#include "ordo/train/schedule.h"

namespace ordo {

enum class OnNonfinite { stop, skip, rollback };

struct EarlyStopConfig {
  int64_t patience = 5;  // evaluations without an improvement
  double min_delta = 0.0;
  std::string metric = "validation.loss";
};
struct TrainConfig {
  Quantity steps{1000, "steps"};
  int64_t batch_size = 0;  // rows of a micro-batch; exactly one of batch_size and batch_tokens
  int64_t batch_tokens = 0;
  int64_t length = 0;
  int64_t trained_length = 0;  // tokens, of the weights it began with (ordo train --init); 0: its own, from the seed
  int64_t accumulate = 1;
  Choice<Optimizer> optimizer{"adamw"};
  Choice<Schedule> schedule{"cosine"};
  Precision precision = Precision::fp32;
  ScalerConfig scaler;
  Choice<Recompute> recompute{"none"};
  double clip = 1.0;  // of the global gradient norm; 0: off
  double ema = 0.0;
  double label_smoothing = 0.0, z_loss = 0.0;
  std::optional<EarlyStopConfig> early_stop = {};
  OnNonfinite on_nonfinite = OnNonfinite::stop;
  bool deterministic = false;
  bool tf32 = false;
  bool certify = false;  // a certificate must hold before the first step
  int64_t log_every = 10;
};
int64_t rows_of(const TrainConfig& c);  // of a micro-batch, from batch_size or batch_tokens

struct EvaluateConfig {
  Quantity every{0, "steps"};         // 0: only at the end
  std::vector<int64_t> lengths = {};  // empty: train.length
  int64_t stride = 0;
  int64_t batch_size = 0;  // 0: train.batch_size
};
struct CheckpointConfig {
  Quantity every{0, "steps"};  // 0: only at the end
  int64_t keep = 3;
  std::string best =
      "validation.loss";  // the smallest; a metric that is better when larger is written with a leading +; empty: off
};
struct RunConfig {
  std::string name;
  uint64_t seed() const { return static_cast<uint64_t>(seed_value); }
  int64_t seed_value = 0;
  std::optional<int64_t> instance = {};  // of what is drawn of the data: examples, splits; nothing: the seed's own
  std::string device = "auto";
  Choice<Task> task;
  Choice<Model> model;
  TrainConfig train;
  EvaluateConfig evaluate;
  CheckpointConfig checkpoint;
};
void fields(Fields& f, EarlyStopConfig& c);
void fields(Fields& f, TrainConfig& c);
void fields(Fields& f, EvaluateConfig& c);
void fields(Fields& f, CheckpointConfig& c);
void fields(Fields& f, RunConfig& c);
void check(const RunConfig& c, Problems& problems);

struct LoadedConfig {
  RunConfig config;
  Sources sources;
};
LoadedConfig load_run_config(const fs::path& file, std::span<const std::string> overrides);
LoadedConfig load_run_config_text(const std::string& text, std::string_view name,
                                  std::span<const std::string> overrides);
std::string resolved_yaml(const RunConfig& config);

// The task of a config; `saved_tokenizer` is a checkpoint's, or empty.
std::shared_ptr<Task> make_task(const RunConfig& config, const fs::path& saved_tokenizer = {});
// Tokens of the longest row of a length as the config's task counts it: train.length unless another is given.
int64_t row_length(const RunConfig& config);

}  // namespace ordo
