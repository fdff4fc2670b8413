// SPDX-License-Identifier: Apache-2.0
// The runs of a study, several at a time, until all are made or a stop is asked for. What is made is not made again;
// what was interrupted goes on from its last checkpoint.
#pragma once
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ordo/study/run_job.h"

namespace ordo {

struct RunnerOptions {
  int64_t processes = 1;  // at a time
  int64_t threads = 1;    // of each
  // GPUs to share the processes out over, as CUDA_VISIBLE_DEVICES names them; empty: that is left as it is.
  std::vector<std::string> gpus = {};
  const std::atomic<bool>* stop = nullptr;
  double until = 0.0;  // steady_seconds() at which the study's time is over; 0: it has no limit
};

struct RunnerReport {
  enum class End { all_made, stopped, out_of_time } end = End::all_made;
  int64_t done = 0, diverged = 0, left = 0;                 // left: not made, for a stop or the end of the time
  std::vector<std::pair<std::string, std::string>> failed;  // folder, why
};

// The environment of a child on the n-th place of those at work.
std::vector<std::string> child_environment(const RunnerOptions& options, size_t place);

// `what`: a word for the progress line, "runs" or "trials".
RunnerReport make_runs(const fs::path& study, const StudyConfig& config, std::span<const PlannedRun> planned,
                       const RunnerOptions& options, std::string_view what);

}  // namespace ordo
