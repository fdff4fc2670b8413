// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/plan_notes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "ordo/core/text.h"

namespace ordo {

namespace {

// The learning rate of an arm, as written in its resolved config; empty: its optimizer has none.
std::string rate_of(const Arm& arm) {
  RunConfig config = arm.config;
  const Json all = dump_json(walk_of(config));
  const Json& optimizer = all.at("train").at("optimizer");
  return optimizer.contains("lr") ? number_text(optimizer.at("lr").get<double>()) : "";
}

std::string tuning_note(const StudyConfig& study) {
  const auto& tune = *study.tune;
  std::vector<std::string> keys, seeds;
  for (const auto& key : tune.keys) keys.push_back(key.name);
  for (const int64_t seed : tune.seeds) seeds.push_back(std::to_string(seed));
  return fmt::format("{} tuned for {}: {} trials each on seeds {}, judged by {} on the {} split", join(keys, ", "),
                     tune.per.empty() ? "all runs together" : "each " + join(tune.per, " and "),
                     product(tune.keys).size(), join(seeds, ", "), tune.metric, tune.split);
}

std::string rate_note(const std::vector<Arm>& arms) {
  std::set<std::string> rates;
  for (const auto& arm : arms) rates.insert(rate_of(arm));
  if (rates.size() == 1 && !rates.begin()->empty())
    return fmt::format("all arms share one learning rate, {}; none was tuned", *rates.begin());
  return "the arms' learning rates are those of the study file; none was tuned";
}

// On which data the intervals are.
std::vector<std::string> data_notes(const StudyConfig& study, const std::vector<Arm>& arms) {
  const auto draws = [](const Arm& arm) { return make_task(arm.config)->draws_examples(); };
  const auto drawn = std::count_if(arms.begin(), arms.end(), draws);
  const bool all = static_cast<size_t>(drawn) == arms.size();
  std::vector<std::string> notes;
  const std::string where = drawn > 0 ? "where the task draws no examples, " : "";
  if (!all)
    notes.push_back(where + "the data are the same for every seed: the intervals do not cover the choice of data");
  if (!all && study.tune && study.tune->split == study.evaluate.split)
    notes.push_back(
        fmt::format("{}the reported numbers are of the split that the trials were chosen on, {}: they are "
                    "better than on data that nothing was chosen by",
                    where, study.evaluate.split));
  if (drawn > 0 && study.instances == Instances::fixed)
    notes.emplace_back("one set of examples for all seeds: the intervals do not cover the choice of examples");
  if (drawn > 0 && study.instances == Instances::crossed)
    notes.push_back(fmt::format("{} sets of examples, each met by every seed", study.instance_count));
  return notes;
}

std::vector<std::string> scaling_notes(const StudyConfig& study, const std::vector<Arm>& arms) {
  std::vector<std::string> notes;
  for (size_t i = 0; i < study.evaluate.scalings.size(); ++i) {
    std::vector<std::string> without;
    for (const auto& arm : arms)
      if (std::find(arm.scalings.begin(), arm.scalings.end(), static_cast<int64_t>(i) + 1) == arm.scalings.end())
        without.push_back(combination_text(arm.levels));
    if (!without.empty())
      notes.push_back(
          fmt::format("scaling {} is nothing for: {}", study.evaluate.scaling_names[i], join(without, "; ")));
  }
  return notes;
}

std::string control_note(const StudyConfig& study) {
  switch (study.control.equal) {
    case Control::none:
      return "parameters and FLOPs are not held equal: they are reported";
    case Control::parameters:
      return fmt::format("parameters are held equal within {} % by {}", number_text(100.0 * study.control.within),
                         study.control.by);
    case Control::flops:
      return "the FLOPs of a run are held equal by train.steps";
    case Control::seconds:
      break;
  }
  return "the time of a run is held equal by train.steps, from a measurement";
}

}  // namespace

std::vector<std::string> notes_of(const StudyConfig& study, const std::vector<Arm>& arms) {
  std::vector<std::string> notes{study.tune ? tuning_note(study) : rate_note(arms)};
  for (auto& note : data_notes(study, arms)) notes.push_back(std::move(note));
  notes.push_back(control_note(study));
  for (auto& note : scaling_notes(study, arms)) notes.push_back(std::move(note));
  return notes;
}

}  // namespace ordo
