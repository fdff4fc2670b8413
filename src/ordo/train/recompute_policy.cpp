// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/recompute_policy.h"

#include <algorithm>
#include <cmath>

#include "ordo/core/log.h"
#include "ordo/core/text.h"

namespace ordo {

void fields(Fields&, RecomputeNone::Config&) {}
RecomputeNone::RecomputeNone(const Config&, const RecomputeFacts& facts) : layers_(facts.layers) {}

void fields(Fields&, RecomputeBlocks::Config&) {}
RecomputeBlocks::RecomputeBlocks(const Config&, const RecomputeFacts& facts) : layers_(facts.layers) {}

void fields(Fields& f, RecomputeEvery::Config& c) { f("n", c.n, "recompute the first of each n blocks", at_least(1)); }
RecomputeEvery::RecomputeEvery(const Config& config, const RecomputeFacts& facts)
    : n_(config.n), layers_(facts.layers) {}
std::vector<bool> RecomputeEvery::blocks() const {
  std::vector<bool> flags(static_cast<size_t>(layers_));
  for (int64_t i = 0; i < layers_; ++i) flags[static_cast<size_t>(i)] = i % n_ == 0;
  return flags;
}

void fields(Fields& f, RecomputeBudget::Config& c) {
  f("memory", c.memory, "for the activations of one micro-batch", kMemoryUnits, above(0.0));
}
RecomputeBudget::RecomputeBudget(const Config& config, const RecomputeFacts& facts)
    : budget_bytes_(config.memory.value * (config.memory.unit == "GB" ? 1e9 : 1e6)), facts_(facts) {}
std::vector<bool> RecomputeBudget::blocks() const {
  std::vector<bool> flags(static_cast<size_t>(facts_.layers));
  if (facts_.layers == 0 || facts_.activation_bytes <= budget_bytes_) return flags;
  // While a recomputed block is replayed its insides are there too: one block's worth is always needed.
  const double block = facts_.activation_bytes / static_cast<double>(facts_.layers);
  const auto kept = static_cast<int64_t>(std::floor(budget_bytes_ / block)) - 1;
  if (kept < 0)
    log::warn(
        "train.recompute (budget): one block alone needs {} for its activations, more than the budget of {}; all "
        "blocks are recomputed",
        bytes_text(block), bytes_text(budget_bytes_));
  const int64_t dropped = facts_.layers - std::max<int64_t>(0, kept);
  std::fill_n(flags.begin(), dropped, true);
  return flags;
}

}  // namespace ordo
