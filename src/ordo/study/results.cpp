// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/results.h"

#include <algorithm>

#include "ordo/study/pairing.h"
#include "ordo/study/run_reader.h"

namespace ordo {

namespace {

ResultRow named_row(ResultRow row, const PlannedRun& run, const std::string& scaling, RunStatus status) {
  row.levels = run.levels;
  row.seed = run.seed;
  row.instance = run.instance;
  row.run = run.folder;
  row.scaling = scaling;
  row.status = status;
  return row;
}

// Rows of one evaluation of a run, one a planned length; where there is none, the row says why by its status.
void add_rows(const fs::path& file, const std::string& scaling, const PlannedRun& run, RunStatus status,
              std::vector<ResultRow>& rows) {
  const auto found = status == RunStatus::done ? read_evaluation(file) : std::vector<ResultRow>{};
  for (const int64_t length : run.lengths) {
    const auto row = std::find_if(found.begin(), found.end(), [&](const ResultRow& r) { return r.length == length; });
    if (row != found.end())
      rows.push_back(named_row(*row, run, scaling, status));
    else
      rows.push_back(named_row({.split = run.split, .length = length}, run, scaling,
                               status == RunStatus::done ? RunStatus::missing : status));
  }
}

struct ReadRuns {
  std::vector<RunFacts> facts;
  std::vector<ResultRow> rows;
  std::vector<FirstWeights> weights;
};

ReadRuns read_runs(const fs::path& folder, const StudyConfig& study, const std::vector<PlannedRun>& runs) {
  ReadRuns read;
  for (const auto& run : runs) {
    const fs::path of_run = folder / run.folder;
    RunFacts facts{
        .run = run.folder, .levels = run.levels, .seed = run.seed, .instance = run.instance, .trial = run.trial};
    read_status(of_run, run.hash, facts);
    // What other settings left in the folder is none of this run's.
    const bool there = facts.status == RunStatus::done || facts.status == RunStatus::diverged;
    if (there) read_training(of_run, facts);
    read.weights.push_back(there ? read_first_weights(of_run) : FirstWeights{});
    add_rows(of_run / evaluation_file(0), "", run, facts.status, read.rows);
    for (const int64_t number : run.scalings)
      add_rows(of_run / evaluation_file(number), study.evaluate.scaling_names.at(static_cast<size_t>(number - 1)), run,
               facts.status, read.rows);
    read.facts.push_back(std::move(facts));
  }
  return read;
}

}  // namespace

const char* status_name(RunStatus status) {
  switch (status) {
    case RunStatus::done:
      return "done";
    case RunStatus::diverged:
      return "diverged";
    case RunStatus::failed:
      return "failed";
    case RunStatus::missing:
      break;
  }
  return "missing";
}

Results read_results(const fs::path& study, const Plan& plan) {
  ReadRuns runs = read_runs(study, plan.study, plan.runs);
  pair_first_weights(plan, runs.weights, runs.facts);
  ReadRuns trials = read_runs(study, plan.study, plan.trials);
  return {std::move(runs.facts), std::move(trials.facts), std::move(runs.rows), std::move(trials.rows)};
}

}  // namespace ordo
