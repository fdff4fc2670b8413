// SPDX-License-Identifier: Apache-2.0
// Any runs as a study: what their configs differ in are its factors.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ordo/core/text.h"
#include "ordo/study/deciding.h"
#include "ordo/study/pairing.h"
#include "ordo/study/run_reader.h"

namespace ordo {

namespace {

// The values of one config key in each run; "" where a run has no such key.
struct VaryingKey {
  std::string path;
  std::vector<std::string> values;
};

// By path; a kind before what belongs to it.
bool stands_before(const VaryingKey& a, const VaryingKey& b) {
  const auto order = [](const VaryingKey& key) {
    const bool kind = key.path.ends_with(".kind");
    return kind ? key.path.substr(0, key.path.size() - std::string_view("kind").size()) : key.path;
  };
  return order(a) < order(b);
}

std::vector<VaryingKey> varying_keys(std::vector<RunConfig>& configs) {
  std::vector<VaryingKey> keys;
  for (size_t run = 1; run < configs.size(); ++run) {
    for (const auto& difference : differ(walk_of(configs.front()), walk_of(configs[run]))) {
      if (decided_by(difference.path) != Decides::training) continue;
      auto key = std::find_if(keys.begin(), keys.end(), [&](const auto& k) { return k.path == difference.path; });
      if (key == keys.end())
        key = keys.insert(keys.end(), {difference.path, std::vector<std::string>(configs.size(), difference.a)});
      key->values[run] = difference.b;
    }
  }
  std::sort(keys.begin(), keys.end(), stands_before);
  return keys;
}

// Whether runs that agree in b agree in a.
bool is_function_of(const VaryingKey& a, const VaryingKey& b) {
  for (size_t i = 0; i < a.values.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (b.values[i] == b.values[j] && a.values[i] != a.values[j]) return false;
  return true;
}

// Keys that vary together: one factor, named after the first.
using KeysOfFactor = std::vector<const VaryingKey*>;

std::vector<KeysOfFactor> factors_of(const std::vector<VaryingKey>& keys) {
  std::vector<KeysOfFactor> factors;
  std::set<const VaryingKey*> taken;
  for (const auto& finest : keys) {
    const bool coarser = std::any_of(keys.begin(), keys.end(), [&](const VaryingKey& other) {
      return is_function_of(finest, other) && !is_function_of(other, finest);
    });
    if (coarser || taken.contains(&finest)) continue;
    KeysOfFactor members;
    for (const auto& key : keys)
      if (!taken.contains(&key) && is_function_of(key, finest)) members.push_back(&key);
    taken.insert(members.begin(), members.end());
    factors.push_back(std::move(members));
  }
  return factors;
}

// The first value, and as many more as it takes to tell the levels apart.
std::vector<std::string> level_names_of(const KeysOfFactor& keys) {
  const size_t runs = keys.front()->values.size();
  const auto name = [&](size_t run, size_t values) {
    std::vector<std::string> parts;
    for (size_t i = 0; i < values; ++i)
      if (!keys[i]->values[run].empty()) parts.push_back(keys[i]->values[run]);
    return parts.empty() ? std::string("none given") : join(parts, ", ");
  };
  const auto apart = [&](size_t i, size_t j) {
    return std::any_of(keys.begin(), keys.end(),
                       [&](const VaryingKey* key) { return key->values[i] != key->values[j]; });
  };
  size_t values = 1;
  for (size_t i = 0; i < runs; ++i)
    for (size_t j = 0; j < i; ++j)
      while (values < keys.size() && apart(i, j) && name(i, values) == name(j, values)) ++values;
  std::vector<std::string> names;
  for (size_t run = 0; run < runs; ++run) names.push_back(name(run, values));
  return names;
}

// "model.position.0.kind" -> "position", "train.optimizer.lr" -> "lr".
std::string short_name(const std::string& path) {
  std::vector<std::string> parts = split(path, '.');
  const auto says_nothing = [](const std::string& part) {
    return part == "kind" || part.find_first_not_of("0123456789") == part.npos;
  };
  while (parts.size() > 1 && says_nothing(parts.back())) parts.pop_back();
  return parts.back();
}

void add_factor(StudyConfig& study, std::vector<PlannedRun>& runs, std::string name,
                const std::vector<std::string>& levels) {
  Factor factor{.name = std::move(name)};
  for (size_t run = 0; run < runs.size(); ++run) {
    runs[run].levels.emplace_back(factor.name, levels[run]);
    if (factor.find(levels[run]) == nullptr) factor.levels.push_back({.name = levels[run]});
  }
  study.vary.push_back(std::move(factor));
}

// Runs of the same settings and seed are told apart by their number.
void add_repeats(StudyConfig& study, std::vector<PlannedRun>& runs) {
  std::map<std::tuple<Combination, int64_t, std::optional<int64_t>>, int64_t> seen;
  std::vector<std::string> numbers;
  int64_t most = 1;
  for (const auto& run : runs) {
    const int64_t number = ++seen[{run.levels, run.seed, run.instance}];
    most = std::max(most, number);
    numbers.push_back(std::to_string(number));
  }
  if (most > 1) add_factor(study, runs, "repeat", numbers);
}

void name_factors(std::vector<RunConfig>& configs, Plan& plan) {
  const auto keys = varying_keys(configs);
  std::set<std::string> names;
  for (const auto& members : factors_of(keys)) {
    std::string name = short_name(members.front()->path);
    if (!names.insert(name).second) name = members.front()->path;
    add_factor(plan.study, plan.runs, name, level_names_of(members));
  }
  add_repeats(plan.study, plan.runs);
}

// checkpoint.best of the first run: "+validation.accuracy" -> "accuracy".
std::string metric_of_runs(const RunConfig& config) {
  const std::string& best = config.checkpoint.best;
  return best.empty() ? "loss" : best.substr(best.rfind('.') + 1);
}

void settle_question(const std::vector<RunConfig>& configs, Plan& plan) {
  StudyConfig& study = plan.study;
  study.name = "runs";
  for (const auto& run : plan.runs)
    if (std::find(study.seeds.begin(), study.seeds.end(), run.seed) == study.seeds.end())
      study.seeds.push_back(run.seed);
  study.compare.metric = metric_of_runs(configs.front());
  if (!study.vary.empty()) study.compare.factor = study.vary.front().name;
  if (!plan.runs.empty()) study.evaluate.split = plan.runs.front().split;
  plan.notes.emplace_back(
      "these runs were not planned as one study: factors are what their configs differ in, budgets may differ");
}

// The rows without their levels, which are not known yet.
std::vector<ResultRow> rows_of_run(const fs::path& folder, RunFacts& facts) {
  read_status(folder, "", facts);
  read_training(folder, facts);
  std::vector<ResultRow> rows;
  for (int64_t number = 0; fs::exists(folder / evaluation_file(number)); ++number)
    for (auto& row : read_evaluation(folder / evaluation_file(number))) rows.push_back(std::move(row));
  if (rows.empty()) rows = read_best_evaluation(folder);
  if (facts.status == RunStatus::missing && !rows.empty()) facts.status = RunStatus::done;
  for (auto& row : rows) row.status = facts.status;
  return rows;
}

}  // namespace

RunsInput results_of_runs(std::span<const fs::path> runs) {
  RunsInput made;
  std::vector<RunConfig> configs;
  std::vector<std::vector<ResultRow>> rows;
  std::vector<FirstWeights> weights;
  for (const auto& folder : runs) {
    const fs::path config = folder / "config.yaml";
    require<ConfigError>(fs::exists(config), "{} is no run folder: there is no config.yaml in it", folder.string());
    configs.push_back(load_run_config(config, {}).config);
    PlannedRun run{.folder = folder.string(), .seed = configs.back().seed_value, .config = configs.back()};
    run.instance = configs.back().instance;
    RunFacts facts{.run = run.folder, .seed = run.seed, .instance = run.instance};
    rows.push_back(rows_of_run(folder, facts));
    for (const auto& row : rows.back())
      if (row.scaling == rows.back().front().scaling) run.lengths.push_back(row.length);
    if (!rows.back().empty()) run.split = rows.back().front().split;
    weights.push_back(read_first_weights(folder));
    made.plan.runs.push_back(std::move(run));
    made.results.runs.push_back(std::move(facts));
  }
  require<ConfigError>(!configs.empty(), "no run to report on: give run folders");
  name_factors(configs, made.plan);
  settle_question(configs, made.plan);
  for (size_t i = 0; i < rows.size(); ++i) {
    const PlannedRun& run = made.plan.runs[i];
    made.results.runs[i].levels = run.levels;
    for (auto& row : rows[i]) {
      row.levels = run.levels;
      row.seed = run.seed;
      row.instance = run.instance;
      row.run = run.folder;
      made.results.rows.push_back(std::move(row));
    }
  }
  pair_first_weights(made.plan, weights, made.results.runs);
  return made;
}

}  // namespace ordo
