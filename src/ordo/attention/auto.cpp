// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <mutex>
#include <set>

#include "ordo/attention/kernel.h"
#include "ordo/core/log.h"

namespace ordo {

namespace {
// In the order of preference. On the CPU `tiled` is at least as fast as LibTorch's own (tests/bench/attention_bench.cpp); for one query a
// row, as in generation, it is not.
std::vector<std::string_view> preference(const AttentionCall& call) {
  if (!call.q.device().is_cpu()) return {"flash", "sdpa", "tiled", "eager"};
  if (call.q.size(2) == 1) return {"sdpa", "tiled", "eager"};
  return {"tiled", "sdpa", "eager"};
}

std::string describe(const AttentionCall& call) {
  const Mask& m = call.mask;
  return fmt::format("{} {}{}{}{}{}{}{}", c10::toString(call.q.scalar_type()), call.q.size(2) == 1 ? "one query" : "many queries",
                     m.causal ? ", causal" : "", m.window ? ", window" : "", m.positional() ? "" : ", padded or packed",
                     call.bias ? ", bias" : "", call.value_term ? ", value term" : "", call.dropout > 0.0 ? ", dropout" : "");
}

void tell_once(const std::string& what, const AutoKernel::Verdict& verdict) {
  static std::mutex guard;
  static std::set<std::string> told;
  std::string line = fmt::format("attention ({}): {}", what, verdict.kind);
  for (const auto& [kind, why] : verdict.refused) line += fmt::format("; not {}: {}", kind, why);
  const std::lock_guard lock(guard);
  if (told.insert(line).second) log::debug("{}", line);
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
  return {.places = {.input = true, .query_key = true, .scores = true, .values = true}, .weights = true, .note = "chooses for each call"};
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
  tell_once(describe(call), verdict);
  for (const auto& [name, kernel] : order_)
    if (name == verdict.kind) return kernel->run(call);
  throw Error("attention: kernel " + verdict.kind + " is not there");
}

}  // namespace ordo
