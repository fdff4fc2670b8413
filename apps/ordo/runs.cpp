// SPDX-License-Identifier: Apache-2.0
#include "runs.h"

#include "ordo/core/errors.h"
#include "ordo/core/log.h"
#include "ordo/ops/device.h"

namespace ordo::cli {

namespace {

fs::path config_file_of(const fs::path& path) {
  std::error_code unreadable;  // reading the file then says what is wrong with its name
  if (!fs::is_directory(path, unreadable)) return path;
  const fs::path file = path / "config.yaml";
  require<CheckpointError>(fs::exists(file), "{} is no run folder and no checkpoint: there is no config.yaml in it",
                           path.string());
  return file;
}

}  // namespace

LoadedConfig load_subject(const std::string& path, const std::vector<std::string>& overrides) {
  return load_run_config(config_file_of(path), overrides);
}

fs::path run_folder(const fs::path& run_or_checkpoint) {
  const fs::path plain = (run_or_checkpoint / "").parent_path();  // without a slash at the end
  return checkpoint_step(plain.filename().string()) ? fs::absolute(plain).parent_path() : plain;
}

c10::Device open_device_quietly(const std::string& wanted) {
  log::set_level(log::Level::warning);
  const c10::Device device = open_device(wanted);
  log::set_level(log::Level::info);
  return device;
}

ModelFacts model_facts(const RunConfig& config, const Task& task, int64_t trained_length) {
  return task.complete(
      {.max_length = config.train.length,
       .seed = config.seed(),
       .trained_length = config.train.trained_length > 0 ? config.train.trained_length : trained_length});
}

Assembly assemble(const RunConfig& config, c10::Device device, const fs::path& saved_tokenizer,
                  int64_t trained_length) {
  Assembly made;
  made.task = tasks().build(config.task, {.saved_tokenizer = saved_tokenizer, .seed = config.seed()});
  made.model = models().build(config.model, model_facts(config, *made.task, trained_length));
  made.model->to(device);
  return made;
}

void tell(const Surgery& surgery, const std::string& run) {
  for (const auto& line : surgery.lines()) log::info("{}: {}", run, line);
}

TrainedModel open_model(const std::string& run, const std::string& which, const std::vector<std::string>& overrides) {
  Checkpoint checkpoint(resolve_checkpoint(run, which));
  RunConfig config = load_run_config(checkpoint.folder() / "config.yaml", overrides).config;
  const c10::Device device = open_device_quietly(config.device);
  Assembly parts = assemble(config, device, checkpoint.tokenizer(), trained_length(checkpoint));
  Surgery surgery = adopt_weights(checkpoint, config, *parts.model);
  tell(surgery, run);
  parts.model->eval();
  return {run, std::move(checkpoint), std::move(config), device, std::move(parts), std::move(surgery)};
}

}  // namespace ordo::cli
