// SPDX-License-Identifier: Apache-2.0
// ordo doctor: what this machine offers, and what is missing.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/rand.h>
#include <c10/core/InferenceMode.h>
#include <fmt/core.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "options.h"
#include "ordo/core/errors.h"
#include "ordo/core/files.h"
#include "ordo/core/text.h"
#include "ordo/cuda/backend.h"
#include "ordo/ops/device.h"

namespace ordo::cli {
namespace {

// "field : value" of /proc/cpuinfo or /proc/meminfo; "" when it is not there.
std::string proc_value(const char* file, std::string_view field) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (std::string_view(line).starts_with(field)) {
      const size_t colon = line.find(':');
      const size_t begin = line.find_first_not_of(" \t", colon + 1);
      return begin == line.npos ? "" : line.substr(begin);
    }
  return "";
}

// The instruction sets that decide which kernels LibTorch runs, in the order of their worth.
Words instruction_sets() {
  static constexpr std::pair<std::string_view, std::string_view> kKnown[] = {{"amx_bf16", "AMX (bf16)"},
                                                                             {"avx512_bf16", "AVX-512 bf16"},
                                                                             {"avx512_vnni", "AVX-512 VNNI (int8)"},
                                                                             {"avx512f", "AVX-512"},
                                                                             {"avx2", "AVX2"},
                                                                             {"fma", "FMA"}};
  std::istringstream flags(proc_value("/proc/cpuinfo", "flags"));
  const Words present{std::istream_iterator<std::string>(flags), {}};
  Words found;
  for (const auto& [flag, name] : kKnown)
    if (std::find(present.begin(), present.end(), flag) != present.end()) found.emplace_back(name);
  return found;
}

double gigabytes_of(const std::string& kilobytes) {
  return kilobytes.empty() ? 0.0 : std::strtod(kilobytes.c_str(), nullptr) * 1024.0;
}

// Seconds of one matrix product of this type at the size of a small model's layers: the best of five.
double product_seconds(at::ScalarType type) {
  constexpr int64_t kSize = 768;
  constexpr int kTries = 5;
  const c10::InferenceMode inference;
  const at::Tensor a = at::rand({kSize, kSize}).to(type), b = at::rand({kSize, kSize}).to(type);
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTries; ++i) {
    const auto start = std::chrono::steady_clock::now();
    at::matmul(a, b);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

struct Diagnosis {
  Json facts = Json::object();
  Table table{{}};
  Words advice;
  void fact(const std::string& name, const std::string& key, const Json& value, const std::string& shown) {
    facts[key] = value;
    table.row({name, shown});
  }
};

void look_at_cpu(Diagnosis& d) {
  const Words sets = instruction_sets();
  const std::string model = proc_value("/proc/cpuinfo", "model name");
  d.fact("processor", "processor", model, model.empty() ? "unknown" : model);
  d.fact("instruction sets", "instruction_sets", sets,
         fmt::format("{} (LibTorch uses {})", sets.empty() ? "none that matter" : join(sets, ", "),
                     at::get_cpu_capability()));
  d.fact("threads", "threads", at::get_num_threads(),
         fmt::format("{} of {} cores (set OMP_NUM_THREADS to change it)", at::get_num_threads(),
                     sysconf(_SC_NPROCESSORS_ONLN)));
  const double total = gigabytes_of(proc_value("/proc/meminfo", "MemTotal")),
               free = gigabytes_of(proc_value("/proc/meminfo", "MemAvailable"));
  d.fact("memory", "memory_available", free, fmt::format("{} available of {}", bytes_text(free), bytes_text(total)));
  if (free < 2e9)
    d.advice.push_back(
        "less than 2 GB of memory are available: keep train.batch_size small, or use train.recompute=blocks");
}

// Threads that wait spin at first; on cores that others want, every step then waits for somebody's time slice.
void look_at_load(Diagnosis& d) {
  double load = 0.0;
  if (getloadavg(&load, 1) != 1) return;
  d.fact("load", "load", load, fmt::format("{:.1f} (processes that wanted a core in the last minute)", load));
  if (load > 1.2 * static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)))
    d.advice.push_back(
        "other programs keep the cores busy: set OMP_WAIT_POLICY=passive, or OMP_NUM_THREADS to the cores that are "
        "free");
}

void look_at_disk(Diagnosis& d) {
  const auto space = fs::space(fs::current_path());
  d.fact("disk here", "disk_available", space.available,
         fmt::format("{} free in {}", bytes_text(static_cast<double>(space.available)), fs::current_path().string()));
  if (space.available < 1'000'000'000)
    d.advice.push_back(
        "less than 1 GB is free in this folder: a checkpoint holds weights and moments, 12 bytes a parameter under "
        "AdamW");
}

void look_at_gpu(Diagnosis& d) {
  const DriverProbe driver = probe_driver();
  const bool usable = driver.usable();
  d.fact("NVIDIA driver", "driver",
         usable ? Json{{"usable", true}, {"cuda", driver.version}, {"devices", driver.devices}}
                : Json{{"usable", false}, {"why_not", driver.why_not}},
         usable ? fmt::format("CUDA {}.{}, {} device(s)", driver.version / 1000, driver.version % 1000 / 10,
                              driver.devices)
                : driver.why_not);
  const std::string plugin = plugin_state();
  d.fact("CUDA part of Ordo", "cuda_plugin", plugin, plugin);
  d.facts["gpus"] = Json::array();
  if (!usable) return;
  try {
    open_device("cuda");
    for (int i = 0; i < cuda_backend()->devices(); ++i) {
      d.facts["gpus"].push_back(cuda_backend()->describe(i));
      d.table.row({fmt::format("GPU {}", i), cuda_backend()->describe(i)});
    }
  } catch (const Error& error) {
    d.advice.push_back(fmt::format("the GPU cannot be used: {}", error.what()));
  }
}

void look_at_precision(Diagnosis& d) {
  const double fp32 = product_seconds(at::kFloat), bf16 = product_seconds(at::kBFloat16);
  constexpr double kOperations = 2.0 * 768 * 768 * 768;
  d.fact("matrix products", "gflops", Json{{"fp32", kOperations / fp32 / 1e9}, {"bf16", kOperations / bf16 / 1e9}},
         fmt::format("fp32 {:.0f} GFLOP/s, bf16 {:.0f} GFLOP/s (768 x 768)", kOperations / fp32 / 1e9,
                     kOperations / bf16 / 1e9));
  if (bf16 > fp32)
    d.advice.push_back(
        fmt::format("on this CPU bf16 is {:.1f} times slower than fp32: keep train.precision=fp32 here", bf16 / fp32));
}

}  // namespace

int doctor(const Words& words) {
  Options options("doctor", "What this machine offers, and what is missing.");
  bool json = false;
  options.flag("--json", json, "one JSON document");
  if (!options.parse(words)) return kDone;

  Diagnosis d;
  d.fact("Ordo", "version", ORDO_VERSION, ORDO_VERSION);
  d.fact("LibTorch", "libtorch", TORCH_VERSION, TORCH_VERSION);
  look_at_gpu(d);  // first of all that makes a tensor
  look_at_cpu(d);
  look_at_load(d);
  look_at_disk(d);
  look_at_precision(d);
  if (json) {
    d.facts["advice"] = d.advice;
    print_json(d.facts);
    return kDone;
  }
  print(d.table.text());
  for (const auto& line : d.advice) print("\nnote: " + line + "\n");
  return kDone;
}

}  // namespace ordo::cli
