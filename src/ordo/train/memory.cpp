// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/memory.h"

#include <c10/util/Exception.h>
#include <sys/resource.h>

#include <algorithm>
#include <new>

#include "ordo/core/text.h"
#include "ordo/cuda/backend.h"
#include "ordo/ops/device.h"
#include "ordo/train/weights.h"

namespace ordo {

namespace {
// What the allocators' messages open with: "… you tried to allocate 4096 bytes. Error code 12" (CPU), "CUDA out of
// memory. Tried to allocate 2.00 GiB." (CUDA).
std::string amount_asked(const std::string& message) {
  for (const std::string_view opening : {"tried to allocate ", "Tried to allocate "}) {
    const size_t at = message.find(opening);
    if (at == std::string::npos) continue;
    const size_t begin = at + opening.size();
    return " (" + message.substr(begin, message.find_first_of("\n.", message.find(' ', begin)) - begin) +
           " were asked for)";
  }
  return "";
}

double tokens_of(const RunConfig& config) { return static_cast<double>(rows_of(config.train) * row_length(config)); }

double bytes_of_number(const RunConfig& config) { return config.train.precision == Precision::fp32 ? 4.0 : 2.0; }

// With nothing recomputed.
double all_activation_bytes(const RunConfig& config, const Model& model) {
  return model.cost(row_length(config)).activation_bytes_per_token * tokens_of(config) * bytes_of_number(config) / 4.0;
}

[[noreturn]] void throw_out_of_memory(const std::string& message, const RunConfig& config, const Model& model) {
  double weights = 0.0;
  for (const auto& p : parameters_of(model)) weights += static_cast<double>(p.value.nbytes());
  throw DeviceError(
      fmt::format("memory ran out{}. Of this run, weights and gradients take {} each, the optimiser (for AdamW) {}, "
                  "activations of one micro-batch about "
                  "{}. Lower train.batch_size and raise train.accumulate by as much, or set train.recompute: blocks",
                  amount_asked(message), bytes_text(weights), bytes_text(2.0 * weights),
                  bytes_text(activation_bytes(config, model))));
}
}  // namespace

std::vector<bool> blocks_to_recompute(const RunConfig& config, const Model& model) {
  return recompute_policies()
      .build(config.train.recompute,
             {.layers = model.layers(), .activation_bytes = all_activation_bytes(config, model)})
      ->blocks();
}

double activation_bytes(const RunConfig& config, const Model& model) {
  const auto flags = blocks_to_recompute(config, model);
  const double all = all_activation_bytes(config, model);
  const auto dropped = static_cast<double>(std::count(flags.begin(), flags.end(), true));
  if (dropped == 0.0) return all;
  // A dropped block keeps its input; on the way back the insides of one at a time are there.
  const double block = all / static_cast<double>(model.layers());
  const double input = tokens_of(config) * static_cast<double>(model.dim()) * bytes_of_number(config);
  return std::min(all, all - (dropped - 1.0) * block + dropped * input);
}

double peak_memory(c10::Device device) {
  if (device.is_cuda() && cuda_backend() != nullptr)
    return static_cast<double>(cuda_backend()->peak_memory(device.has_index() ? device.index() : 0));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024.0;
}

void rethrow_explained(const RunConfig& config, const Model& model) {
  try {
    throw;
  } catch (const c10::OutOfMemoryError& e) {
    throw_out_of_memory(e.what_without_backtrace(), config, model);
  } catch (const std::bad_alloc&) {
    throw_out_of_memory("", config, model);
  } catch (const c10::Error& e) {
    const std::string message = e.what_without_backtrace();
    if (message.find("can't allocate memory") == std::string::npos &&
        message.find("not enough memory") == std::string::npos)
      throw;
    throw_out_of_memory(message, config, model);
  }
}

}  // namespace ordo
