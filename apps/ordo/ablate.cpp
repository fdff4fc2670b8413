// SPDX-License-Identifier: Apache-2.0
// ordo ablate STUDY: makes the runs of a study, several at a time, and answers what it asks.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

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

// The plan as a whole, which is reported, and the part of it that --only leaves to be made.
struct StudyPlans {
  Plan whole, part;
};

// Runs as --only says, and all trials of their arms: a choice must not depend on what is left out.
Plan kept_part(const Plan& whole, const Words& only) {
  Plan part = whole;
  if (only.empty()) return part;
  std::set<std::string> wanted;
  for (const auto& run : make_plan(whole.study, only).runs) wanted.insert(run.folder);
  std::erase_if(part.runs, [&](const PlannedRun& run) { return !wanted.contains(run.folder); });
  std::erase_if(part.trials, [&](const PlannedRun& trial) {
    return std::none_of(part.runs.begin(), part.runs.end(), [&](const PlannedRun& run) {
      return arm_of(*whole.study.tune, run.levels) == arm_of(*whole.study.tune, trial.levels);
    });
  });
  return part;
}

StudyPlans make_plans(const AblateOptions& o) {
  StudyPlans plans;
  if (fs::is_directory(o.file)) {
    require<ConfigError>(o.overrides.empty(), "{} is a study folder: overrides go with the study's file", o.file);
    require<ConfigError>(fs::exists(fs::path(o.file) / "plan.yaml"),
                         "{} is no study: expected a study file, or the folder of a study, which holds a plan.yaml",
                         o.file);
    plans.whole = read_plan(o.file);
  } else {
    plans.whole = make_plan(load_study(o.file, o.overrides));
  }
  plans.part = kept_part(plans.whole, o.only);
  return plans;
}

fs::path folder_of(const AblateOptions& o, const Plan& plan) {
  if (o.folder) return *o.folder;
  return fs::is_directory(o.file) ? fs::path(o.file) : fs::path("studies") / plan.study.name;
}

// What the trials and measurements of the part decided holds for its runs in the whole.
void take_over(const std::vector<PlannedRun>& part, std::vector<PlannedRun>& whole) {
  for (const auto& run : part) {
    const auto same = std::find_if(whole.begin(), whole.end(), [&](const auto& w) { return w.folder == run.folder; });
    if (same != whole.end()) *same = run;
  }
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

// What can be written down of the study as it stands.
Summary write_report(const fs::path& folder, const Plan& plan) {
  StudyReport report{.plan = plan, .results = read_results(folder, plan)};
  report.summary = summarise(report.plan, report.results);
  write_file(folder / "results.csv", results_csv(report.plan, report.results));
  write_file(folder / "summary.json", json_text(summary_json(report.summary)));
  write_file(folder / "table.md", report_markdown(report));
  write_file(folder / "table.tex", report_latex(report));
  write_file(folder / "report.html", report_html(report));
  return std::move(report.summary);
}

bool all_hold(const Summary& summary) {
  return std::all_of(summary.claims.begin(), summary.claims.end(),
                     [](const ClaimVerdict& claim) { return claim.verdict == "holds"; });
}

// `made` tells of trials that failed, too, which the summary does not name.
void tell_outcome(const AblateOptions& o, const StudyConfig& study, const fs::path& folder, const Summary& summary,
                  const RunnerReport& made) {
  if (o.json) return print_json(summary_json(summary));
  print(outcome_text(study, summary));
  for (const auto& [run, why] : made.failed)
    if (run.starts_with("tune")) print(fmt::format("failed: {}: {}\n", run, why));
  print(fmt::format("\nreport: {}\n", (folder / "report.html").string()));
}

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
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
  Plan plan = make_plans(o).whole;
  const fs::path folder = folder_of(o, plan);
  require<ConfigError>(fs::is_directory(folder), "there is no study in {}: nothing to report yet", folder.string());
  settle_plan(folder, plan);
  const Summary summary = write_report(folder, plan);
  tell_outcome(o, plan.study, folder, summary, {});
  return o.require_claims && !all_hold(summary) ? kFailed : kDone;
}

int make(const AblateOptions& o, const Words& words, const std::atomic<bool>& stop) {
  StudyPlans plans = make_plans(o);
  const StudyConfig& study = plans.whole.study;
  const fs::path folder = folder_of(o, plans.whole);
  std::error_code failed;
  fs::create_directories(folder, failed);
  require<CheckpointError>(!failed, "cannot make the study folder {}: {}; give another one with -o DIR",
                           folder.string(), failed.message());
  const FolderLock lock(folder);
  log::to_file(folder / "log.txt");
  write_file(folder / "plan.yaml", plan_yaml(plans.whole));

  RunnerOptions options = runner_options(o, plans.part, stop);
  if (const auto seconds = study_seconds(study)) options.until = steady_seconds() + *seconds;
  log::info("study '{}' in {}: {} runs, {} at a time with {} thread(s) each{}", study.name, folder.string(),
            plans.part.trials.size() + plans.part.runs.size(), options.processes, options.threads,
            options.gpus.empty() ? "" : fmt::format(", on {} GPU(s)", options.gpus.size()));
  const RunnerReport made = make_study(folder, plans.part, options);
  take_over(plans.part.trials, plans.whole.trials);
  take_over(plans.part.runs, plans.whole.runs);
  write_file(folder / "plan.yaml", plan_yaml(plans.whole));

  if (made.end == RunnerReport::End::stopped) {
    tell_how_to_go_on(o, words, made);
    return kStopped;
  }
  const Summary summary = write_report(folder, plans.whole);
  tell_outcome(o, study, folder, summary, made);
  if (made.end == RunnerReport::End::out_of_time) {
    tell_how_to_go_on(o, words, made);
    return kStopped;
  }
  if (!made.failed.empty() || made.left > 0) return kFailed;
  return o.require_claims && !all_hold(summary) ? kFailed : kDone;
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
  options.texts("--only", o.only, "K=V",
                "make only the runs of a level (encoding=rope) or of a seed (seed=1); may be repeated");
  options.flag("--dry-run", o.dry_run, "the plan, its cost, and its time from a short probe; nothing is made");
  options.flag("--report-only", o.report_only, "results and report from the runs that are there");
  options.flag("--require-claims", o.require_claims, "exit 1 unless every claim holds");
  options.flag("--json", o.json, "one JSON document: summary.json; with --dry-run the plan");
  options.overrides(o.overrides);
  options.footer(
      "The same command goes on after any interruption: runs that are made stay, one that was interrupted resumes, one "
      "whose settings changed is made anew (what it was is kept in DIR/earlier). Words of the form a.b.c=value change "
      "the study (seeds=[1]) or every run of it (train.steps=20). Results to the last digit need the same number of "
      "threads a run: keep -j, or set OMP_NUM_THREADS.");
  if (!options.parse(words)) return kDone;
  require<ConfigError>(!(o.dry_run && o.report_only), "--dry-run and --report-only contradict: give one of them");
  const std::atomic<bool>& stop = stop_on_signals();
  if (o.report_only) return report_only(o);
  if (!o.dry_run) return make(o, words, stop);
  const Plan plan = make_plans(o).part;
  const PlanEstimate estimate = estimate_plan(plan, runner_options(o, plan, stop));
  if (o.json)
    print_json(estimate_json(plan, estimate));
  else
    print(estimate_text(plan, estimate));
  return stop ? kStopped : kDone;
}

}  // namespace ordo::cli
