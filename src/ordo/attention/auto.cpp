// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <mutex>
#include <set>

#include "ordo/attention/kernel.h"
#include "ordo/core/log.h"
#include "ordo/ops/type_name.h"

namespace ordo {

namespace {
// In the order of preference. On the CPU `tiled` is as fast as LibTorch's own, from one query to many, and for causal
// training 1.3 to 1.7 times as fast (tests/bench/attention_bench.cpp).
std::vector<std::string_view> preference(const AttentionCall& call) {
  if (call.q.device().is_cpu()) return {"tiled", "eager"};
  return {"flash", "sdpa", "tiled", "eager"};
}

std::string describe(const AttentionCall& call) {
  const Mask& m = call.mask;
  std::string text =
      fmt::format("{}, {}", type_name(call.q.scalar_type()), call.q.size(2) == 1 ? "one query" : "many queries");
  if (m.causal) text += ", causal";
  if (m.window) text += ", window";
  if (!m.positional()) text += ", padded or packed";
  if (call.bias) text += ", bias";
  if (call.value_term) text += ", value term";
  if (call.dropout > 0.0) text += ", dropout";
  return text;
}

// What a line tells of a call, in bits.
uint32_t signature(const AttentionCall& call, std::string_view kernel) {
  const Mask& m = call.mask;
  uint32_t bits = static_cast<uint32_t>(call.q.scalar_type());
  for (const bool is : {call.q.is_cuda(), call.q.size(2) == 1, m.causal, m.window.has_value(), m.positional(),
                        call.bias != nullptr, call.value_term != nullptr, call.dropout > 0.0})
    bits = bits << 1U | (is ? 1U : 0U);
  for (const std::string_view kind : {"flash", "sdpa", "tiled", "eager"})
    bits = bits << 1U | (kernel == kind ? 1U : 0U);
  return bits;
}

// Once in a process, whichever layer asks first.
void tell_once(const AttentionCall& call, const AutoKernel::Verdict& verdict) {
  static std::mutex telling;  // a replay asks from another thread
  static std::set<uint32_t> told;
  {
    const std::lock_guard lock(telling);
    if (!told.insert(signature(call, verdict.kind)).second) return;
  }
  std::string line = fmt::format("attention ({}): {}", describe(call), verdict.kind);
  for (const auto& [kind, why] : verdict.refused) line += fmt::format("; not {}: {}", kind, why);
  log::debug("{}", line);
}
}  // namespace

AutoKernel::AutoKernel(const Config&, const KernelFacts& facts) {
  for (const std::string_view kind : {"flash", "sdpa", "tiled", "eager"}) {
    auto kernel = kernels().build(kind, facts);
    order_.emplace_back(kind, register_module(std::string(kind), kernel));
  }
}
void fields(Fields&, AutoKernel::Config&) {}

KernelTraits AutoKernel::traits() const {
  return {.places = {.input = true, .query_key = true, .scores = true, .values = true}, .weights = true};
}

std::optional<std::string> AutoKernel::refuses(const AttentionCall&) const { return std::nullopt; }

AutoKernel::Verdict AutoKernel::choose(const AttentionCall& call) const {
  Verdict verdict;
  for (const std::string_view kind : preference(call)) {
    for (const auto& [name, kernel] : order_) {
      if (name != kind) continue;
      const auto why = kernel->refuses(call);
      if (!why) {
        verdict.kind = name;
        return verdict;
      }
      verdict.refused.emplace_back(name, *why);
    }
  }
  throw Error("attention: no kernel takes this call; `eager` should");
}

Attended AutoKernel::run(const AttentionCall& call) {
  const Verdict verdict = choose(call);
  tell_once(call, verdict);
  for (const auto& [name, kernel] : order_)
    if (name == verdict.kind) return kernel->run(call);
  throw Error("attention: kernel " + verdict.kind + " is not there");
}

}  // namespace ordo
