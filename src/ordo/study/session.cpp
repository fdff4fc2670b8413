// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "ordo/config/writer.h"
#include "ordo/core/errors.h"
#include "ordo/core/log.h"
#include "ordo/core/text.h"
#include "ordo/study/arms.h"
#include "ordo/study/probe.h"
#include "ordo/study/trials.h"

namespace ordo {

namespace {

constexpr std::string_view kMeasuredFile = "measured.json", kChosenFile = "tune/chosen.json";

// ---- steps of a budget in seconds ----

bool leaves_steps_open(const StudyConfig& study) {
  return study.control.equal == Control::seconds || (study.budget.run && study.budget.run->unit == "s");
}

std::vector<const PlannedRun*> first_of_each_combination(const Plan& plan) {
  std::vector<const PlannedRun*> firsts;
  for (const auto& run : plan.runs)
    if (std::none_of(firsts.begin(), firsts.end(), [&](const auto* first) { return first->levels == run.levels; }))
      firsts.push_back(&run);
  return firsts;
}

// Seconds of a step, by the hash that a combination's first run had before its steps were settled.
using StepSeconds = std::map<std::string, double>;

Json read_measured(const fs::path& study) {
  const fs::path file = study / kMeasuredFile;
  return fs::exists(file) ? parse_json(read_file(file), file.string()) : Json::array();
}

StepSeconds step_seconds(const fs::path& study) {
  StepSeconds seconds;
  for (const Json& one : read_measured(study))
    seconds[one.at("hash").get<std::string>()] = one.at("step_seconds").get<double>();
  return seconds;
}

// What a combination's seconds are made equal to: the level that is compared against, else the first one, with the
// same levels of the other factors; itself where nothing is made equal to another.
const PlannedRun& reference_for(const Plan& plan, const std::vector<const PlannedRun*>& firsts, const PlannedRun& run) {
  if (plan.study.control.equal != Control::seconds) return run;
  const CompareConfig& compare = plan.study.compare;
  const PlannedRun* reference = nullptr;
  for (const auto* first : firsts) {
    const bool same = std::all_of(run.levels.begin(), run.levels.end(), [&](const auto& level) {
      return level.first == compare.factor || level_of(first->levels, level.first) == level.second;
    });
    if (same && (reference == nullptr || level_of(first->levels, compare.factor) == compare.against)) reference = first;
  }
  return *reference;  // at least the combination itself
}

// Those that the steps of the part's runs and trials hang on; of the whole plan, whose hashes do not depend on the
// part.
std::vector<const PlannedRun*> to_measure(const Plan& plan, const Plan& part) {
  const auto firsts = first_of_each_combination(plan);
  std::vector<const PlannedRun*> needed;
  const auto need = [&](const PlannedRun* first) {
    if (std::find(needed.begin(), needed.end(), first) == needed.end()) needed.push_back(first);
  };
  for (const auto* first : firsts) {
    const auto is_of = [&](const PlannedRun& run) { return run.levels == first->levels; };
    if (std::none_of(part.runs.begin(), part.runs.end(), is_of) &&
        std::none_of(part.trials.begin(), part.trials.end(), is_of))
      continue;
    need(&reference_for(plan, firsts, *first));
    need(first);
  }
  return needed;
}

// Measures what is not known yet of these and adds it to the file. False: a stop was asked for.
bool measure_steps(const fs::path& study, const StudyConfig& config, std::vector<const PlannedRun*> unknown,
                   const RunnerOptions& options) {
  const StepSeconds known = step_seconds(study);
  std::erase_if(unknown, [&](const auto* first) { return known.contains(first->hash); });
  if (unknown.empty()) return true;
  const std::vector<RunProbe> probes = probe(config, unknown, options);
  if (probes.size() < unknown.size() || (options.stop != nullptr && options.stop->load())) return false;
  Json measured = read_measured(study);
  for (const RunProbe& one : probes) {
    require(one.why.empty(), "{}: the time of a step could not be measured: {}", combination_text(one.run->levels),
            one.why);
    measured.push_back({{"levels", levels_json(one.run->levels)}, {"hash", one.run->hash}, {"step_seconds", one.step}});
  }
  write_file(study / kMeasuredFile, json_text(measured));
  return true;
}

// What a measurement made of a combination.
using Steps = std::vector<std::pair<Combination, int64_t>>;

// Of every combination whose time is known; a note tells of the others. The plan is as it was made: what is measured
// goes by the hashes that it began with.
Steps known_steps(const fs::path& study, Plan& plan) {
  const StepSeconds seconds = step_seconds(study);
  const auto firsts = first_of_each_combination(plan);
  Steps steps;
  std::vector<std::string> open;
  for (const auto* first : firsts) {
    const PlannedRun& reference = reference_for(plan, firsts, *first);
    if (!seconds.contains(first->hash) || !seconds.contains(reference.hash)) {
      open.push_back(combination_text(first->levels));
      continue;
    }
    const bool given = plan.study.budget.run && plan.study.budget.run->unit == "s";
    const double all = given ? plan.study.budget.run->value
                             : seconds.at(reference.hash) * static_cast<double>(planned_steps(reference.config));
    steps.emplace_back(first->levels, std::max<int64_t>(1, std::llround(all / seconds.at(first->hash))));
  }
  if (!open.empty())
    plan.notes.push_back(fmt::format("not measured yet, so planned with the steps of the base: {}", join(open, "; ")));
  return steps;
}

void set_steps(Plan& plan, const Steps& steps) {
  for (const auto& [levels, count] : steps) apply_steps(plan, levels, count);
}

// What was measured may be too short for the schedule, which nobody could tell before.
void require_trainable(const std::vector<PlannedRun>& runs) {
  for (const auto& run : runs) {
    Problems found;
    check(run.config, found);
    require<ConfigError>(found.empty(), "{}: as measured, a run has {}, and then: {}", combination_text(run.levels),
                         quantity_text(run.config.train.steps), found.empty() ? "" : found.all().front().text);
  }
}

// ---- tuning ----

std::string arm_text(const Combination& arm) { return arm.empty() ? "all runs" : combination_text(arm); }

// A choice for each arm whose trials are all made.
std::vector<Chosen> choices(const Plan& plan, const Results& results) {
  std::vector<Chosen> chosen;
  for (const auto& trial : judge_trials(plan, results))
    if (trial.chosen) chosen.push_back({trial.arm, trial.trial});
  return chosen;
}

Results read_trials(const fs::path& study, const Plan& plan) {
  Plan tried = plan;
  tried.runs.clear();
  return read_results(study, tried);
}

// The arms of the plan's runs for which nothing is chosen.
std::vector<Combination> unchosen(const Plan& plan, const std::vector<Chosen>& chosen) {
  std::vector<Combination> arms;
  for (const auto& run : plan.runs) {
    const Combination arm = arm_of(*plan.study.tune, run.levels);
    if (std::none_of(chosen.begin(), chosen.end(), [&](const Chosen& one) { return one.arm == arm; }) &&
        std::find(arms.begin(), arms.end(), arm) == arms.end())
      arms.push_back(arm);
  }
  return arms;
}

// Sets what the trials chose in every arm that has a choice; notes tell of the others, and of trials that failed.
void settle_tuning(const fs::path& study, Plan& plan) {
  const Results results = read_trials(study, plan);
  auto chosen = choices(plan, results);
  std::vector<std::string> open;
  for (const auto& arm : unchosen(plan, chosen)) {
    chosen.push_back({arm, ""});
    open.push_back(arm_text(arm));
  }
  apply_tuning(plan, chosen);
  for (const auto& trial : results.trials)
    if (trial.status == RunStatus::failed)
      plan.notes.push_back(fmt::format("a trial failed: {}: {}", trial.run, trial.why));
  if (!open.empty())
    plan.notes.push_back(fmt::format("not tuned yet, so planned with the values of the base: {}", join(open, "; ")));
}

void write_choices(const fs::path& study, const std::vector<Chosen>& chosen) {
  Json all = Json::array();
  for (const auto& one : chosen) all.push_back({{"arm", levels_json(one.arm)}, {"chosen", one.trial}});
  write_file(study / kChosenFile, json_text(all));
  for (const auto& one : chosen) log::info("tuning: {} goes on with {}", arm_text(one.arm), one.trial);
}

Plan part_of(Plan plan, std::span<const std::string> only) {
  keep_only(plan, only);
  return plan;
}

Plan settled(const fs::path& study, Plan plan) {
  settle_plan(study, plan);
  return plan;
}

void add_report(RunnerReport& report, RunnerReport more) {
  report.end = more.end;
  report.done += more.done;
  report.diverged += more.diverged;
  report.left += more.left;
  report.failed.insert(report.failed.end(), more.failed.begin(), more.failed.end());
}

// Makes the part's trials and says what those of the whole plan chose. False: not every arm of the part has a choice;
// the report says why.
bool make_trials(const fs::path& study, const Plan& whole, const Plan& part, const RunnerOptions& options,
                 RunnerReport& report) {
  report = make_runs(study, part.study, part.trials, options, "trials");
  const bool made = report.end == RunnerReport::End::all_made;
  const auto chosen = made ? choices(whole, read_trials(study, whole)) : std::vector<Chosen>();
  if (made && unchosen(part, chosen).empty()) {
    write_choices(study, chosen);
    return true;
  }
  if (made && report.failed.empty())
    report.failed.emplace_back("tune", "an arm has no trial that gave a value, so nothing is known to go on with");
  report.left += static_cast<int64_t>(part.runs.size());
  return false;
}

}  // namespace

void settle_plan(const fs::path& study, Plan& plan) {
  const Steps steps = leaves_steps_open(plan.study) ? known_steps(study, plan) : Steps();
  set_steps(plan, steps);
  if (plan.trials.empty()) return;
  settle_tuning(study, plan);
  set_steps(plan, steps);  // tuning begins from the base's
}

RunnerReport make_study(const fs::path& study, const Plan& plan, std::span<const std::string> only,
                        const RunnerOptions& options) {
  Plan part = part_of(plan, only);
  if (leaves_steps_open(plan.study) && !measure_steps(study, plan.study, to_measure(plan, part), options))
    return {.end = RunnerReport::End::stopped, .left = static_cast<int64_t>(part.trials.size() + part.runs.size())};
  const Plan whole = settled(study, plan);
  part = part_of(whole, only);
  if (leaves_steps_open(plan.study))
    for (const auto* runs : {&part.trials, &part.runs}) require_trainable(*runs);
  RunnerReport report;
  if (!part.trials.empty()) {
    if (!make_trials(study, whole, part, options, report)) return report;
    part = part_of(settled(study, plan), only);
  }
  add_report(report, make_runs(study, part.study, part.runs, options, "runs"));
  return report;
}

}  // namespace ordo
