// SPDX-License-Identifier: Apache-2.0
// ordo ablate STUDY: makes the runs of a study, several at a time, and answers what it asks.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "ablate_estimate.h"
#include "ablate_outcome.h"
#include "options.h"
#include "ordo/core/errors.h"
#include "ordo/core/log.h"
#include "ordo/core/text.h"
#include "ordo/report/report.h"
#include "ordo/study/gpus.h"
#include "ordo/study/session.h"
#include "signals.h"

namespace ordo::cli {
namespace {

constexpr int kFailed = 1;

struct AblateOptions {
  std::string file;
  std::optional<std::string> folder;
  Words only, overrides;
  int64_t processes = 0;  // 0: as many as the machine takes
  bool dry_run = false, report_only = false, require_claims = false, json = false;
};

// The whole of it, which is reported whatever --only leaves to be made.
Plan planned(const AblateOptions& o) {
  if (!fs::is_directory(o.file)) return make_plan(load_study(o.file, o.overrides));
  require<ConfigError>(o.overrides.empty(), "{} is a study folder: overrides go with the study's file", o.file);
  require<ConfigError>(fs::exists(fs::path(o.file) / "plan.yaml"),
                       "{} is no study: expected a study file, or the folder of a study, which holds a plan.yaml",
                       o.file);
  return read_plan(o.file);
}

fs::path folder_of(const AblateOptions& o, const Plan& plan) {
  if (o.folder) return *o.folder;
  return fs::is_directory(o.file) ? fs::path(o.file) : fs::path("studies") / plan.study.name;
}

bool on_gpu(const PlannedRun& run) { return run.config.device != "cpu"; }
bool names_its_gpu(const PlannedRun& run) { return run.config.device.starts_with("cuda:"); }

// Who sets OMP_NUM_THREADS says how many threads a run has; else the cores are shared out.
RunnerOptions runner_options(const AblateOptions& o, const Plan& plan, const std::atomic<bool>& stop) {
  RunnerOptions options{.stop = &stop};
  const bool share_gpus = std::any_of(plan.runs.begin(), plan.runs.end(), on_gpu) &&
                          std::none_of(plan.runs.begin(), plan.runs.end(), names_its_gpu);
  if (share_gpus) options.gpus = gpus_to_share();
  const int64_t cores = usable_cores();
  const char* given = std::getenv("OMP_NUM_THREADS");
  const int64_t threads = given != nullptr && *given != '\0' ? std::max(1, std::atoi(given)) : 0;
  const int64_t fitting = options.gpus.empty() ? std::max<int64_t>(1, cores / std::max<int64_t>(1, threads))
                                               : static_cast<int64_t>(options.gpus.size());
  options.processes = o.processes > 0 ? o.processes : fitting;
  options.threads = threads > 0 ? threads : std::max<int64_t>(1, cores / options.processes);
  return options;
}

std::optional<double> study_seconds(const StudyConfig& study) {
  const auto& all = study.budget.study;
  if (!all) return std::nullopt;
  return all->value * (all->unit == "h" ? 3600.0 : all->unit == "min" ? 60.0 : 1.0);
}

// The study as it stands.
StudyReport report_of(const fs::path& folder, const Plan& plan) {
  StudyReport report{.plan = plan, .results = read_results(folder, plan)};
  report.summary = summarise(report.plan, report.results);
  return report;
}

int code_of(const AblateOptions& o, const Summary& summary) {
  const bool hold = std::all_of(summary.claims.begin(), summary.claims.end(),
                                [](const ClaimVerdict& claim) { return claim.verdict == "holds"; });
  return o.require_claims && !(summary.complete && hold) ? kFailed : kDone;
}

void tell_outcome(const AblateOptions& o, const StudyConfig& study, const fs::path& folder, const Summary& summary) {
  if (o.json) return print_json(summary_json(summary));
  print(outcome_text(study, summary));
  print(fmt::format("\nreport: {}\n", (folder / "report.html").string()));
}

void tell_how_to_go_on(const AblateOptions& o, const Words& words, const RunnerReport& made) {
  std::string command = "ordo ablate";
  for (const auto& word : words) command += " " + shell_word(word);
  const int64_t finished = made.done + made.diverged;
  const std::string text = fmt::format("stopped by {}: {} run(s) made, {} left; this goes on from there:\n  {}\n",
                                       made.end == RunnerReport::End::out_of_time ? "its budget" : stop_signal(),
                                       finished, made.left, command);
  if (o.json)
    log::info("{}", text);
  else
    print(text);
}

int report_only(const AblateOptions& o) {
  Plan plan = planned(o);
  const fs::path folder = folder_of(o, plan);
  require<ConfigError>(fs::is_directory(folder), "there is no study in {}: nothing to report yet", folder.string());
  settle_plan(folder, plan);
  const StudyReport report = report_of(folder, plan);
  write_report(folder, report);
  tell_outcome(o, plan.study, folder, report.summary);
  return code_of(o, report.summary);
}

// After a signal the report is left to be made, but --json promises a document.
int tell_made(const AblateOptions& o, const Words& words, const fs::path& folder, const Plan& plan,
              const RunnerReport& made) {
  const bool stopped = made.end == RunnerReport::End::stopped;
  if (!stopped || o.json) {
    const StudyReport report = report_of(folder, plan);
    if (!stopped) write_report(folder, report);
    tell_outcome(o, plan.study, folder, report.summary);
    if (made.end == RunnerReport::End::all_made)
      return !made.failed.empty() || made.left > 0 ? kFailed : code_of(o, report.summary);
  }
  tell_how_to_go_on(o, words, made);
  return kStopped;
}

int make(const AblateOptions& o, const Words& words, const std::atomic<bool>& stop) {
  Plan plan = planned(o);
  Plan part = plan;
  keep_only(part, o.only);
  const fs::path folder = folder_of(o, plan);
  std::error_code failed;
  fs::create_directories(folder, failed);
  require<CheckpointError>(!failed, "cannot make the study folder {}: {}; give another one with -o DIR",
                           folder.string(), failed.message());
  const FolderLock lock(folder);
  log::to_file(folder / "log.txt");
  write_file(folder / "plan.yaml", plan_yaml(plan));

  RunnerOptions options = runner_options(o, part, stop);
  if (const auto seconds = study_seconds(plan.study)) options.until = steady_seconds() + *seconds;
  const auto runs = static_cast<int64_t>(part.trials.size() + part.runs.size());
  log::info("study '{}' in {}: {} runs, {} at a time with {} thread(s) each{}", plan.study.name, folder.string(), runs,
            std::min(options.processes, runs), options.threads,
            options.gpus.empty() ? "" : fmt::format(", on {} GPU(s)", options.gpus.size()));
  RunnerReport made;
  try {
    made = make_study(folder, plan, o.only, options);
  } catch (const Error&) {
    log::info("what is made stays in {}: once this is mended, the same command goes on from there", folder.string());
    throw;
  }
  settle_plan(folder, plan);
  write_file(folder / "plan.yaml", plan_yaml(plan));
  return tell_made(o, words, folder, plan, made);
}

}  // namespace

int ablate(const Words& words) {
  AblateOptions o;
  Options options("ablate", "Run a study: every combination of its settings on every seed; then the answer.");
  options.positional("STUDY", o.file, "a study file, or the folder of a study to go on with");
  options.integer("-j,--jobs", o.processes,
                  "runs at a time, the cores shared out among them (one a core; one a GPU where the runs use GPUs)", 1,
                  4096);
  options.text("-o,--output", o.folder, "DIR", "the study's folder (studies/NAME under the current folder)");
  options.texts(
      "--only", o.only, "K=V",
      "make only the runs of a level (encoding=rope) or of a seed (seed=1); may be repeated, which adds to it");
  options.flag("--dry-run", o.dry_run, "the plan, its cost, and its time from a short probe; nothing is made");
  options.flag("--report-only", o.report_only, "results and report from the runs that are there");
  options.flag("--require-claims", o.require_claims, "exit 1 unless the study is complete and every claim holds");
  options.flag("--json", o.json, "one JSON document: summary.json; with --dry-run the plan");
  options.overrides(o.overrides);
  options.footer(
      "The same command goes on after any interruption: runs that are made stay, one that was interrupted resumes, one "
      "whose settings changed is made anew (what it was is kept in DIR/earlier). Words of the form a.b.c=value change "
      "the study (seeds=[1]) or every run of it (train.steps=20). Results to the last digit need the same number of "
      "threads a run: keep -j, or set OMP_NUM_THREADS.");
  if (!options.parse(words)) return kDone;
  require<ConfigError>(!(o.dry_run && o.report_only), "--dry-run and --report-only contradict: give one of them");
  require<ConfigError>(!(o.report_only && !o.only.empty()),
                       "--report-only is of the whole study, and --only of what is made: give one of them");
  require<ConfigError>(!(o.dry_run && o.require_claims),
                       "--dry-run makes nothing that claims could be judged by: leave --require-claims out");
  const std::atomic<bool>& stop = stop_on_signals();
  if (o.report_only) return report_only(o);
  if (!o.dry_run) return make(o, words, stop);
  Plan plan = planned(o);
  keep_only(plan, o.only);
  const PlanEstimate estimate = estimate_plan(plan, runner_options(o, plan, stop));
  if (o.json)
    print_json(estimate_json(plan, estimate));
  else
    print(estimate_text(plan, estimate));
  return stop ? kStopped : kDone;
}

}  // namespace ordo::cli
