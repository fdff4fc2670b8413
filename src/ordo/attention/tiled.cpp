// SPDX-License-Identifier: Apache-2.0
#include "ordo/attention/tiled.h"

#include "ordo/attention/cpu_strips.h"
#include "ordo/attention/strips.h"

namespace ordo {

TiledKernel::TiledKernel(const Config& config, const KernelFacts&) : config_(config) {}
void fields(Fields& f, TiledKernel::Config& c) {
  f("rows", c.rows, "query rows of a strip on the general path, at most: long rows take thinner strips", at_least(1));
}

KernelTraits TiledKernel::traits() const {
  return {.places = {.input = true, .query_key = true, .scores = true, .values = true}};
}

std::optional<std::string> TiledKernel::refuses(const AttentionCall& call) const {
  if (call.want_weights) return "it never holds attention weights";
  return std::nullopt;
}

Attended TiledKernel::run(const AttentionCall& call) {
  if (auto out = attend_on_cpu(call)) return {*out};
  return {attend_in_strips(call, config_.rows)};
}

}  // namespace ordo
