// SPDX-License-Identifier: Apache-2.0
// The shapes of `ordo bench --case NAME`: the same weights and the same tokens that the benchmark's peers make in other
// languages, so that losses can be compared step by step and only then speeds.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "command.h"
#include "ordo/train/run_config.h"

namespace ordo::cli {

// Numbers from a counter: splitmix64 of (i + 1) * golden + seed.
uint64_t bench_number(uint64_t i, uint64_t seed);

Words bench_case_names();
struct BenchSettings {
  std::string name;
  std::optional<int64_t> batch;    // else the case's own
  std::string precision = "fp32";  // or bf16
  uint64_t seed = 1234;
};
RunConfig bench_config(const BenchSettings& settings);
// Fixed batches, used in turn.
std::shared_ptr<Task> bench_task(const BenchSettings& settings, const RunConfig& config);
// Overwrites a model's parameters with the case's initial weights.
void fill_bench_weights(Model& model, const BenchSettings& settings);
// Floating-point operations of one training step: matrix products only, causal attention at half, forward once and
// backward twice.
double bench_flops(const BenchSettings& settings, const RunConfig& config);

}  // namespace ordo::cli
