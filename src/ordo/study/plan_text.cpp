// SPDX-License-Identifier: Apache-2.0
// plan.yaml: every run with its resolved differences and its hash; and back from it to the plan.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "ordo/config/config.h"
#include "ordo/config/layers.h"
#include "ordo/config/node.h"
#include "ordo/config/writer.h"
#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/study/planned_runs.h"
#include "ordo/study/processes.h"

namespace ordo {

namespace {

Json as_json(const PlannedRun& run) {
  Json settings = Json::object();
  for (const auto& setting : run.settings) settings[setting.path] = setting.value;
  Json all{{"folder", run.folder}, {"hash", run.hash}, {"levels", levels_json(run.levels)}, {"seed", run.seed}};
  if (run.instance) all["instance"] = *run.instance;
  if (!run.trial.empty()) all["trial"] = run.trial;
  all["base"] = run.base.string();
  all["settings"] = std::move(settings);
  all["split"] = run.split;
  all["lengths"] = run.lengths;
  if (!run.scalings.empty()) all["scalings"] = run.scalings;
  return all;
}

Json as_json(const std::vector<PlannedRun>& runs) {
  Json all = Json::array();
  for (const auto& run : runs) all.push_back(as_json(run));
  return all;
}

// What read_plan needs of a plan.yaml.
struct SavedRun {
  std::string folder, hash;
};
struct SavedPlan {
  std::string study;
  fs::path file;
  std::vector<std::string> overrides;
  Tree left_out, notes, runs, trials;
};
void fields(Fields& f, SavedPlan& c) {
  f("study", c.study, "its name", required());
  f("file", c.file, "the study file", required());
  f("overrides", c.overrides, "of the command line");
  f("notes", c.notes, "how the runs were made", "[text, …]");
  f("left_out", c.left_out, "combinations without runs", "[{levels: …, why: text}, …]");
  f("runs", c.runs, "of the comparison", "[{folder: …, hash: …}, …]", required());
  f("trials", c.trials, "of tuning", "[{folder: …, hash: …}, …]");
}

// What makes the runs of the study file in this folder.
std::string command_words(const SavedPlan& saved, const fs::path& folder) {
  std::vector<std::string> words{saved.file.string(), "-o", folder.string()};
  words.insert(words.end(), saved.overrides.begin(), saved.overrides.end());
  for (auto& word : words) word = shell_word(word);
  return join(words, " ");
}

std::vector<std::string> hashes(const Tree& runs) {
  std::vector<std::string> all;
  if (runs.node == nullptr) return all;
  for (const auto& item : runs.node->items) {
    const Node* hash = item.value.find("hash");
    all.push_back(hash == nullptr ? "" : hash->text);
  }
  return all;
}

std::vector<std::string> hashes(const std::vector<PlannedRun>& runs) {
  std::vector<std::string> all;
  for (const auto& run : runs) all.push_back(run.hash);
  return all;
}

}  // namespace

std::string plan_yaml(const Plan& plan) {
  Json left_out = Json::array();
  for (const auto& [levels, why] : plan.left_out) left_out.push_back({{"levels", levels_json(levels)}, {"why", why}});
  Json all{{"study", plan.study.name},
           {"file", plan.study.file.string()},
           {"overrides", plan.study.overrides},
           {"notes", plan.notes},
           {"left_out", std::move(left_out)}};
  if (!plan.trials.empty()) all["trials"] = as_json(plan.trials);
  all["runs"] = as_json(plan.runs);
  return yaml_block(all, nullptr);
}

Plan read_plan(const fs::path& folder) {
  const fs::path file = folder / "plan.yaml";
  SavedPlan saved;
  load_config(file, walk_of(saved), {});
  std::error_code ignored;
  require<ConfigError>(fs::exists(saved.file, ignored),
                       "{} was made from the study file {}, which is gone; put it back there, or give the study file",
                       folder.string(), saved.file.string());
  Plan plan = plan_of(load_study(saved.file, saved.overrides), Models::known);
  // What was chosen or measured is applied later: of tuned runs the trials stand for what they will be.
  const bool measured =
      plan.study.control.equal == Control::seconds || (plan.study.budget.run && plan.study.budget.run->unit == "s");
  const bool same =
      hashes(plan.trials) == hashes(saved.trials) && (plan.study.tune || hashes(plan.runs) == hashes(saved.runs));
  require<ConfigError>(measured || same,
                       "{} has changed since {} was made: its runs are others now; this makes those that are missing: "
                       "ordo ablate {}",
                       saved.file.string(), file.string(), command_words(saved, folder));
  return plan;
}

}  // namespace ordo
