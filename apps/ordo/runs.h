// SPDX-License-Identifier: Apache-2.0
// Configs and runs as commands get them from a user: CONFIG is a file, RUN a run folder or one of its checkpoints.
#pragma once
#include <c10/core/Device.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ordo/train/run_config.h"
#include "ordo/train/surgery.h"

namespace ordo::cli {

// A config file, or the resolved config of a run folder or a checkpoint.
LoadedConfig load_subject(const std::string& path, const std::vector<std::string>& overrides);
// The folder of a run, given the run or one of its checkpoints.
fs::path run_folder(const fs::path& run_or_checkpoint);
// The run that a CONFIG is of: a run folder, one of its checkpoints, or the config.yaml of either. Nothing for a file
// of a user's own.
std::optional<fs::path> run_of(const fs::path& config);

// open_device without a word in the log: which one it is matters to a training, and would only stand before a short
// answer.
c10::Device open_device_quietly(const std::string& wanted);

Split split_of(const std::string& name);  // train | validation | test, as options of commands name them

// What a model is told beside its config. `trained_length`: of the checkpoint whose weights will be loaded; 0: what the
// config says of its first weights.
ModelFacts model_facts(const RunConfig& config, const Task& task, int64_t trained_length = 0);

// Task and model of a config, built on a device; `saved_tokenizer` is a checkpoint's, or empty.
struct Assembly {
  std::shared_ptr<Task> task;
  std::shared_ptr<Model> model;
};
Assembly assemble(const RunConfig& config, c10::Device device, const fs::path& saved_tokenizer,
                  int64_t trained_length = 0);

// The checkpoint that a command's RUN means; throws ConfigError for a config file, CheckpointError when there is none.
// `which`: best | last | a step; empty: the best if there is one, else the last.
fs::path checkpoint_of(const std::string& run, const std::string& which);

// A trained model, ready for use: weights loaded (the averaged ones where the run has them), in evaluation mode, on its
// device.
struct TrainedModel {
  std::string run;  // as the user named it
  Checkpoint checkpoint;
  RunConfig config;
  c10::Device device;
  Assembly parts;
  Surgery surgery;  // told in the log already
};
// `which`: as above. Opens the device: no tensor may have
// been made before the first call.
TrainedModel open_model(const std::string& run, const std::string& which, const std::vector<std::string>& overrides);

// A warning when all that a model's encodings do is to move positions that nothing else reads.
void warn_of_moves_alone(const RunConfig& config, Model& model);
// A warning when rows and their reversals have other answers, and the model gives both the same.
void warn_of_mirror(const RunConfig& config, const Task& task);

// What became of the position encoding's tensors, to the log; nothing when it is the checkpoint's own.
void tell_surgery(const Surgery& surgery, const std::string& run);

}  // namespace ordo::cli
