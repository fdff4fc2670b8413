// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/majority.h"

#include <algorithm>

#include "ordo/tasks/rows.h"

namespace ordo {

namespace {

// Rows without a winner are drawn again; with more symbols than this, short rows would rarely have one.
constexpr double kMostCandidates = 100;

// The most frequent symbol; nothing when several share the first place.
std::optional<int64_t> winner_of(const std::vector<int64_t>& row, int64_t symbols) {
  std::vector<int64_t> votes(static_cast<size_t>(symbols));
  for (const int64_t symbol : row) ++votes[static_cast<size_t>(symbol)];
  const auto most = std::max_element(votes.begin(), votes.end());
  if (std::count(votes.begin(), votes.end(), *most) > 1) return std::nullopt;
  return most - votes.begin();
}

}  // namespace

void fields(Fields& f, Majority::Config& c) {
  f("symbols", c.symbols, "different symbols a row is drawn from", within(2, kMostCandidates));
  drawn_fields(f, c.drawn, Asks::label);
}

Majority::Majority(const Config& config, const TaskFacts& facts)
    : DrawnTask(config.drawn, facts, Asks::label, numbered_symbols(config.symbols)), config_(config) {}

Example Majority::example(KeyedSequence& draw, int64_t size) const {
  while (true) {
    auto given = draw_row(draw, size, config_.symbols);
    if (const auto winner = winner_of(given, config_.symbols)) return {std::move(given), {*winner}};
  }
}

}  // namespace ordo
