// SPDX-License-Identifier: Apache-2.0
// ordo train CONFIG: opens the run folder, goes on from its newest checkpoint, trains, and tells how it ended.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "options.h"
#include "ordo/checkpoint/weights.h"
#include "ordo/core/errors.h"
#include "ordo/core/files.h"
#include "ordo/core/hash.h"
#include "ordo/core/log.h"
#include "ordo/core/text.h"
#include "ordo/ops/device.h"
#include "ordo/tasks/data_report.h"
#include "ordo/train/console.h"
#include "ordo/train/drift.h"
#include "ordo/train/evaluate.h"
#include "ordo/train/jsonl.h"
#include "ordo/train/tensorboard.h"
#include "ordo/train/weights.h"
#include "runs.h"
#include "signals.h"

namespace ordo::cli {
namespace {

struct TrainOptions {
  std::string file, resume = "auto";
  std::optional<std::string> run, init;
  Words overrides;
  bool force = false, quiet = false;
};

// A run's own config goes on in its folder, whatever its name is, unless this command names it anew.
fs::path chosen_run_folder(const TrainOptions& o, const LoadedConfig& loaded) {
  if (o.run) return *o.run;
  const auto name = loaded.sources.find("name");
  const bool named_here = name != loaded.sources.end() && name->second.line == 0;
  const auto own = named_here ? std::nullopt : run_of(o.file);
  return own ? *own : fs::path("runs") / loaded.config.name;
}

fs::path make_run_folder(const TrainOptions& o, const LoadedConfig& loaded) {
  const fs::path run = chosen_run_folder(o, loaded);
  std::error_code failed;
  fs::create_directories(run, failed);
  require<CheckpointError>(!failed, "cannot make the run folder {}: {}; give another one with --run DIR", run.string(),
                           failed.message());
  return run;
}

// Where the run starts: nothing means from the first weights.
std::optional<Checkpoint> starting_point(const TrainOptions& o, const fs::path& run) {
  const auto saved = list_checkpoints(run);
  if (o.resume == "auto") {
    auto newest = newest_valid(run);
    require<CheckpointError>(newest || saved.empty(),
                             "none of the {} checkpoint(s) in {} verifies, so there is nothing to go on from; start "
                             "anew with another --run DIR",
                             saved.size(), run.string());
    return newest;
  }
  if (o.resume == "never") {
    require<ConfigError>(saved.empty(),
                         "--resume never, but {} holds checkpoints of an earlier run (up to step {}), which would be "
                         "mixed with the new ones; "
                         "give another --run DIR, or remove that folder",
                         run.string(), saved.empty() ? 0 : saved.back());
    return std::nullopt;
  }
  const bool one_checkpoint = run_folder(o.resume) != (fs::path(o.resume) / "").parent_path();
  std::optional<Checkpoint> given;
  given.emplace(resolve_checkpoint(o.resume, one_checkpoint ? "" : "last"));
  require<ConfigError>(saved.empty() || saved.back() <= given->step(),
                       "--resume {} is of step {}, but {} already holds step {}; give another --run DIR", o.resume,
                       given->step(), run.string(), saved.empty() ? 0 : saved.back());
  return given;
}

// What the last evaluation gave, for the table at the end.
class LastEvaluation final : public Observer {
 public:
  void evaluated(const EvalReport& report) override {
    if (!reports_.empty() && reports_.front().step != report.step) reports_.clear();
    reports_.push_back(report);
  }
  std::string table() const {
    Metrics all;  // of any length
    for (const auto& report : reports_) all.insert(report.evaluation.metrics.begin(), report.evaluation.metrics.end());
    const Words names = in_reading_order(all);
    Words header{"split", "length"};
    header.insert(header.end(), names.begin(), names.end());
    header.emplace_back("tokens");
    Table table(header);
    for (const auto& report : reports_) {
      Words cells{split_name(report.split), std::to_string(report.length)};
      for (const auto& name : names) {
        const auto found = report.evaluation.metrics.find(name);
        cells.push_back(found == report.evaluation.metrics.end() ? "-" : metric_text(name, found->second));
      }
      cells.push_back(report.refused.empty() ? fmt::format("{:.0f}", report.evaluation.tokens) : "refused");
      table.row(cells);
    }
    return reports_.empty() ? "" : table.text();
  }

 private:
  std::vector<EvalReport> reports_;
};

int tell_end(const RunReport& report, const fs::path& run, const LastEvaluation& evaluation) {
  if (report.end == RunReport::End::stopped_by_signal) {
    print(fmt::format("stopped by {} after step {} of {}; the same command goes on from {}\n", stop_signal(),
                      report.step, report.steps, report.last_checkpoint.string()));
    return kStopped;
  }
  print(evaluation.table());
  print(fmt::format("run: {}\n", run.string()));
  return kDone;
}

// A scaling that takes its original length from the weights holds it from now on: they are the new run's own.
RunConfig with_original_length(const TrainOptions& o, RunConfig config) {
  Words overrides = o.overrides;
  for (const auto& d : differ([](Fields&) {}, walk_of(config)))
    if (d.path.ends_with(".original_max_position_embeddings") && d.b == "null")
      overrides.push_back(fmt::format("{}={}", d.path, config.train.trained_length));
  if (overrides.size() == o.overrides.size()) return config;
  log::set_level(log::Level::warning);  // what this reading tells was told by the first
  RunConfig settled = load_subject(o.file, overrides).config;
  log::set_level(o.quiet ? log::Level::warning : log::Level::info);
  settled.train.trained_length = config.train.trained_length;
  return settled;
}

// The run or checkpoint of --init, for a run folder that is not its own. The config is told what its weights were
// trained at, so that the new run's own config is enough to build the model again.
std::optional<Checkpoint> first_weights(const TrainOptions& o, RunConfig& config, const fs::path& run) {
  if (!o.init) return std::nullopt;
  require<ConfigError>(o.resume == "auto",
                       "--init and --resume contradict: one starts a new run with the weights of another, the other "
                       "goes on with a run");
  std::optional<Checkpoint> given;
  given.emplace(resolve_checkpoint(*o.init, ""));
  require<ConfigError>(fs::weakly_canonical(run_folder(*o.init)) != fs::weakly_canonical(run),
                       "--init {}: the new run would be written into that very folder {}; give another --run DIR",
                       *o.init, run.string());
  if (config.train.trained_length == 0) config.train.trained_length = trained_length(*given);
  config = with_original_length(o, std::move(config));
  return given;
}

void begin_with(const Checkpoint& init, const RunConfig& config, Model& model) {
  for (const auto& d : drifted(init.config(), config))
    if (d.change.path.starts_with("model.") && d.rule->drift != Drift::allowed &&
        !d.change.path.starts_with("model.position") && d.change.path != "model.max_length")
      log::warn("{} is {} here and was {} where the first weights come from", d.change.path, d.change.b, d.change.a);
  const Surgery surgery = adopt_weights(init, config, model);
  log::info("the first weights are those of {}", init.folder().string());
  tell_surgery(surgery, init.folder().string());
}

// What the run begins with, for those who compare it with others: <run>/start.json.
//   {"parameters":…,"flops_per_token":…,"weights":{"decoder.norm.weight":"xxh3:…"}}
void write_start(const fs::path& run, const RunConfig& config, const Model& model) {
  Json weights = Json::object();
  int64_t parameters = 0;
  for (const auto& [name, tensor] : weights_of(model)) {
    const at::Tensor here = tensor.detach().to(at::kCPU).contiguous();
    weights[name] = hash_text(hash_bytes(here.data_ptr(), here.nbytes()));
  }
  for (const auto& p : parameters_of(model)) parameters += p.value.numel();
  write_file(run / "start.json", json_text({{"parameters", parameters},
                                            {"flops_per_token", model.cost(row_length(config)).flops_per_token},
                                            {"weights", std::move(weights)}}));
}

int train_in(const fs::path& run, const TrainOptions& o, const RunConfig& config, c10::Device device,
             const Checkpoint* init, const std::atomic<bool>& stop) {
  const FolderLock lock(run);
  log::to_file(run / "log.txt");
  const auto start = starting_point(o, run);
  if (start)
    log::info("goes on from {}", start->folder().string());
  else
    log::info("into the run folder {}", run.string());
  if (start)
    check_drift(start->config(), config, o.force, start->folder().string());
  else
    trim_metrics(run / kMetricsFile, 0);
  require<ConfigError>(
      start || init != nullptr || config.train.trained_length == 0,
      "train.trained_length is {}: this config is of a run that began with weights of another one, and {} "
      "has no checkpoint to go on from. Give them with --init RUN, or begin anew with "
      "train.trained_length=0",
      config.train.trained_length, run.string());

  const Checkpoint* weights = start ? &*start : init;
  const Assembly parts = assemble(config, device, weights != nullptr ? weights->tokenizer() : fs::path(),
                                  start ? trained_length(*start) : 0);
  if (weights != nullptr) check_tokenizer(config, parts.task->tokenizer(), weights->folder().string());
  if (init != nullptr && start)
    log::info("{} has its own checkpoints and goes on from them; --init was for its beginning", run.string());
  else if (init != nullptr)
    begin_with(*init, config, *parts.model);
  const DataReport data = report_of_data(*parts.task, config.train.length);
  for (const auto& line : data.lines) log::info("data: {}", line);
  for (const auto& line : data.left_out) log::warn("data: {}", line);
  if (!start) write_start(run, config, *parts.model);
  warn_of_moves_alone(config, *parts.model);
  warn_of_mirror(config, *parts.task);
  Console console;
  JsonLines lines(run);
  TensorBoard board(run);
  LastEvaluation evaluation;
  Trainer trainer(config, {.task = parts.task,
                           .model = parts.model,
                           .device = device,
                           .run = run,
                           .observers = {&console, &lines, &board, &evaluation},
                           .stop = &stop,
                           .force = o.force});
  if (start) trainer.restore(*start);
  return tell_end(trainer.run(), run, evaluation);
}

}  // namespace

int train(const Words& words) {
  TrainOptions o;
  Options options("train", "Train a model; goes on from the newest checkpoint of its run folder by itself.");
  options.positional("CONFIG", o.file, "a config file, or a run to go on with");
  options.text("--run", o.run, "DIR",
               "the run folder (runs/NAME under the current folder; of a run's own config, that run's)");
  options.text("--resume", o.resume, "auto|never|PATH",
               "go on from the folder's newest checkpoint (auto), from none, or from a given run or checkpoint");
  options.text("--init", o.init, "RUN",
               "begin a new run with the weights of a run or checkpoint (the best one, averaged ones where there are "
               "any): step 0, fresh optimiser; positions may differ, and what became of their tensors is told");
  options.flag("--force", o.force,
               "go on although the config or the data differ from the checkpoint's in a way that would be refused");
  options.flag("-q,--quiet", o.quiet, "only warnings and the result");
  options.overrides(o.overrides);
  if (!options.parse(words)) return kDone;

  const std::atomic<bool>& stop = stop_on_signals();
  if (o.quiet) log::set_level(log::Level::warning);
  LoadedConfig loaded = load_subject(o.file, o.overrides);
  RunConfig& config = loaded.config;
  const c10::Device device = open_device(config.device);
  const fs::path run = make_run_folder(o, loaded);
  const auto init = first_weights(o, config, run);
  return train_in(run, o, config, device, init ? &*init : nullptr, stop);
}

}  // namespace ordo::cli
