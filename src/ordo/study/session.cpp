// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "ordo/core/errors.h"
#include "ordo/core/log.h"
#include "ordo/study/arms.h"
#include "ordo/study/probe.h"
#include "ordo/study/trials.h"

namespace ordo {

namespace {

constexpr std::string_view kMeasuredFile = "measured.json", kChosenFile = "tune/chosen.json";

Json levels_json(const Combination& levels) {
  Json json = Json::object();
  for (const auto& [factor, level] : levels) json[factor] = level;
  return json;
}

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

// Measures what is not known yet and adds it to the file. False: a stop was asked for.
bool measure_steps(const fs::path& study, const Plan& plan, const RunnerOptions& options) {
  const StepSeconds known = step_seconds(study);
  std::vector<const PlannedRun*> unknown = first_of_each_combination(plan);
  std::erase_if(unknown, [&](const auto* first) { return known.contains(first->hash); });
  if (unknown.empty()) return true;
  const std::vector<Probe> probes = probe(plan.study, unknown, options);
  if (probes.size() < unknown.size() || (options.stop != nullptr && options.stop->load())) return false;
  Json measured = read_measured(study);
  for (const Probe& one : probes) {
    require(one.why.empty(), "{}: the time of a step could not be measured: {}", combination_text(one.run->levels),
            one.why);
    measured.push_back({{"levels", levels_json(one.run->levels)}, {"hash", one.run->hash}, {"step_seconds", one.step}});
  }
  write_file(study / kMeasuredFile, json_text(measured));
  return true;
}

// What a combination's seconds are made equal to: the level that is compared against, else the first one, with the
// same levels of the other factors.
const PlannedRun& reference_for(const Plan& plan, const std::vector<const PlannedRun*>& firsts, const PlannedRun& run) {
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

// Combination and steps, for apply_steps; nothing while a measurement is missing.
using Steps = std::vector<std::pair<Combination, int64_t>>;

std::optional<Steps> known_steps(const fs::path& study, const Plan& plan) {
  const StepSeconds seconds = step_seconds(study);
  const auto firsts = first_of_each_combination(plan);
  Steps steps;
  for (const auto* first : firsts) {
    const PlannedRun& reference =
        plan.study.control.equal == Control::seconds ? reference_for(plan, firsts, *first) : *first;
    if (!seconds.contains(first->hash) || !seconds.contains(reference.hash)) return std::nullopt;
    const bool given = plan.study.budget.run && plan.study.budget.run->unit == "s";
    const double all = given ? plan.study.budget.run->value
                             : seconds.at(reference.hash) * static_cast<double>(planned_steps(reference.config));
    steps.emplace_back(first->levels, std::max<int64_t>(1, std::llround(all / seconds.at(first->hash))));
  }
  return steps;
}

void set_steps(Plan& plan, const Steps& steps) {
  for (const auto& [levels, count] : steps) apply_steps(plan, levels, count);
}

// ---- tuning ----

// One choice for each arm of the plan's runs; nothing while one of them has none.
std::optional<std::vector<Chosen>> choices(const fs::path& study, const Plan& plan) {
  std::vector<Chosen> chosen;
  for (const auto& trial : judge_trials(plan, read_results(study, plan)))
    if (trial.chosen) chosen.push_back({trial.arm, trial.trial});
  const auto has_choice = [&](const Combination& levels) {
    const Combination arm = arm_of(*plan.study.tune, levels);
    return std::any_of(chosen.begin(), chosen.end(), [&](const Chosen& one) { return one.arm == arm; });
  };
  const bool all =
      std::all_of(plan.runs.begin(), plan.runs.end(), [&](const PlannedRun& run) { return has_choice(run.levels); });
  return all ? std::optional(std::move(chosen)) : std::nullopt;
}

// Arms whose runs the plan leaves out have no trials, and nothing depends on what is chosen for them.
void apply_choices(Plan& plan, std::vector<Chosen> chosen) {
  for (const auto& levels : combinations(plan.study)) {
    const Combination arm = arm_of(*plan.study.tune, levels);
    if (std::none_of(chosen.begin(), chosen.end(), [&](const Chosen& one) { return one.arm == arm; }))
      chosen.push_back({arm, plan.trials.front().trial});
  }
  apply_tuning(plan, chosen);
}

void write_choices(const fs::path& study, const std::vector<Chosen>& chosen) {
  Json all = Json::array();
  for (const auto& one : chosen) all.push_back({{"arm", levels_json(one.arm)}, {"chosen", one.trial}});
  write_file(study / kChosenFile, json_text(all));
  for (const auto& one : chosen)
    log::info("tuning: {} goes on with {}", one.arm.empty() ? "every arm" : combination_text(one.arm), one.trial);
}

void add_report(RunnerReport& report, RunnerReport more) {
  report.end = more.end;
  report.done += more.done;
  report.diverged += more.diverged;
  report.left += more.left;
  report.failed.insert(report.failed.end(), more.failed.begin(), more.failed.end());
}

}  // namespace

bool settle_plan(const fs::path& study, Plan& plan) {
  Steps steps;
  if (leaves_steps_open(plan.study)) {
    const auto known = known_steps(study, plan);
    if (!known) return false;
    steps = *known;
    set_steps(plan, steps);
  }
  if (plan.trials.empty()) return true;
  const auto chosen = choices(study, plan);
  if (!chosen) return false;
  apply_choices(plan, *chosen);
  set_steps(plan, steps);  // tuning begins from the base's
  return true;
}

RunnerReport make_study(const fs::path& study, Plan& plan, const RunnerOptions& options) {
  Steps steps;
  if (leaves_steps_open(plan.study)) {
    if (!measure_steps(study, plan, options))
      return {.end = RunnerReport::End::stopped, .left = static_cast<int64_t>(plan.trials.size() + plan.runs.size())};
    steps = known_steps(study, plan).value();
    set_steps(plan, steps);
  }
  RunnerReport report;
  if (!plan.trials.empty()) {
    report = make_runs(study, plan.study, plan.trials, options, "trials");
    const auto chosen = report.end == RunnerReport::End::all_made ? choices(study, plan) : std::nullopt;
    if (!chosen) {
      if (report.end == RunnerReport::End::all_made && report.failed.empty())
        report.failed.emplace_back("tune", "an arm has no trial that gave a value, so nothing is known to go on with");
      report.left += static_cast<int64_t>(plan.runs.size());
      return report;
    }
    write_choices(study, *chosen);
    apply_choices(plan, *chosen);
    set_steps(plan, steps);
  }
  add_report(report, make_runs(study, plan.study, plan.runs, options, "runs"));
  return report;
}

}  // namespace ordo
