// SPDX-License-Identifier: Apache-2.0
#include "ablate_estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "ordo/core/text.h"
#include "ordo/study/claim_words.h"
#include "ordo/study/control.h"

namespace ordo::cli {
namespace {

CombinationEstimate cost_of(const PlannedRun& run) {
  const Figures figures = figures_of(run.config);
  return {.run = &run,
          .steps = planned_steps(run.config),
          .parameters = figures.parameters,
          .flops_per_step = figures.flops_per_step};
}

std::vector<CombinationEstimate> costs_of(const Plan& plan) {
  std::vector<CombinationEstimate> costs;
  const auto of = [&](const PlannedRun& run) -> CombinationEstimate& {
    const auto found =
        std::find_if(costs.begin(), costs.end(), [&](const auto& cost) { return cost.run->levels == run.levels; });
    return found != costs.end() ? *found : costs.emplace_back(cost_of(run));
  };
  for (const auto& run : plan.runs) ++of(run).runs;
  for (const auto& trial : plan.trials) ++of(trial).trials;
  return costs;
}

// Evaluations during the training: at the end, and every so many steps.
double evaluations_in(const RunConfig& config, int64_t steps) {
  const Quantity& every = config.evaluate.every;
  const bool often = every.value > 0 && every.unit == "steps";
  return often ? std::ceil(static_cast<double>(steps) / every.value) : 1.0;
}

// Steps that were not probed take as much longer as their arithmetic is more. A budget in seconds decides the steps.
void estimate_time(CombinationEstimate& cost, const RunProbe& probe, double flops_per_step_of_probe,
                   const std::optional<double>& budget) {
  const double step = probe.step * cost.flops_per_step / flops_per_step_of_probe;
  if (budget) cost.steps = std::max<int64_t>(1, std::llround(*budget / step));
  const double evaluation = std::max(0.0, probe.evaluation - probe.start);
  const auto at_end = static_cast<double>(1 + cost.run->scalings.size());
  cost.seconds = probe.start + static_cast<double>(cost.steps) * step +
                 evaluations_in(cost.run->config, cost.steps) * evaluation + at_end * probe.evaluation;
}

std::string seconds_text(double seconds) { return seconds > 0.0 ? duration_text(seconds) : "-"; }

std::string settings_text(const PlannedRun& run) {
  std::vector<std::string> parts;
  for (const auto& setting : run.settings) parts.push_back(setting.path + "=" + setting.value);
  return parts.empty() ? "as the base" : join(parts, " ");
}

// On what, and what is asked of it.
std::string question_text(const Plan& plan) {
  const StudyConfig& study = plan.study;
  const CompareConfig& compare = study.compare;
  std::set<int64_t> seeds;
  bool same_lengths = true;
  for (const auto& run : plan.runs) {
    seeds.insert(run.seed);
    same_lengths = same_lengths && run.lengths == plan.runs.front().lengths;
  }
  const auto& lengths = plan.runs.front().lengths;
  const std::string at = !same_lengths        ? std::string("the lengths of each task")
                         : lengths.size() > 1 ? fmt::format("lengths {}", fmt::join(lengths, ", "))
                                              : fmt::format("length {}", lengths.front());
  std::string text = fmt::format("seed{} {}; evaluated on the {} split at {}\n", seeds.size() > 1 ? "s" : "",
                                 fmt::join(seeds, ", "), study.evaluate.split, at);
  text += fmt::format("compared: {} {}", compare.metric, length_words(compare.length, compare.area));
  if (!compare.factor.empty())
    text += compare.against == "all" ? fmt::format(", each {} with each other", compare.factor)
                                     : fmt::format(", each {} against {}", compare.factor, compare.against);
  for (const auto& claim : study.claims) text += fmt::format("\nclaim {}: {}", claim.name, claim_text(claim, compare));
  return text + "\n";
}

std::string probed_text(const PlanEstimate& estimate) {
  std::string text;
  for (const auto& probe : estimate.probes) {
    const std::string what = combination_text(probe.run->levels);
    text += probe.why.empty() ? fmt::format("probed: {}: {} steps of {:.1f} ms, an evaluation of {}\n", what,
                                            probe.steps, 1e3 * probe.step, duration_text(probe.evaluation))
                              : fmt::format("probed in vain: {}: {}\n", what, probe.why);
  }
  if (estimate.probes.size() < estimate.combinations.size())
    text += "the other times: those of the probe with most levels in common, steps in proportion to their FLOPs\n";
  return text;
}

}  // namespace

double PlanEstimate::flops() const {
  double sum = 0.0;
  for (const auto& one : combinations) sum += one.flops() * static_cast<double>(one.runs + one.trials);
  return sum;
}

double PlanEstimate::seconds() const {
  double sum = 0.0;
  for (const auto& one : combinations) {
    if (one.seconds == 0.0) return 0.0;
    sum += one.seconds * static_cast<double>(one.runs + one.trials);
  }
  return sum / static_cast<double>(processes);
}

PlanEstimate estimate_plan(const Plan& plan, const RunnerOptions& options) {
  const auto runs = static_cast<int64_t>(std::max(plan.runs.size(), plan.trials.size()));
  PlanEstimate estimate{.combinations = costs_of(plan),
                        .processes = std::clamp<int64_t>(runs, 1, options.processes),
                        .threads = options.threads};
  estimate.probes = probe(plan.study, runs_to_probe(plan.runs), options);
  const auto& run = plan.study.budget.run;
  const auto budget = run && run->unit == "s" ? std::optional(run->value) : std::nullopt;
  for (auto& cost : estimate.combinations) {
    const RunProbe* nearest = nearest_probe(estimate.probes, cost.run->levels);
    if (nearest == nullptr) continue;
    const auto of_probe = std::find_if(estimate.combinations.begin(), estimate.combinations.end(),
                                       [&](const auto& one) { return one.run->levels == nearest->run->levels; });
    estimate_time(cost, *nearest, of_probe->flops_per_step, budget);
  }
  return estimate;
}

std::string estimate_text(const Plan& plan, const PlanEstimate& estimate) {
  std::string text = fmt::format("study '{}': {} runs", plan.study.name, plan.runs.size());
  if (!plan.trials.empty()) text += fmt::format(" after {} trials", plan.trials.size());
  text += fmt::format(", {} FLOPs", count_text(estimate.flops()));
  if (const double seconds = estimate.seconds(); seconds > 0.0)
    text += fmt::format(", about {}, {} at a time with {} thread(s) each", duration_text(seconds), estimate.processes,
                        estimate.threads);
  Table table({"combination", "runs", "steps", "parameters", "FLOPs a run", "time a run", "settings"});
  for (const auto& one : estimate.combinations)
    table.row({combination_text(one.run->levels), std::to_string(one.runs), std::to_string(one.steps),
               std::to_string(one.parameters), count_text(one.flops()), seconds_text(one.seconds),
               settings_text(*one.run)});
  text += "\n" + question_text(plan) + "\n" + table.text() + "\n" + probed_text(estimate);
  for (const auto& left : plan.left_out)
    text += fmt::format("left out: {}{}\n", combination_text(left.levels), left.why.empty() ? "" : ": " + left.why);
  for (const auto& note : plan.notes) text += fmt::format("note: {}\n", note);
  return text;
}

Json estimate_json(const Plan& plan, const PlanEstimate& estimate) {
  Json combinations = Json::array(), probes = Json::array(), left_out = Json::array();
  const auto levels = [](const Combination& combination) {
    Json json = Json::object();
    for (const auto& [factor, level] : combination) json[factor] = level;
    return json;
  };
  for (const auto& one : estimate.combinations) {
    Json settings = Json::object();
    for (const auto& setting : one.run->settings) settings[setting.path] = setting.value;
    combinations.push_back({{"factors", levels(one.run->levels)},
                            {"runs", one.runs},
                            {"trials", one.trials},
                            {"steps", one.steps},
                            {"parameters", one.parameters},
                            {"flops", one.flops()},
                            {"seconds", one.seconds},
                            {"settings", std::move(settings)}});
  }
  for (const auto& one : estimate.probes)
    probes.push_back({{"factors", levels(one.run->levels)},
                      {"steps", one.steps},
                      {"step_seconds", one.step},
                      {"evaluation_seconds", one.evaluation},
                      {"why", one.why}});
  for (const auto& one : plan.left_out) left_out.push_back({{"factors", levels(one.levels)}, {"why", one.why}});
  return {{"study", plan.study.name},
          {"runs", plan.runs.size()},
          {"trials", plan.trials.size()},
          {"flops", estimate.flops()},
          {"seconds", estimate.seconds()},
          {"processes", estimate.processes},
          {"threads", estimate.threads},
          {"combinations", std::move(combinations)},
          {"probes", std::move(probes)},
          {"left_out", std::move(left_out)},
          {"notes", plan.notes}};
}

}  // namespace ordo::cli
