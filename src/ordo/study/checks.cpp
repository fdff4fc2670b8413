// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/checks.h"

#include <algorithm>
#include <map>
#include <set>

#include "ordo/config/words.h"
#include "ordo/core/text.h"

namespace ordo {

namespace {

// A key that a setting reaches, down to the last map, and who sets it.
struct Reached {
  std::string path;
  bool list = false;  // replaces all that is below
  std::string by;
  Source at;
};

std::string without_kind(const std::string& path) {
  return path.ends_with(".kind") ? path.substr(0, path.size() - 5) : path;
}

void collect(const Node& node, const std::string& path, const std::string& by, const Source& at,
             std::vector<Reached>& out) {
  if (node.kind != Node::Kind::map || node.items.empty()) {
    out.push_back({without_kind(path), node.kind == Node::Kind::list, by, at});
    return;
  }
  for (const auto& item : node.items) collect(item.value, child_path(path, item.key), by, at, out);
}
void collect(const Setting& setting, const std::string& by, std::vector<Reached>& out) {
  if (setting.node != nullptr)
    collect(*setting.node, setting.path, by, setting.at, out);
  else
    out.push_back({without_kind(setting.path), false, by, setting.at});
}

bool same_key(const Reached& a, const Reached& b) {
  return a.path == b.path || (a.list && b.path.starts_with(a.path + ".")) ||
         (b.list && a.path.starts_with(b.path + "."));
}

void contradict(const std::vector<Reached>& first, const std::vector<Reached>& second, Problems& problems) {
  for (const auto& b : second)
    for (const auto& a : first)
      if (same_key(a, b)) {
        problems.add_at(b.at, fmt::format("{} and {} both set {}", a.by, b.by, a.path),
                        "a key is set in one place only, else one of the two would be without effect");
        return;
      }
}

std::vector<Reached> reach_of(const Factor& factor, const std::string& called) {
  std::vector<Reached> reached;
  for (const auto& level : factor.levels)
    for (const auto& setting : level.settings) collect(setting, called, reached);
  return reached;
}

std::vector<Reached> reach_of(const std::vector<ConditionalSettings>& set) {
  std::vector<Reached> reached;
  for (const auto& entry : set)
    for (const auto& setting : entry.settings)
      collect(setting, setting.at.line == 0 ? "the command line" : "set", reached);
  return reached;
}

// What tune, budget and control set, after everything else. Control alone goes on from what `set` gave.
struct Late {
  std::vector<Reached> reached;
  bool from_set = false;
};
std::vector<Late> late_settings(const StudyConfig& study) {
  std::vector<Late> all;
  const auto place = [&](std::string_view path) {
    const Source* at = study.files->read.find(path);
    return at == nullptr ? Source{} : *at;
  };
  if (study.tune)
    for (const auto& key : study.tune->keys) all.push_back({reach_of(key, fmt::format("tune ({})", key.name))});
  if (!study.control.by.empty())
    all.push_back({{{without_kind(study.control.by), false, "control.by", place("control.by")}}, /*from_set=*/true});
  if (study.budget.run) all.push_back({{{"train.steps", false, "budget.run", place("budget.run")}}});
  for (const char* key : {"evaluate.lengths", "evaluate.stride", "evaluate.every", "evaluate.batch_size"})
    if (study.files->read.find(key) != nullptr)
      all.push_back({{{key, true, fmt::format("the study's own {}", key), place(key)}}});
  if (study.control.equal == Control::seconds)
    all.push_back({{{"train.steps", false, "control (equal: seconds)", place("control.equal")}}, /*from_set=*/true});
  return all;
}

void check_keys(const StudyConfig& study, Problems& problems) {
  std::vector<std::vector<Reached>> all;
  for (const auto& factor : study.vary) all.push_back(reach_of(factor, factor.name));
  const auto set = reach_of(study.set);  // may change what levels gave
  for (auto& late : late_settings(study)) {
    if (!late.from_set) contradict(set, late.reached, problems);
    all.push_back(std::move(late.reached));
  }
  for (size_t b = 0; b < all.size(); ++b)
    for (size_t a = 0; a < b; ++a) contradict(all[a], all[b], problems);
  std::string based;
  for (const auto& factor : study.vary) {
    const auto gives =
        std::find_if(factor.levels.begin(), factor.levels.end(), [](const Level& l) { return bool(l.base); });
    if (gives == factor.levels.end()) continue;
    if (!based.empty()) problems.add_at(gives->at, fmt::format("{} and {} both set base", based, factor.name));
    based = factor.name;
  }
}

void check_matches(const StudyConfig& study, Problems& problems) {
  const auto all = product(study.vary), kept = combinations(study);
  if (all.empty()) return;                        // a factor without levels, told already
  const auto complete = [](const Selection& s) {  // else a name in it is unknown, which was told
    return std::none_of(s.levels.begin(), s.levels.end(), [](const auto& l) { return l.second.empty(); });
  };
  const auto matches = [](const Selection& s, const std::vector<Combination>& among) {
    return std::any_of(among.begin(), among.end(), [&](const auto& c) { return s.holds(c); });
  };
  for (const auto& entry : study.set)
    if (complete(entry.when) && !matches(entry.when, kept))
      problems.add_at(entry.when.at, "this `when` matches no run",
                      matches(entry.when, all) ? "the combinations that it names are left out by skip or only" : "");
  for (const auto* list : {&study.skip, &study.only})
    for (const auto& selection : *list)
      if (complete(selection) && !matches(selection, all))
        problems.add_at(selection.at, "this matches no combination of levels");
  if (kept.empty())
    add_at_key(problems, study, study.only.empty() ? "skip" : "only", "no combination of levels is left");
}

void check_distinct(const StudyConfig& study, const std::vector<int64_t>& seeds, const std::string& path,
                    Problems& problems) {
  std::set<int64_t> seen;
  for (size_t i = 0; i < seeds.size(); ++i)
    if (!seen.insert(seeds[i]).second)
      add_at_key(problems, study, fmt::format("{}.{}", path, i), fmt::format("the seed {} is there twice", seeds[i]));
  if (seeds.empty() && study.files->read.find(path) != nullptr)
    add_at_key(problems, study, path, fmt::format("{} is empty: without seeds there are no runs", path));
}

void check_tune(const StudyConfig& study, Problems& problems) {
  const auto& tune = *study.tune;
  check_distinct(study, tune.seeds, "tune.seeds", problems);
  for (size_t i = 0; i < tune.seeds.size(); ++i)
    if (std::find(study.seeds.begin(), study.seeds.end(), tune.seeds[i]) != study.seeds.end())
      add_at_key(problems, study, fmt::format("tune.seeds.{}", i),
                 fmt::format("tune.seeds and seeds both hold {}", tune.seeds[i]),
                 "what is chosen on a seed and then reported on it looks better than it is: take other ones");
  std::vector<std::string> names;
  for (const auto& factor : study.vary) names.push_back(factor.name);
  for (size_t i = 0; i < tune.per.size(); ++i)
    if (study.factor(tune.per[i]) == nullptr)
      add_at_key(problems, study, fmt::format("tune.per.{}", i),
                 fmt::format("there is no factor '{}'", shown(tune.per[i])), did_you_mean(tune.per[i], names));
}

void check_control(const StudyConfig& study, Problems& problems) {
  const auto& control = study.control;
  const bool adjusts = control.equal == Control::parameters || control.equal == Control::flops;
  if (adjusts && control.by.empty())
    add_at_key(problems, study, "control", "missing key 'control.by'",
               control.equal == Control::flops ? "as in by: train.steps" : "as in by: model.feed_forward.hidden");
  if (!adjusts && !control.by.empty())
    add_at_key(problems, study, "control.by",
               fmt::format("control.by ({}) has no use without control.equal: parameters or flops", control.by));
  if (control.equal == Control::flops && !control.by.empty() && control.by != "train.steps")
    add_at_key(problems, study, "control.by",
               fmt::format("FLOPs are made equal by train.steps, found '{}'", shown(control.by)));
}

}  // namespace

void check_settings(const StudyConfig& study, Problems& problems) {
  constexpr size_t kMostCombinations = 10'000;
  size_t count = 1;
  for (const auto& factor : study.vary)
    count = std::min(count, kMostCombinations + 1) * std::max<size_t>(factor.levels.size(), 1);
  if (count > kMostCombinations) {
    add_at_key(problems, study, "vary", fmt::format("the factors have more than {} combinations", kMostCombinations));
    problems.throw_if_any();
  }
  check_keys(study, problems);
  check_matches(study, problems);
  check_distinct(study, study.seeds, "seeds", problems);
  if (study.tune) check_tune(study, problems);
  check_control(study, problems);
}

}  // namespace ordo
