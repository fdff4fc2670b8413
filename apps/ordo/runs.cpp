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
  if (!checkpoint_step(plain.filename().string())) return plain;
  return (plain.has_parent_path() ? plain : fs::absolute(plain)).parent_path();
}

std::optional<fs::path> run_of(const fs::path& config) {
  std::error_code ignored;
  const bool folder = fs::is_directory(config, ignored);
  if (!folder && config.filename() != "config.yaml") return std::nullopt;
  const fs::path holder = folder ? config : config.parent_path();
  const fs::path run = run_folder(holder.empty() || holder == "." ? fs::current_path() : holder);
  const bool trained_in = fs::exists(run / "log.txt", ignored) || !list_checkpoints(run).empty();
  return trained_in ? std::optional(run) : std::nullopt;
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

void warn_of_moves_alone(Model& model) {
  const Places places = model.position().traits().places;
  if (!places.positions || places.anywhere()) return;
  log::warn(
      "model.position only moves positions, and no other encoding is beside it to read them, so it changes nothing; "
      "give one after it, as in model.position=[randomized, rope]");
}

void tell_surgery(const Surgery& surgery, const std::string& run) {
  for (const auto& line : surgery.lines()) log::info("{}: {}", run, line);
}

fs::path checkpoint_of(const std::string& run, const std::string& which) {
  std::error_code ignored;
  require<ConfigError>(!fs::is_regular_file(run, ignored),
                       "{0} is a config, not a run: train it first (ordo train {0}), then give the run's folder", run);
  return resolve_checkpoint(run, which);
}

TrainedModel open_model(const std::string& run, const std::string& which, const std::vector<std::string>& overrides) {
  Checkpoint checkpoint(checkpoint_of(run, which));
  RunConfig config = load_run_config(checkpoint.folder() / "config.yaml", overrides).config;
  const c10::Device device = open_device_quietly(config.device);
  Assembly parts = assemble(config, device, checkpoint.tokenizer(), trained_length(checkpoint));
  Surgery surgery = adopt_weights(checkpoint, config, *parts.model);
  tell_surgery(surgery, run);
  parts.model->eval();
  return {run, std::move(checkpoint), std::move(config), device, std::move(parts), std::move(surgery)};
}

}  // namespace ordo::cli
