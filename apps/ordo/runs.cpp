// SPDX-License-Identifier: Apache-2.0
#include "runs.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "ordo/core/errors.h"
#include "ordo/core/log.h"
#include "ordo/models/stack_of.h"
#include "ordo/ops/device.h"
#include "ordo/ops/draw.h"

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

// Does reading a row backwards just turn its hidden states round, or, in an encoder-decoder, change nothing in what it
// writes? Asked with random values added to the first ones, which may say nothing yet (a bias that begins at 0, weights
// too small for attention to choose): with what it can learn, that is. Changes the model.
bool blind_to_reversal(Model& model) {
  constexpr double kMoved = 0.1, kTold = 1e-3;
  constexpr int64_t kLongest = 8;
  const c10::NoGradGuard no_gradients;
  model.eval();
  uint64_t key = 1;
  for (const auto& parameter : model.parameters()) {
    const at::Tensor change = at::empty_like(parameter);
    draw_normal(change, kMoved, ++key);
    parameter.add_(change);
  }
  const int64_t length = std::min(model.max_length(), kLongest);
  const at::Tensor ids = at::arange(length, at::kLong).unsqueeze(0);
  const auto hidden = [&](const at::Tensor& row) {
    const Positions at = consecutive(0, length, at::kCPU);
    if (!model.reads_source()) return model.forward({.ids = row, .at = at});
    return model.forward({.ids = at::zeros({1, 1}, at::kLong),  // what is written first, whatever it is
                          .at = consecutive(0, 1, at::kCPU),
                          .source = {.ids = row, .at = at}});
  };
  const at::Tensor forwards = hidden(ids), backwards = hidden(ids.flip(1)).flip(1);
  return (forwards - backwards).abs().max().item<double>() < kTold * forwards.abs().max().item<double>();
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

Split split_of(const std::string& name) {
  if (name == "train") return Split::train;
  return name == "test" ? Split::test : Split::validation;
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
  made.task = make_task(config, saved_tokenizer);
  made.model = models().build(config.model, model_facts(config, *made.task, trained_length));
  made.model->to(device);
  return made;
}

void warn_of_moves_alone(const RunConfig& config, Model& model) {
  const auto stacks = stacks_of(config.model);
  for (const auto& named : stacks) {
    const Places places = model.named_children()[named.name]->as<Stack>()->position().traits().places;
    if (!places.positions || places.anywhere()) continue;
    const std::string key = stacks.size() == 1 ? "model.position" : fmt::format("model.{}.position", named.name);
    log::warn(
        "{0} only moves positions, and no other encoding is beside it to read them, so it changes nothing; give one "
        "after it, as in {0}=[randomized, rope]",
        key);
  }
}

void warn_of_mirror(const RunConfig& config, const Task& task) {
  if (!task.mirror() || !blind_to_reversal(*models().build(config.model, model_facts(config, task)))) return;
  log::warn(
      "{} has rows that ask for another answer when they are read backwards, but to this model a row and its reversal "
      "are the same: its model.position treats both sides of a token alike, so it can only guess between the two; use "
      "one that tells the sides apart, as in model.position=sinusoidal, rope or t5_bias, or alibi with "
      "model.position.direction=split",
      config.task.kind);
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
