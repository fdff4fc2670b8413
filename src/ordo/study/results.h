// SPDX-License-Identifier: Apache-2.0
// What the runs of a study gave: one row a run, length and scaling.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ordo/study/plan.h"

namespace ordo {

enum class RunStatus { done, diverged, failed, missing };
const char* status_name(RunStatus status);

struct ResultRow {
  Combination levels;
  int64_t seed = 0;
  std::optional<int64_t> instance = {};
  std::string run;      // folder, below the study's
  std::string scaling;  // of the position encoding at evaluation; empty: as trained
  std::string split, protocol;
  int64_t length = 0;
  Metrics metrics;                    // empty: refused, diverged or missing; what was not finite is NaN
  std::string refused;                // why the model cannot be evaluated at this length
  std::vector<double> item_accuracy;  // of each held-out example; empty: the task has none
  int64_t twins = 1;                  // examples that belong together: i / twins is their group
  std::vector<double> position_loss;  // mean loss by place in the row; empty: none
  double tokens = 0.0;                // judged
  RunStatus status = RunStatus::missing;
};
// Of a whole run, whatever it was evaluated at.
struct RunFacts {
  std::string run;
  Combination levels;
  int64_t seed = 0;
  std::optional<int64_t> instance = {};
  std::string trial = {};  // of tuning: the values tried
  RunStatus status = RunStatus::missing;
  std::string why;  // of a failure or a divergence
  int64_t steps = 0, tokens = 0, parameters = 0, unpaired_parameters = 0;
  double seconds = 0.0, tokens_per_second = 0.0, flops = 0.0, peak_memory = 0.0;
  std::string first_weights, data_order;  // hashes that prove the pairing; weights: of what all arms share
  std::vector<std::pair<int64_t, double>> train_curve;        // step, loss
  std::vector<std::pair<int64_t, Metrics>> validation_curve;  // step, metrics at the first evaluated length
};
struct Results {
  std::vector<RunFacts> runs;  // in the order of the plan; trials apart
  std::vector<RunFacts> trials;
  std::vector<ResultRow> rows;
  std::vector<ResultRow> trial_rows;
};
// Reads what is there. A run counts as done, diverged or failed only if its status.json says so with the plan's hash;
// else it is missing. Runs without metrics have a row for each length and scaling all the same. Throws CheckpointError
// that names the file when what a finished run left is damaged.
Results read_results(const fs::path& study, const Plan& plan);

// One row a run, length and scaling: factors, seed, instance, scaling, split, protocol, length, the metrics, steps,
// tokens, seconds, parameters, flops, status, run. RFC 4180: fields with a comma, a quote or a line break are quoted;
// lines end in CR LF.
std::string results_csv(const Plan& plan, const Results& results);

// Any run folders as if they were a study's: factors are what differs between their configs (settings that vary
// together are one factor, named after the first key), what `ordo eval` left or else the last best evaluation of the
// training are the results. Throws ConfigError for a folder that is no run.
struct RunsInput {
  Plan plan;
  Results results;
};
RunsInput results_of_runs(std::span<const fs::path> runs);

}  // namespace ordo
