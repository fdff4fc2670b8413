// SPDX-License-Identifier: Apache-2.0
// A study whose results are written down instead of trained for.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "ordo/study/summary.h"

namespace ordo::test {

class MadeStudy {
 public:
  // One factor, `encoding`, with these levels; every run is missing until give() says what it gave.
  MadeStudy(const std::string& metric, const std::vector<std::string>& levels, int64_t seeds,
            std::vector<int64_t> lengths = {16})
      : metric_(metric) {
    plan.study.name = "made";
    plan.study.compare.metric = metric;
    plan.study.compare.factor = "encoding";
    plan.study.vary.push_back({.name = "encoding"});
    for (const auto& level : levels) {
      plan.study.vary.front().levels.push_back({.name = level});
      for (int64_t seed = 1; seed <= seeds; ++seed) add_run({{"encoding", level}}, seed, lengths);
    }
  }

  void add_run(const Combination& levels, int64_t seed, const std::vector<int64_t>& lengths) {
    std::string folder = "runs/";
    for (const auto& [factor, level] : levels) folder += level + "-";
    folder += "seed" + std::to_string(seed);
    plan.runs.push_back({.folder = folder, .levels = levels, .seed = seed, .split = "test", .lengths = lengths});
    results.runs.push_back({.run = folder, .levels = levels, .seed = seed});
    for (const int64_t length : lengths)
      results.rows.push_back({.levels = levels, .seed = seed, .run = folder, .split = "test", .length = length});
  }

  ResultRow& row(const std::string& level, int64_t seed, int64_t length = 16) {
    return *std::find_if(results.rows.begin(), results.rows.end(), [&](const ResultRow& r) {
      return r.levels.front().second == level && r.seed == seed && r.length == length && r.scaling.empty();
    });
  }
  RunFacts& run(const std::string& level, int64_t seed) {
    return *std::find_if(results.runs.begin(), results.runs.end(), [&](const RunFacts& facts) {
      return facts.levels.front().second == level && facts.seed == seed;
    });
  }

  // Seeds 1, 2, 3, … of a level at a length.
  MadeStudy& give(const std::string& level, const std::vector<double>& values, int64_t length = 16) {
    for (size_t i = 0; i < values.size(); ++i) {
      const auto seed = static_cast<int64_t>(i + 1);
      row(level, seed, length).metrics[metric_] = values[i];
      row(level, seed, length).status = RunStatus::done;
      row(level, seed, length).protocol = "whole_examples";
      run(level, seed).status = RunStatus::done;
    }
    return *this;
  }
  // Held-out items of every run of a level.
  MadeStudy& items(const std::string& level, const std::vector<double>& accuracy, int64_t twins = 1) {
    for (auto& row : results.rows) {
      if (row.levels.front().second != level) continue;
      row.item_accuracy = accuracy;
      row.twins = twins;
    }
    return *this;
  }
  void diverge(const std::string& level, int64_t seed) { leave(level, seed, RunStatus::diverged); }
  void lose(const std::string& level, int64_t seed) { leave(level, seed, RunStatus::missing); }

  ClaimConfig& claim(ClaimConfig claim) {
    if (claim.factor.empty()) claim.factor = "encoding";
    if (claim.metric.empty()) claim.metric = metric_;
    plan.study.claims.push_back(std::move(claim));
    return plan.study.claims.back();
  }

  Summary summary() const { return summarise(plan, results); }
  // Of the compared metric at a length.
  Cell cell(const std::string& level, int64_t length = 16) const {
    for (auto& cell : summary().cells)
      if (cell.levels.front().second == level && cell.length == length && cell.metric == metric_) return cell;
    return {};
  }
  Pair pair(const std::string& a) const {
    for (auto& pair : summary().pairs)
      if (pair.a == a) return pair;
    return {};
  }
  ClaimVerdict verdict() const { return summary().claims.at(0); }

  Plan plan;
  Results results;

 private:
  void leave(const std::string& level, int64_t seed, RunStatus status) {
    run(level, seed).status = status;
    for (auto& row : results.rows) {
      if (row.levels.front().second != level || row.seed != seed) continue;
      row.status = status;
      row.metrics.clear();
      row.item_accuracy.clear();
    }
  }
  std::string metric_;
};

}  // namespace ordo::test
