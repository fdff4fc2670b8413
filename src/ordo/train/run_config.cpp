// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/run_config.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "ordo/config/numbers.h"
#include "ordo/config/writer.h"
#include "ordo/core/text.h"
#include "ordo/models/decoder.h"
#include "ordo/models/stack_of.h"
#include "ordo/train/judge.h"

namespace ordo {

namespace {
constexpr NamedValue kOnNonfinite[] = {{"stop", static_cast<int>(OnNonfinite::stop)},
                                       {"skip", static_cast<int>(OnNonfinite::skip)},
                                       {"rollback", static_cast<int>(OnNonfinite::rollback)}};

void check_batch(const TrainConfig& c, Problems& problems) {
  if (c.batch_size == 0 && c.batch_tokens == 0)
    problems.add("train",
                 "train.batch_size (rows of a micro-batch) or train.batch_tokens (rows x length) must be given");
  if (c.batch_size > 0 && c.batch_tokens > 0)
    problems.add("train.batch_tokens",
                 "train.batch_size ({}) and train.batch_tokens ({}) say the same thing in two ways: give one",
                 c.batch_size, c.batch_tokens);
  if (c.batch_tokens > 0 && c.batch_tokens < c.length)
    problems.add("train.batch_tokens", "train.batch_tokens ({}) must hold at least one row of train.length ({})",
                 c.batch_tokens, c.length);
}

// The warm-up of a schedule as it was written; nothing where its kind has none.
std::optional<Quantity> warmup_of(const Choice<Schedule>& schedule) {
  const Json settings = json_of(schedules().find(schedule.kind).info, schedule.config);
  if (!settings.contains("warmup")) return std::nullopt;
  return read_quantity(settings.at("warmup").get<std::string>(), kHorizonUnits).value;
}

// A warm-up longer than the run, where the schedule does not take it and both are given in one unit: between two units
// the data decide.
void check_warmup(const TrainConfig& c, Problems& problems) {
  if (c.schedule.config == nullptr) return;  // of a config made in code: all defaults
  const auto warmup = warmup_of(c.schedule);
  if (!warmup || warmup->unit != c.steps.unit || warmup->value <= c.steps.value) return;
  // What an epoch or a token is worth makes no difference between amounts of one unit.
  constexpr HorizonFacts kAny{.steps_per_epoch = 1000.0, .tokens_per_step = 1.0};
  try {
    schedules()
        .find(c.schedule.kind)
        .build(c.schedule.config.get(), {.steps = horizon_steps(c.steps, kAny),
                                         .dim = 1,
                                         .steps_per_epoch = kAny.steps_per_epoch,
                                         .tokens_per_step = kAny.tokens_per_step});
  } catch (const ConfigError&) {
    problems.add("train.schedule.warmup",
                 "train.schedule.warmup ({}) is longer than the run, train.steps ({}): shorten the warm-up or lengthen "
                 "the run",
                 quantity_text(*warmup), quantity_text(c.steps));
  }
}

void check_device(const std::string& device, Problems& problems) {
  const bool numbered = device.starts_with("cuda:") && device.size() > 5 && device.size() < 9 &&
                        std::all_of(device.begin() + 5, device.end(), [](char d) { return d >= '0' && d <= '9'; });
  if (device != "auto" && device != "cpu" && device != "cuda" && !numbered)
    problems.add("device", "expected auto, cpu, cuda or cuda:N, found '{}'", device);
}

void check_metric(std::string_view path, const std::string& text, Problems& problems) {
  if (!MetricChoice::parse(text))
    problems.add(path,
                 "expected a split and a metric, as in validation.loss (smaller is better) or +validation.accuracy "
                 "(larger is better), found '{}'",
                 text);
}

void check_lengths(const RunConfig& c, Problems& problems) {
  const auto& lengths = c.evaluate.lengths;
  const int64_t shortest = lengths.empty() ? c.train.length : *std::min_element(lengths.begin(), lengths.end());
  if (c.evaluate.stride > shortest)
    problems.add("evaluate.stride",
                 "evaluate.stride ({}) must not exceed the shortest evaluated length ({}): tokens between windows "
                 "would go unjudged",
                 c.evaluate.stride, shortest);
  for (auto length = lengths.begin(); length != lengths.end(); ++length)
    if (std::find(lengths.begin(), length, *length) != length)
      problems.add("evaluate.lengths", "evaluate.lengths names {} twice", *length);
}

// The settings around the first one that a refusal names: task.data of task.data.train. "": those of the task itself.
std::string settings_named(std::string_view refusal) {
  const size_t begin = refusal.find("task.");
  if (begin == refusal.npos) return "";
  const size_t end = std::min(refusal.find_first_not_of("abcdefghijklmnopqrstuvwxyz_.", begin), refusal.size());
  const std::string_view named = refusal.substr(begin, end - begin);
  const std::string_view around = named.substr(0, named.rfind('.', named.find_last_not_of('.')));
  return around == "task" ? "" : std::string(around);
}

// What the task cannot be made of, one in a line, each where it belongs rather than where the whole task is.
void add_refusals(const Choice<Task>& task, std::string_view told, Problems& problems) {
  if (const std::string whole = placed(task.source, ""); told.starts_with(whole)) told.remove_prefix(whole.size());
  for (auto& text : split(told, '\n')) {
    const std::string path = settings_named(text);
    if (path.empty() && !task.source.file.empty())
      problems.add_at(task.source, std::move(text));
    else
      problems.add_text(path.empty() ? "task" : path, std::move(text));
  }
}

// What the task says of the lengths; the length of the longest row of training.
int64_t checked_row_length(const RunConfig& c, Problems& problems) try {
  const auto task = make_task(c);
  std::set<std::string> told;
  const auto tell = [&](std::string_view path, const std::optional<std::string>& why) {
    if (why && told.insert(*why).second) problems.add_text(path, *why);
  };
  tell("train.length", task->refuses_length(Split::train, c.train.length));
  const auto& lengths = c.evaluate.lengths;
  for (const int64_t length : lengths.empty() ? std::vector{c.train.length} : lengths)
    tell(lengths.empty() ? "train.length" : "evaluate.lengths", task->refuses_length(Split::validation, length));
  if (c.evaluate.stride > 0 && !task->judges_windows())
    problems.add("evaluate.stride",
                 "task {} is judged without windows that slide over each other: evaluate.stride must be 0",
                 c.task.kind);
  return problems.empty() ? task->row_length(c.train.length) : c.train.length;
} catch (const ConfigError& refusal) {
  add_refusals(c.task, refusal.what(), problems);
  return c.train.length;
} catch (const DataError&) {  // the files of the task are not there, which matters to those who read them
  return c.train.length;
}
}  // namespace

void fields(Fields& f, EarlyStopConfig& c) {
  f("patience", c.patience, "evaluations in a row without an improvement before the run ends", at_least(1));
  f("min_delta", c.min_delta, "an improvement is at least this much", at_least(0.0));
  f("metric", c.metric, "split and metric, smaller is better; with a leading + larger is better");
}

void fields(Fields& f, TrainConfig& c) {
  f("steps", c.steps, "length of the run; in tokens, every row counts as the longest one", kHorizonUnits, above(0.0));
  f("batch_size", c.batch_size, "rows of a micro-batch; this or batch_tokens", within(0, 1 << 20));
  f("batch_tokens", c.batch_tokens, "rows x train.length of a micro-batch; this or batch_size", within(0, 1 << 30));
  f("length", c.length, "tokens of a row; of a task with examples their largest size (symbols, words, digits)",
    required(within(1, 1 << 26)));
  f("trained_length", c.trained_length,
    "with --init: the length that the first weights were trained at, written by ordo train; 0: that run's own",
    within(0, 1 << 30));
  f("accumulate", c.accumulate, "micro-batches in one update", within(1, 1 << 20));
  f("optimizer", c.optimizer, "how gradients move the weights");
  f("schedule", c.schedule, "the learning rate over the run");
  f("precision", c.precision, "fp32, or autocast to bf16 or fp16 over fp32 weights", kPrecisions);
  f("scaler", c.scaler, "the loss scale under fp16");
  f("recompute", c.recompute, "gradient checkpointing: memory for time");
  f("clip", c.clip, "largest global norm of the gradients; 0: no clipping", at_least(0.0));
  f("ema", c.ema, "decay of an average of the weights that evaluation uses; 0: none", below_one());
  f("label_smoothing", c.label_smoothing, "probability mass spread over the whole vocabulary", below_one());
  f("z_loss", c.z_loss, "times the square of the log-partition, added to the loss", at_least(0.0));
  f("early_stop", c.early_stop, "ends the run when a metric no longer improves");
  f("on_nonfinite", c.on_nonfinite, "what to do about a loss or gradient that is not finite", kOnNonfinite);
  f("deterministic", c.deterministic, "only operators whose results repeat to the bit (matters on CUDA)");
  f("tf32", c.tf32, "fp32 products in TF32 on CUDA: faster, 10 bits of mantissa");
  f("certify", c.certify, "prove the model's properties before the first step, and stop if one does not hold");
  f("log_every", c.log_every, "steps between lines in the log and in metrics.jsonl", at_least(1));
}

void fields(Fields& f, EvaluateConfig& c) {
  f("every", c.every, "between evaluations; 0: only at the end", kHorizonUnits, at_least(0.0));
  f("lengths", c.lengths, "lengths to evaluate at; none: train.length", within(1, 1 << 26));
  f("stride", c.stride, "0: windows that do not overlap; n: sliding by n tokens", at_least(0));
  f("batch_size", c.batch_size, "rows at once; 0: as in training", within(0, 1 << 20));
}

void fields(Fields& f, CheckpointConfig& c) {
  f("every", c.every, "between checkpoints; 0: only at the end", kHorizonUnits, at_least(0.0));
  f("keep", c.keep, "newest checkpoints kept, besides the best", at_least(1));
  f("best", c.best,
    "split and metric by which the best one is chosen, smaller is better; with a leading + larger is better; empty: "
    "none");
}

void fields(Fields& f, RunConfig& c) {
  f("name", c.name, "of the run and its folder; default: the file's name");
  f("seed", c.seed_value, "of weights, data order and dropout", at_least(0));
  f("instance", c.instance, "of examples and splits that are drawn: the same ones for every seed; none: the seed's own",
    at_least(0));
  f("device", c.device, "auto, cpu, cuda or cuda:N");
  f("task", c.task, "data, loss and metrics", required());
  f("model", c.model, "what is trained", required());
  f("train", c.train, "how it is trained", required());
  f("evaluate", c.evaluate, "when and at which lengths it is evaluated");
  f("checkpoint", c.checkpoint, "when it is saved and what is kept");
}

namespace {
// Rows go on from one batch to the next: one update must not read several.
void check_memory(const RunConfig& c, Problems& problems) {
  if (c.model.kind != Decoder::kKind || !c.model.config) return;
  const int64_t memory = c.model.as<Decoder::Config>().memory;
  if (memory > 0 && c.train.accumulate > 1)
    problems.add("train.accumulate",
                 "train.accumulate ({}) takes the rows of an update one after another, but with model.memory ({}) they "
                 "go on from update to update: use accumulate: 1 and a larger batch",
                 c.train.accumulate, memory);
  if (memory > 0 && c.evaluate.stride > 0)
    problems.add("evaluate.stride",
                 "evaluate.stride ({}) slides windows over each other, but with model.memory ({}) each goes on where "
                 "the one before ended: leave it out",
                 c.evaluate.stride, memory);
}
}  // namespace

void check(const RunConfig& c, Problems& problems) {
  if (c.name.find_first_of("/\\") != std::string::npos || c.name.starts_with('.'))
    problems.add("name", "'{}' names a folder, so it must not start with a dot or hold / or \\", c.name);
  check_device(c.device, problems);
  check_batch(c.train, problems);
  if (constexpr double kLeastClip = 1e-20; c.train.clip > 0.0 && c.train.clip < kLeastClip)
    problems.add("train.clip", "train.clip ({}) makes every gradient 0; give {} or more, or 0 for no clipping",
                 number_text(c.train.clip), number_text(kLeastClip));
  check_warmup(c.train, problems);
  check_lengths(c, problems);
  if (c.train.early_stop) {
    check_metric("train.early_stop.metric", c.train.early_stop->metric, problems);
    if (c.evaluate.every.value == 0)
      problems.add(
          "train.early_stop",
          "train.early_stop counts evaluations, but evaluate.every is 0 (only at the end): give evaluate.every");
  }
  if (!c.checkpoint.best.empty()) check_metric("checkpoint.best", c.checkpoint.best, problems);
  if (c.train.on_nonfinite == OnNonfinite::rollback && c.checkpoint.every.value == 0)
    problems.add("train.on_nonfinite",
                 "train.on_nonfinite: rollback goes back to the last checkpoint, but checkpoint.every is 0 (only at "
                 "the end): give checkpoint.every");
  check_memory(c, problems);
  // A task cannot be made of settings that contradict each other.
  check(c.model, "model", problems.empty() ? checked_row_length(c, problems) : c.train.length, problems);
}

std::shared_ptr<Task> make_task(const RunConfig& config, const fs::path& saved_tokenizer) {
  const int64_t drawn = config.instance.value_or(config.seed_value);
  return tasks().build(config.task, {.saved_tokenizer = saved_tokenizer,
                                     .seed = static_cast<uint64_t>(drawn),
                                     .causal = is_causal(config.model),
                                     .reads_source = reads_source(config.model)});
}

int64_t row_length(const RunConfig& config) { return make_task(config)->row_length(config.train.length); }

LoadedConfig load_run_config(const fs::path& file, std::span<const std::string> overrides) {
  LoadedConfig loaded;
  loaded.config.name = file.stem().string();
  loaded.sources = load_config(file, walk_of(loaded.config), {.overrides = overrides},
                               [&](Problems& problems) { check(loaded.config, problems); });
  return loaded;
}

LoadedConfig load_run_config_text(const std::string& text, std::string_view name,
                                  std::span<const std::string> overrides) {
  LoadedConfig loaded;
  loaded.config.name = fs::path(name).stem().string();
  loaded.sources = load_config_text(text, walk_of(loaded.config), {.overrides = overrides, .name = std::string(name)},
                                    [&](Problems& problems) { check(loaded.config, problems); });
  return loaded;
}

int64_t rows_of(const TrainConfig& c) { return c.batch_size > 0 ? c.batch_size : c.batch_tokens / c.length; }

std::string resolved_yaml(const RunConfig& config) {
  RunConfig copy = config;
  return dump_yaml(walk_of(copy));
}

}  // namespace ordo
