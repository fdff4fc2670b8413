// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/plan.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "ordo/config/words.h"
#include "ordo/config/writer.h"
#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/study/arm_models.h"
#include "ordo/study/control.h"
#include "ordo/study/factors.h"
#include "ordo/study/plan_notes.h"
#include "ordo/study/planned_runs.h"

namespace ordo {

namespace {

// Trials on the examples that the comparison is made of.
void check_trial_examples(const StudyConfig& study, const Arm& arm, Problems& problems) {
  const int64_t sets = study.instances == Instances::fixed ? 1 : study.instance_count;
  for (size_t i = 0; i < study.tune->seeds.size(); ++i)
    if (const int64_t seed = study.tune->seeds[i]; seed >= 1 && seed <= sets)
      add_at_key(problems, study, fmt::format("tune.seeds.{}", i),
                 fmt::format("the trials of seed {} draw the examples of instance {}, which the comparison has too{}",
                             seed, seed, arm.levels.empty() ? "" : " (" + combination_text(arm.levels) + ")"),
                 fmt::format("take seeds above {}", sets));
}

// Which split is evaluated, where the study leaves it open; and whether the tasks have what is asked of them.
void settle_split(StudyConfig& study, const std::vector<Arm>& arms, Problems& problems) {
  bool all_have_test = true;
  std::set<std::string> told_of_trials;  // tasks
  for (const auto& arm : arms) {
    const auto task = make_task(arm.config);
    const auto require_split = [&](const std::string& split, const std::string& key) {
      for (const Split known : {Split::train, Split::validation, Split::test})
        if (split == split_name(known) && !task->has(known))
          add_at_key(problems, study, key,
                     fmt::format("{} is {}, which the task {} does not have", key, split, arm.config.task.kind));
    };
    all_have_test = all_have_test && task->has(Split::test);
    if (!study.evaluate.split.empty()) require_split(study.evaluate.split, "evaluate.split");
    if (study.tune) require_split(study.tune->split, "tune.by.split");
    if (study.tune && task->draws_examples() && told_of_trials.insert(arm.config.task.kind).second)
      check_trial_examples(study, arm, problems);
    if (study.instances == Instances::crossed && !task->draws_examples())
      add_at_key(problems, study, "instances",
                 fmt::format("instances: {}, but the task {} draws no examples{}", study.instance_count,
                             arm.config.task.kind, arm.levels.empty() ? "" : " (" + combination_text(arm.levels) + ")"),
                 "its data are what they are; leave instances out");
  }
  if (study.evaluate.split.empty()) study.evaluate.split = all_have_test ? "test" : "validation";
  if (study.compare.split.empty()) study.compare.split = study.evaluate.split;
}

std::vector<PlannedRun> trials_of(const StudyConfig& study, const std::vector<Arm>& arms, RunMaker& maker,
                                  Problems& problems) {
  std::vector<PlannedRun> trials;
  for (const auto& values : product(study.tune->keys)) {
    const std::vector<std::vector<Setting>> settings(arms.size(), trial_settings(*study.tune, values));
    std::vector<std::string> notes;  // of the comparison's own adjustments only
    auto tried = with_settings(study, arms, settings, problems);
    if (problems.empty()) adjust(study, tried, problems, notes);
    auto runs = maker.trial(tried, values);
    std::move(runs.begin(), runs.end(), std::back_inserter(trials));
  }
  return trials;
}

// What the words of --only name.
struct Kept {
  Selection levels;
  std::vector<std::string> seeds;
  bool holds(const PlannedRun& run) const {
    return levels.holds(run.levels) &&
           (seeds.empty() || std::find(seeds.begin(), seeds.end(), std::to_string(run.seed)) != seeds.end());
  }
};

class OnlyWords {
 public:
  OnlyWords(const StudyConfig& study, Problems& problems) : study_(study), problems_(problems) {}

  void add(const std::string& word) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const auto values = equals == std::string::npos ? std::vector<std::string>() : split(word.substr(equals + 1), ',');
    if (values.empty())
      return problems_.add_at(place(word), "expected FACTOR=LEVEL", "as in --only encoding=rope, --only seed=1");
    if (name != kSeed && study_.factor(name) == nullptr) return tell_unknown(word, name);
    auto of_name = std::find_if(named_.begin(), named_.end(), [&](const auto& one) { return one.first == name; });
    if (of_name == named_.end()) of_name = named_.insert(named_.end(), {name, {}});
    of_name->second.insert(of_name->second.end(), values.begin(), values.end());
  }
  Kept kept() {
    Kept kept;
    for (const auto& [name, values] : named_) {
      const Source at = place(fmt::format("{}={}", name, join(values, ",")));
      if (name == kSeed)
        kept.seeds = seeds(values, at);
      else
        kept.levels.levels.emplace_back(name, read_levels(*study_.factor(name), values, at, problems_));
    }
    return kept;
  }

 private:
  static constexpr std::string_view kSeed = "seed";
  static Source place(const std::string& word) { return {fmt::format("--only {}", word), 0, 0}; }

  void tell_unknown(const std::string& word, const std::string& name) {
    std::vector<std::string> names{std::string(kSeed)};
    for (const auto& factor : study_.vary) names.push_back(factor.name);
    const std::string near = did_you_mean(name, names);
    problems_.add_at(place(word), fmt::format("there is no factor '{}'", shown(name)),
                     fmt::format("{}{}factors: {}", near, near.empty() ? "" : " ", join(names, ", ")));
  }
  std::vector<std::string> seeds(const std::vector<std::string>& wanted, const Source& at) {
    std::vector<std::string> known;
    for (const int64_t seed : study_.seeds) known.push_back(std::to_string(seed));
    for (const auto& seed : wanted)
      if (std::find(known.begin(), known.end(), seed) == known.end())
        problems_.add_at(at, fmt::format("the study has no seed '{}'", shown(seed)),
                         fmt::format("seeds: {}", join(known, ", ")));
    return wanted;
  }

  const StudyConfig& study_;
  Problems& problems_;
  std::vector<std::pair<std::string, std::vector<std::string>>> named_;
};

std::vector<Setting> chosen_settings(const TuneConfig& tune, const std::string& trial) {
  if (trial.empty()) return {};
  for (const auto& values : product(tune.keys))
    if (trial_text(values) == trial) return trial_settings(tune, values);
  throw ConfigError(fmt::format("'{}' is no trial of this study", trial));
}

}  // namespace

Plan plan_of(const StudyConfig& given, Models models) {
  Plan plan{.study = given};
  StudyConfig& study = plan.study;
  Problems problems;
  problems.know_texts_of(study.files->read);
  auto arms = resolve_arms(study, problems);
  problems.throw_if_any();
  combinations(study, &plan.left_out);
  settle_split(study, arms, problems);
  if (models == Models::to_check) check_models(study, arms, problems);
  problems.throw_if_any();
  plan.notes = notes_of(study, arms);
  RunMaker maker(study);
  if (study.tune) plan.trials = trials_of(study, arms, maker, problems);
  adjust(study, arms, problems, plan.notes);
  problems.throw_if_any();
  plan.runs = maker.comparison(arms);
  return plan;
}

Plan make_plan(const StudyConfig& study) { return plan_of(study, Models::to_check); }

void keep_only(Plan& plan, std::span<const std::string> only) {
  if (only.empty()) return;
  Problems problems;
  OnlyWords words(plan.study, problems);
  for (const auto& word : only) words.add(word);
  const Kept kept = words.kept();
  problems.throw_if_any();
  std::erase_if(plan.runs, [&](const PlannedRun& run) { return !kept.holds(run); });
  // All trials of the arms that are left: a choice must not depend on what is not made.
  std::erase_if(plan.trials, [&](const PlannedRun& trial) {
    return std::none_of(plan.runs.begin(), plan.runs.end(), [&](const PlannedRun& run) {
      return arm_of(*plan.study.tune, run.levels) == arm_of(*plan.study.tune, trial.levels);
    });
  });
  require<ConfigError>(!plan.runs.empty(), "--only {}: no run of the study is left", join(only, " "));
  plan.notes.push_back(fmt::format("only {} of the study's runs", join(only, " ")));
}

Combination arm_of(const TuneConfig& tune, const Combination& levels) {
  Combination arm;
  for (const auto& level : levels)
    if (std::find(tune.per.begin(), tune.per.end(), level.first) != tune.per.end()) arm.push_back(level);
  return arm;
}

void apply_tuning(Plan& plan, std::span<const Chosen> chosen) {
  const StudyConfig& study = plan.study;
  require<ConfigError>(study.tune.has_value(), "the study {} tunes nothing", study.name);
  Problems problems;
  problems.know_texts_of(study.files->read);
  auto arms = resolve_arms(study, problems);
  std::set<std::string> planned;
  for (const auto& run : plan.runs) planned.insert(run.folder);
  std::vector<std::vector<Setting>> settings;
  for (const auto& arm : arms) {
    const Combination tuned = arm_of(*study.tune, arm.levels);
    const auto choice = std::find_if(chosen.begin(), chosen.end(), [&](const Chosen& c) { return c.arm == tuned; });
    require<ConfigError>(choice != chosen.end(), "no trial was chosen for {}", combination_text(tuned));
    settings.push_back(chosen_settings(*study.tune, choice->trial));
  }
  arms = with_settings(study, std::move(arms), settings, problems);
  std::erase_if(plan.notes, [](const std::string& note) { return note.starts_with(kAdjusted); });
  adjust(study, arms, problems, plan.notes);
  problems.throw_if_any();
  plan.runs = RunMaker(study).comparison(arms);
  std::erase_if(plan.runs, [&](const PlannedRun& run) { return !planned.contains(run.folder); });
}

void apply_steps(Plan& plan, const Combination& levels, int64_t steps) {
  RunMaker maker(plan.study);
  const Setting setting{"train.steps", std::to_string(steps), {}};
  for (auto* runs : {&plan.runs, &plan.trials})
    for (auto& run : *runs) {
      if (run.levels != levels) continue;
      for (auto* list : {&run.settings, &run.adjusted}) {
        std::erase_if(*list, [](const Setting& s) { return s.path == "train.steps" && s.at.file.empty(); });
        list->push_back(setting);
      }
      run.config.train.steps = {static_cast<double>(steps), "steps"};
      maker.rehash(run);
    }
}

}  // namespace ordo
