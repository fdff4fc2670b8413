// SPDX-License-Identifier: Apache-2.0
// ordo replay RUN: re-executes a stretch of a run in memory and compares it with what the run wrote, bit for bit.
#include <ATen/Parallel.h>
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "options.h"
#include "ordo/core/files.h"
#include "ordo/core/hash.h"
#include "ordo/core/log.h"
#include "ordo/core/text.h"
#include "ordo/train/trainer.h"
#include "runs.h"

namespace ordo::cli {
namespace {

struct Stretch {
  int64_t from = 0, to = 0;
  bool checkpoint_at_end = false;  // there is one to compare with
};

// Without --from: the last stretch between two checkpoints, or from the first weights to the only one.
Stretch choose_stretch(const fs::path& run, std::optional<int64_t> from, std::optional<int64_t> steps) {
  const auto saved = list_checkpoints(run);
  require<CheckpointError>(!saved.empty(), "{} has no checkpoint to compare with", run.string());
  if (!from) from = saved.size() >= 2 ? saved[saved.size() - 2] : (saved[0] == 0 ? saved[0] : 0);
  const bool known = *from == 0 || std::find(saved.begin(), saved.end(), *from) != saved.end();
  Words names;
  for (const int64_t step : saved) names.push_back(std::to_string(step));
  require<ConfigError>(known, "--from {}: {} has no checkpoint of that step; it has {} (and 0: the first weights)",
                       *from, run.string(), join(names, ", "));
  const auto next = std::upper_bound(saved.begin(), saved.end(), *from);
  require<ConfigError>(next != saved.end() || steps,
                       "--from {}: no later checkpoint to compare with; --steps N compares the losses of N steps",
                       *from);
  const int64_t to = steps ? *from + *steps : *next;
  return {*from, to, std::find(saved.begin(), saved.end(), to) != saved.end()};
}

// Where the config of these steps lies: in the checkpoint that they led to (the one they began at may know of fewer
// train.steps), else in the run.
fs::path config_of(const fs::path& run, const Stretch& stretch) {
  for (const int64_t step : list_checkpoints(run))
    if (step >= stretch.to) return run / checkpoint_name(step);
  return run;
}

// step -> loss of metrics.jsonl.
std::map<int64_t, double> recorded_losses(const fs::path& run) {
  std::map<int64_t, double> losses;
  std::ifstream in(run / "metrics.jsonl");
  int64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    if (in.eof()) break;  // a line without its end was cut by a crash, or is being written
    const Json entry = parse_json(line, fmt::format("{} line {}", (run / "metrics.jsonl").string(), ++number));
    if (entry.value("kind", "") == "train" && entry.contains("loss") && entry["loss"].is_number())
      losses[entry.at("step").get<int64_t>()] = entry["loss"].get<double>();
  }
  return losses;
}

struct Comparison {
  int64_t losses = 0, tensors = 0;                                          // compared
  std::vector<std::pair<int64_t, std::pair<double, double>>> other_losses;  // step, recorded, replayed
  Words other_tensors;
  bool holds() const { return other_losses.empty() && other_tensors.empty(); }
};

uint64_t hash_of(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.cpu().contiguous();
  return hash_bytes(plain.const_data_ptr(), plain.nbytes());
}

void compare_tensors(const NamedTensors& replayed, const NamedTensors& saved, std::string_view file,
                     Comparison& comparison) {
  std::map<std::string, uint64_t> hashes;
  for (const auto& [name, tensor] : replayed) hashes[name] = hash_of(tensor);
  for (const auto& [name, tensor] : saved) {
    ++comparison.tensors;
    const auto found = hashes.find(name);
    if (found == hashes.end() || found->second != hash_of(tensor))
      comparison.other_tensors.push_back(fmt::format("{}: {}", file, name));
    if (found != hashes.end()) hashes.erase(found);
  }
  for (const auto& [name, hash] : hashes)
    comparison.other_tensors.push_back(fmt::format("{}: {} (not in the checkpoint)", file, name));
}

Comparison replay_stretch(const fs::path& run, const Stretch& stretch, const RunConfig& config, c10::Device device) {
  std::optional<Checkpoint> start;
  if (stretch.from > 0) start.emplace(run / checkpoint_name(stretch.from));
  // The tokenizer of the end serves a start without a checkpoint: it was made from the same text.
  const Checkpoint any(resolve_checkpoint(run, "last"));
  require<ConfigError>(start || config.train.trained_length == 0,
                       "{} began with weights of another run (ordo train --init), which it does not hold: replay it "
                       "from a checkpoint with --from STEP",
                       run.string());
  const Assembly parts =
      assemble(config, device, start ? start->tokenizer() : any.tokenizer(), start ? trained_length(*start) : 0);
  Trainer trainer(config, {.task = parts.task, .model = parts.model, .device = device});
  if (start) trainer.restore(*start);

  Comparison comparison;
  const auto recorded = recorded_losses(run);
  for (int64_t step = stretch.from + 1; step <= stretch.to; ++step) {
    log::progress(fmt::format("replaying step {} of {} to {}", step, stretch.from + 1, stretch.to));
    const StepReport report = trainer.step();
    const auto found = recorded.find(step);
    if (found == recorded.end()) continue;
    ++comparison.losses;
    if (std::bit_cast<uint64_t>(found->second) != std::bit_cast<uint64_t>(report.loss))
      comparison.other_losses.push_back({step, {found->second, report.loss}});
  }
  log::progress("");
  if (stretch.checkpoint_at_end) {
    const Checkpoint end(run / checkpoint_name(stretch.to));
    const CheckpointContent content = trainer.content();
    compare_tensors(content.model, end.model(), "model", comparison);
    compare_tensors(content.optimizer, end.optimizer(), "optimizer", comparison);
    compare_tensors(content.ema, end.ema(), "ema", comparison);
    compare_tensors(content.memory, end.memory(), "memory", comparison);
  }
  return comparison;
}

Json as_json(const std::string& run, const Stretch& stretch, const Comparison& comparison) {
  Json losses = Json::array();
  for (const auto& [step, values] : comparison.other_losses)
    losses.push_back({{"step", step}, {"recorded", values.first}, {"replayed", values.second}});
  return {{"run", run},
          {"from", stretch.from},
          {"to", stretch.to},
          {"holds", comparison.holds()},
          {"losses", {{"compared", comparison.losses}, {"different", std::move(losses)}}},
          {"tensors", {{"compared", comparison.tensors}, {"different", comparison.other_tensors}}}};
}

void print_comparison(const std::string& run, const Stretch& stretch, const Comparison& comparison) {
  print(fmt::format("replayed steps {} to {} of {} on {} thread(s)\n", stretch.from + 1, stretch.to, run,
                    at::get_num_threads()));
  const auto other_losses = static_cast<int64_t>(comparison.other_losses.size()),
             other_tensors = static_cast<int64_t>(comparison.other_tensors.size());
  print(fmt::format("losses    {} of {} equal to the bit\n", comparison.losses - other_losses, comparison.losses));
  if (stretch.checkpoint_at_end)
    print(fmt::format("tensors   {} of {} equal to the bit, against {}\n", comparison.tensors - other_tensors,
                      comparison.tensors, checkpoint_name(stretch.to)));
  else
    print("tensors   not compared: the stretch does not end at a checkpoint\n");
  if (!comparison.other_losses.empty()) {
    const auto& [step, values] = comparison.other_losses.front();
    print(fmt::format("first different loss: step {}, recorded {}, replayed {}\n", step, number_text(values.first),
                      number_text(values.second)));
  }
  if (!comparison.other_tensors.empty())
    print(fmt::format("different tensors: {}\n", join(comparison.other_tensors, ", ")));
  print(comparison.holds() ? "replay: holds\n"
                           : "replay: does NOT hold; equality to the bit is promised for the same machine, device, "
                             "LibTorch and number of threads (OMP_NUM_THREADS)\n");
}

}  // namespace

int replay(const Words& words) {
  Options options(
      "replay",
      "Re-execute a run from a checkpoint, in memory, and compare losses and tensors with what it wrote, bit for bit.");
  std::string run;
  int64_t from = 0, steps = 0;
  bool json = false;
  Words overrides;
  options.positional("RUN", run, "a run folder");
  options.integer("--from", from, "the checkpoint to start from, by its step; 0: the first weights (the last but one)",
                  0, 1LL << 60);
  options.integer("--steps", steps, "how many steps (to the next checkpoint)", 1, 1LL << 60);
  options.flag("--json", json, "one JSON document");
  options.overrides(overrides);
  if (!options.parse(words)) return kDone;

  const fs::path folder = run_folder(run);
  const Stretch stretch = choose_stretch(folder, options.given("--from") ? std::optional(from) : std::nullopt,
                                         options.given("--steps") ? std::optional(steps) : std::nullopt);
  const RunConfig config = load_subject(config_of(folder, stretch).string(), overrides).config;
  const c10::Device device = open_device_quietly(config.device);
  const Comparison comparison = replay_stretch(folder, stretch, config, device);
  require<ConfigError>(
      comparison.losses + comparison.tensors > 0,
      "steps {} to {} of {} hold neither a logged loss nor a checkpoint: nothing to compare (train.log_every)",
      stretch.from + 1, stretch.to, run);
  if (json)
    print_json(as_json(run, stretch, comparison));
  else
    print_comparison(run, stretch, comparison);
  return comparison.holds() ? kDone : 1;
}

}  // namespace ordo::cli
