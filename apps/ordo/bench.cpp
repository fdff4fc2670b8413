// SPDX-License-Identifier: Apache-2.0
// ordo bench: the real training step, measured in blocks; one JSON line a block.
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/rand.h>
#include <c10/core/InferenceMode.h>
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench_case.h"
#include "operator_profile.h"
#include "options.h"
#include "ordo/core/text.h"
#include "ordo/cuda/backend.h"
#include "ordo/nn/precision.h"
#include "ordo/ops/device.h"
#include "ordo/train/trainer.h"
#include "ordo/train/weights.h"
#include "runs.h"

namespace ordo::cli {
namespace {

struct BenchOptions {
  std::optional<std::string> file, name;
  Words overrides;
  int64_t batch = 0, threads = 0, warmup = 3, steps = 5, blocks = 5, seed = 1234;
  std::string dtype = "fp32";
  bool profile = false;
};

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double processor_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

double peak_resident_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

// A GPU works on while the program goes on: the clock is read when it is done.
void wait_for(c10::Device device) {
  if (device.is_cuda()) cuda_backend()->synchronize();
}

// What the machine can do: FLOP/s of one square matrix product of this type, the best of five.
double peak_flops(c10::Device device, at::ScalarType type) {
  const int64_t size = device.is_cuda() ? 8192 : 1024;  // a GPU is not busy with a small one
  constexpr int kTries = 5;
  const c10::InferenceMode inference;
  const auto values = at::TensorOptions().device(device);
  const at::Tensor a = at::rand({size, size}, values).to(type), b = at::rand({size, size}, values).to(type);
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTries; ++i) {
    wait_for(device);
    const double start = wall_seconds();
    at::matmul(a, b);
    wait_for(device);
    best = std::min(best, wall_seconds() - start);
  }
  return 2.0 * static_cast<double>(size * size * size) / best;
}

double rounded(double value, int digits) {
  const double unit = std::pow(10.0, digits);
  return std::round(value * unit) / unit;
}

// A trainer over a case's fixed batches, or over a config's own data.
class Bench {
 public:
  Bench(const BenchOptions& options) : options_(options) {
    const BenchSettings settings{.name = options.name.value_or(""),
                                 .batch = options.batch > 0 ? std::optional(options.batch) : std::nullopt,
                                 .precision = options.dtype,
                                 .seed = static_cast<uint64_t>(options.seed)};
    config_ = options.name ? bench_config(settings) : load_subject(*options.file, options.overrides).config;
    if (!options.name && options.batch > 0) config_.train.batch_size = options.batch;
    const c10::Device device = open_device(config_.device);
    device_ = device;
    if (options.threads > 0) at::set_num_threads(static_cast<int>(options.threads));
    Assembly parts;
    if (options.name) {
      parts.task = bench_task(settings, config_);
      parts.model = models().build(config_.model,
                                   parts.task->complete({.max_length = config_.train.length, .seed = config_.seed()}));
      fill_bench_weights(*parts.model, settings);
      parts.model->to(device);
      flops_ = bench_flops(settings, config_);
    } else {
      parts = assemble(config_, device, {});
      const int64_t tokens = rows_of(config_.train) * row_length(config_) * config_.train.accumulate;
      flops_ = 3.0 * parts.model->cost(row_length(config_)).flops_per_token * static_cast<double>(tokens);
    }
    for (const auto& parameter : parameters_of(*parts.model)) parameters_ += parameter.value.numel();
    trainer_ =
        std::make_unique<Trainer>(config_, TrainerParts{.task = parts.task, .model = parts.model, .device = device});
    peak_flops_ = peak_flops(device, compute_type(config_.train.precision));
    if (device.is_cuda()) cuda_backend()->reset_peak(device_index());
    const double start = wall_seconds();
    for (int64_t i = 0; i < options.warmup; ++i) step();
    warmup_ = wall_seconds() - start;
  }

  Json block(int64_t index) {
    std::vector<double> times;
    const double cpu = processor_seconds();
    const int64_t tokens_before = tokens_;
    for (int64_t i = 0; i < options_.steps; ++i) {
      const double start = wall_seconds();
      step();
      times.push_back(wall_seconds() - start);
    }
    const double used = processor_seconds() - cpu;
    double seconds = 0.0;
    for (const double t : times) seconds += t;
    std::nth_element(times.begin(), times.begin() + options_.steps / 2, times.end());
    const double flops = flops_ * static_cast<double>(options_.steps);
    Json line{{"bench", "train"},
              {"impl", "ordo"},
              {"case", options_.name.value_or(config_.name)},
              {"dtype", precision_name(config_.train.precision)},
              {"threads", at::get_num_threads()},
              {"params", parameters_},
              {"block", index},
              {"steps", options_.steps},
              {"tokens", tokens_ - tokens_before},
              {"sec", rounded(seconds, 5)},
              {"cpu_s", rounded(used, 5)},
              {"tok_s", rounded(static_cast<double>(tokens_ - tokens_before) / seconds, 1)},
              {"step_ms", rounded(1e3 * times[static_cast<size_t>(options_.steps / 2)], 3)},
              {"flops_step", flops_},
              {"gflops", rounded(flops / seconds / 1e9, 1)},
              {"gflops_cpu", rounded(flops / used / 1e9, 1)},
              {"peak_gflops", rounded(peak_flops_ / 1e9, 1)},
              {"share", rounded(flops / seconds / peak_flops_, 4)},
              {"loss", rounded(loss_, 6)},
              {"loss_at", loss_at_},
              {"done", done_},
              {"warmup_s", rounded(warmup_, 2)},
              {"peak_rss_mb", rounded(peak_resident_megabytes(), 1)}};
    if (device_.is_cuda())
      line["peak_device_mb"] =
          rounded(static_cast<double>(cuda_backend()->peak_memory(device_index())) / (1024.0 * 1024.0), 1);
    return line;
  }

  Json profile() {
    constexpr int kSteps = 3;
    return operator_profile([this] {
      for (int i = 0; i < kSteps; ++i) step();
    });
  }

 private:
  int device_index() const { return device_.has_index() ? device_.index() : 0; }
  void step() {
    const StepReport report = trainer_->step();
    wait_for(device_);
    ++done_;
    loss_ = report.loss;
    tokens_ = report.tokens;
    for (const int64_t told : {1, 2, 3, 5, 10, 20})
      if (done_ == told) loss_at_[std::to_string(done_)] = rounded(report.loss, 6);
  }

  BenchOptions options_;
  RunConfig config_;
  std::unique_ptr<Trainer> trainer_;
  c10::Device device_{c10::kCPU};
  double flops_ = 0.0, peak_flops_ = 0.0, loss_ = 0.0, warmup_ = 0.0;
  int64_t done_ = 0, tokens_ = 0, parameters_ = 0;
  Json loss_at_ = Json::object();
};

// With ORDO_BENCH_LOCKSTEP=1 every block waits for a line on standard input, so that several contestants take turns.
void run_blocks(Bench& bench, int64_t blocks) {
  const char* lockstep = std::getenv("ORDO_BENCH_LOCKSTEP");
  if (lockstep == nullptr || std::string_view(lockstep) != "1") {
    for (int64_t i = 0; i < blocks; ++i) print(json_line(bench.block(i)) + "\n");
    return;
  }
  print(json_line({{"ready", true}}) + "\n");
  int64_t index = 0;
  for (std::string line; output_open() && std::getline(std::cin, line) && line != "stop";)
    print(json_line(bench.block(index++)) + "\n");
}

}  // namespace

int bench(const Words& words) {
  BenchOptions o;
  std::string file;
  Options options("bench", "Measure the training step: one JSON line a block.");
  options.positional("CONFIG", file, "a config, measured on its own data; or --case", false);
  options.text(
      "--case", o.name, "NAME",
      "one of " + join(bench_case_names(), ", ") + ": fixed weights and tokens, comparable with other programs");
  options.integer("--batch", o.batch, "rows of a batch (the case's or the config's own)", 1, 1 << 20);
  options.integer("--threads", o.threads, "threads (all cores, or OMP_NUM_THREADS)", 1, 1024);
  options.integer("--warmup", o.warmup, "steps before the first block (3)", 0, 1 << 20);
  options.integer("--steps", o.steps, "steps in a block (5)", 1, 1 << 20);
  options.integer("--blocks", o.blocks, "blocks (5)", 1, 1 << 20);
  options.one_of("--dtype", o.dtype, {"fp32", "bf16"}, "of a case: fp32, or bf16 autocast");
  options.integer("--seed", o.seed, "of a case's weights and tokens (1234)", 0, 1LL << 62);
  options.flag("--profile", o.profile, "after the blocks: time by operator, over three more steps");
  options.overrides(o.overrides);
  if (!options.parse(words)) return kDone;

  require<ConfigError>(file.empty() == o.name.has_value(), "give either a CONFIG or --case NAME");
  require<ConfigError>(!o.name || o.overrides.empty(), "a case is fixed: overrides go with a CONFIG");
  require<ConfigError>(o.name || !options.given("--dtype"),
                       "--dtype belongs to a case; in a config it is train.precision");
  if (!file.empty()) o.file = file;
  Bench bench(o);
  run_blocks(bench, o.blocks);
  if (o.profile) print(json_line(bench.profile()) + "\n");
  return kDone;
}

}  // namespace ordo::cli
