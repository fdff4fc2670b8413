// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/token_examples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ordo/metrics/likelihood.h"
#include "ordo/metrics/share.h"
#include "ordo/tasks/measured.h"

namespace ordo {

namespace {

// All metrics that are made of the sums of examples; of these a task has some.
struct TokenMetrics {
  Likelihood likelihood;
  Share accuracy{"accuracy"}, exact_match{"exact_match"};

  std::array<const ExampleMetric*, 3> all() const { return {&likelihood, &accuracy, &exact_match}; }
};

// Examples that are drawn together.
struct TokenBlock {
  TokenExamples::Sums sums;
  int64_t examples = 0, all_right = 0;

  void add(const TokenExamples::Sums& example) {
    sums.nats += example.nats;
    sums.right += example.right;
    sums.tokens += example.tokens;
    sums.characters += example.characters;
    sums.bytes += example.bytes;
    examples += 1;
    all_right += example.all_right() ? 1 : 0;
  }
  void tell(TokenMetrics& metrics) const {
    metrics.likelihood.add(sums.nats, sums.tokens, sums.characters, sums.bytes);
    metrics.accuracy.add(static_cast<double>(sums.right), static_cast<double>(sums.tokens));
    metrics.exact_match.add(static_cast<double>(all_right), static_cast<double>(examples));
  }
};

}  // namespace

void TokenExamples::add_intervals(std::span<const int64_t> block_of, Evaluation& into) const {
  ORDO_ASSERT(std::ssize(block_of) == count());
  if (std::any_of(all_.begin(), all_.end(), [](const Sums& sums) { return std::isnan(sums.nats); })) return;
  std::vector<TokenBlock> blocks(all_.empty() ? 0 : static_cast<size_t>(block_of.back()) + 1);
  for (size_t i = 0; i < all_.size(); ++i) blocks[static_cast<size_t>(block_of[i])].add(all_[i]);
  TokenMetrics drawn;
  for (const TokenBlock& block : blocks) block.tell(drawn);
  for (const ExampleMetric* const metric : drawn.all()) measure_intervals(*metric, into);
}

Json TokenExamples::values(int64_t i, const Metrics& metrics) const {
  Json told{{"tokens", at(i).tokens}};
  if (std::isnan(at(i).nats)) {
    told["loss"] = nullptr;
    return told;
  }
  TokenBlock block;
  block.add(at(i));
  TokenMetrics alone;
  block.tell(alone);
  for (const ExampleMetric* const metric : std::array<const ExampleMetric*, 2>{&alone.likelihood, &alone.accuracy}) {
    const Json row = example_row(*metric, 0);
    for (const auto& [name, value] : row.items())
      if (metrics.contains(name)) told[name] = value;
  }
  return told;
}

std::vector<int64_t> blocks_of(int64_t examples, int64_t together) {
  std::vector<int64_t> blocks;
  for (int64_t i = 0; i < examples; ++i) blocks.push_back(i / together);
  return blocks;
}

}  // namespace ordo
