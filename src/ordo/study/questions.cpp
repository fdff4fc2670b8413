// SPDX-License-Identifier: Apache-2.0
// What a study asks: compare and claims, against what it varies and evaluates.
#include <algorithm>
#include <set>

#include "ordo/config/words.h"
#include "ordo/core/text.h"
#include "ordo/study/checks.h"
#include "ordo/study/factors.h"

namespace ordo {

namespace {

bool has_level(const Factor& factor, std::string_view level) {
  return factor.find(level.starts_with('!') ? level.substr(1) : level) != nullptr;
}

std::string all_levels(const std::vector<Factor>& factors) {
  std::vector<std::string> parts;
  for (const auto& factor : factors) {
    std::vector<std::string> names;
    for (const auto& level : factor.levels) names.push_back(level.name);
    parts.push_back(fmt::format("{} ({})", factor.name, join(names, ", ")));
  }
  return parts.empty() ? "the study varies nothing" : "levels: " + join(parts, "; ");
}

std::string near_level(const std::vector<Factor>& factors, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& factor : factors)
    for (const auto& level : factor.levels) names.push_back(level.name);
  const std::string near = did_you_mean(name.starts_with('!') ? name.substr(1) : name, names);
  return near.empty() ? all_levels(factors) : near + " " + all_levels(factors);
}

// Names of levels, and what is known of whose they are.
struct Asked {
  const StudyConfig& study;
  const std::vector<Factor>& factors;
  std::string path;  // of the key that holds the names: "claims.0.level"
  Problems& problems;

  const Factor* named(const std::string& factor, const std::string& key) const {
    const auto found = std::find_if(factors.begin(), factors.end(), [&](const Factor& f) { return f.name == factor; });
    if (found != factors.end()) return &*found;
    std::vector<std::string> names;
    for (const auto& f : factors) names.push_back(f.name);
    const std::string near = did_you_mean(factor, names);
    add_at_key(problems, study, key, fmt::format("there is no factor '{}'", shown(factor)),
               fmt::format("{}{}factors: {}", near, near.empty() ? "" : " ", join(names, ", ")));
    return nullptr;
  }
  // The factor that has all of the levels: the preferred one, else the only one. The scalings, whose `none` is a word
  // of many, come last.
  const Factor* having(const std::vector<std::string>& levels, const std::string& preferred) const {
    std::vector<const Factor*> found;
    const auto has_all = [&](const Factor& factor) {
      return std::all_of(levels.begin(), levels.end(), [&](const auto& l) { return has_level(factor, l); });
    };
    for (const auto& factor : factors)
      if (has_all(factor)) found.push_back(&factor);
    for (const Factor* factor : found)
      if (factor->name == preferred) return factor;
    if (found.size() > 1 && found.back()->name == kScalingFactor) found.pop_back();
    if (found.size() == 1) return found.front();
    if (found.empty()) {
      tell_unknown(levels);
      return nullptr;
    }
    add_at_key(problems, study, path,
               fmt::format("{} and {} both have the level '{}'", found[0]->name, found[1]->name, shown(levels.front())),
               "say which with `factor`");
    return nullptr;
  }
  void tell_unknown(const std::vector<std::string>& levels) const {
    bool told = false;
    for (size_t i = 0; i < levels.size(); ++i) {
      const auto has = [&](const Factor& factor) { return has_level(factor, levels[i]); };
      if (std::any_of(factors.begin(), factors.end(), has)) continue;
      add_at_key(problems, study, place_of(i), fmt::format("there is no level '{}'", shown(levels[i])),
                 near_level(factors, levels[i]));
      told = true;
    }
    if (!told)
      add_at_key(problems, study, path, fmt::format("no factor has all of the levels {}", join(levels, ", ")),
                 all_levels(factors));
  }
  std::string place_of(size_t i) const { return fmt::format("{}.{}", path, i); }
};

// All that evaluations give: what is misspelt here would be missed only when the runs are made.
const std::vector<std::string> kMetrics{"loss",        "perplexity",         "accuracy",
                                        "exact_match", "bits_per_character", "bits_per_byte"};

void check_metric(const StudyConfig& study, const std::string& path, const std::string& metric, Problems& problems) {
  const size_t dot = metric.find('.');
  if (dot == std::string::npos) {
    if (std::find(kMetrics.begin(), kMetrics.end(), metric) != kMetrics.end()) return;
    const std::string near = did_you_mean(metric, kMetrics);
    return add_at_key(problems, study, path, fmt::format("there is no metric '{}'", shown(metric)),
                      fmt::format("{}{}metrics: {}", near, near.empty() ? "" : " ", join(kMetrics, ", ")));
  }
  const std::string split = metric.substr(0, dot), name = metric.substr(dot + 1);
  const auto& evaluated = study.evaluate.split;
  add_at_key(
      problems, study, path,
      evaluated.empty() || split == evaluated
          ? fmt::format("a metric is named without its split, found '{}'", shown(metric))
          : fmt::format("'{}' is of the split {}, but the study evaluates {}", shown(metric), shown(split), evaluated),
      fmt::format("write {}; the split is that of `evaluate`", shown(name)));
}

void settle_compare(StudyConfig& study, const std::vector<Factor>& factors, Problems& problems) {
  auto& compare = study.compare;
  check_metric(study, "compare.metric", compare.metric, problems);
  if (study.evaluate.split.empty()) study.evaluate.split = compare.split;
  if (!compare.split.empty() && compare.split != study.evaluate.split)
    add_at_key(problems, study, "compare.split",
               fmt::format("compare.split ({}) is not what is evaluated: evaluate.split is {}", compare.split,
                           study.evaluate.split));
  const Asked asked{study, factors, "compare.against", problems};
  const bool all = compare.against == "all";
  const Factor* factor = nullptr;
  if (!compare.factor.empty())
    factor = asked.named(compare.factor, "compare.factor");
  else if (all)
    factor = factors.empty() ? nullptr : &factors.front();
  else
    factor = asked.having({compare.against}, factors.empty() ? "" : factors.front().name);
  if (factor == nullptr) return;
  compare.factor = factor->name;
  if (!all && factor->find(compare.against) == nullptr)
    add_at_key(problems, study, "compare.against",
               fmt::format("{} has no level '{}'", factor->name, shown(compare.against)),
               near_level({*factor}, compare.against));
}

void check_form(const StudyConfig& study, const ClaimConfig& claim, const std::string& path, Problems& problems) {
  const auto wrong = [&](std::string text, std::string hint = "") {
    add_at_key(problems, study, path, fmt::format("claim '{}': {}", shown(claim.name), text), std::move(hint));
  };
  if (claim.order.empty() == claim.level.empty())
    wrong(claim.order.empty() ? "it names no levels" : "order and level say two things at once",
          "order: [best, …, worst], or level: NAME with at_least or at_most");
  const bool bounded = claim.at_least || claim.at_most;
  if (claim.order.size() == 1) wrong("an order is of two levels or more");
  if (!claim.order.empty() && (bounded || claim.change))
    wrong("an order takes no bound and no change", "bounds go with level");
  if (!claim.level.empty() && !bounded) wrong("it has no bound", "give at_least or at_most");
  if (claim.at_least && claim.at_most && *claim.at_least > *claim.at_most)
    wrong(fmt::format("at_least ({}) is above at_most ({})", *claim.at_least, *claim.at_most));
  if (claim.change && claim.length)
    wrong("length and change contradict: the lengths of a change are its own",
          "leave length out, or give change.from and change.to alone");
  if (claim.change && claim.change->from == claim.change->to)
    wrong(fmt::format("from and to of its change are both {}", claim.change->from));
}

void settle_claim(StudyConfig& study, size_t number, const std::vector<Factor>& factors, Problems& problems) {
  ClaimConfig& claim = study.claims[number];
  const std::string path = fmt::format("claims.{}", number);
  if (claim.metric.empty()) claim.metric = study.compare.metric;
  if (study.files->read.find(path + ".metric") != nullptr)
    check_metric(study, path + ".metric", claim.metric, problems);
  check_form(study, claim, path, problems);
  if (claim.where_as_written.node != nullptr && claim.where_as_written.node->kind == Node::Kind::map)
    claim.where = read_selection(*claim.where_as_written.node, factors, problems);
  auto& names = claim.order.empty() ? claim.level : claim.order;
  if (names.empty()) return;
  const Asked asked{study, factors, path + (claim.order.empty() ? ".level" : ".order"), problems};
  const Factor* factor =
      claim.factor.empty() ? asked.having(names, study.compare.factor) : asked.named(claim.factor, path + ".factor");
  if (factor == nullptr) return;
  claim.factor = factor->name;
  const Source* at = study.files->read.find(asked.path);
  names = read_levels(*factor, names, at == nullptr ? Source{} : *at, problems);
  if (std::set<std::string>(names.begin(), names.end()).size() < names.size())
    add_at_key(problems, study, asked.path, fmt::format("claim '{}' names a level twice", shown(claim.name)));
  for (const auto& [also, levels] : claim.where.levels)
    if (also == claim.factor)
      add_at_key(problems, study, path + ".where",
                 fmt::format("claim '{}' is about levels of {}, so `where` cannot choose among them", shown(claim.name),
                             also));
}

bool takes_scaling(const StudyConfig& study, const Arm& arm, const std::string& name) {
  return name == kUnscaled || std::any_of(arm.scalings.begin(), arm.scalings.end(), [&](int64_t number) {
           return study.evaluate.scaling_names[static_cast<size_t>(number) - 1] == name;
         });
}

// Whether an arm has the scalings that a claim speaks of: all that it ranks or bounds, one of its `where`.
bool takes_scalings(const StudyConfig& study, const ClaimConfig& claim, const Arm& arm) {
  const auto taken = [&](const std::string& name) { return takes_scaling(study, arm, name); };
  const auto& names = claim.order.empty() ? claim.level : claim.order;
  if (claim.factor == kScalingFactor && !std::all_of(names.begin(), names.end(), taken)) return false;
  return std::all_of(claim.where.levels.begin(), claim.where.levels.end(), [&](const auto& also) {
    return also.first != kScalingFactor || std::any_of(also.second.begin(), also.second.end(), taken);
  });
}

// The arms that a claim is about.
bool concerns(const StudyConfig& study, const ClaimConfig& claim, const Arm& arm) {
  const auto& names = claim.order.empty() ? claim.level : claim.order;
  Selection whole = claim.where;
  whole.levels.emplace_back(claim.factor, names);
  std::erase_if(whole.levels, [](const auto& l) { return l.first == kScalingFactor; });
  return whole.holds(arm.levels) && takes_scalings(study, claim, arm);
}

void check_distinct_lengths(const StudyConfig& study, const Arm& arm, std::set<std::string>& told, Problems& problems) {
  std::set<int64_t> seen;
  for (const int64_t length : arm.lengths)
    if (!seen.insert(length).second && told.insert("evaluate.lengths").second)
      add_at_key(problems, study, "evaluate.lengths",
                 fmt::format("the length {} is evaluated twice{}", length,
                             study.evaluate.lengths.empty() ? ": evaluate.lengths of " + arm.base.string() : ""));
}

void check_length(const StudyConfig& study, const Arm& arm, const std::string& path, int64_t length,
                  std::set<std::string>& told, Problems& problems) {
  if (std::find(arm.lengths.begin(), arm.lengths.end(), length) != arm.lengths.end() || !told.insert(path).second)
    return;
  std::vector<std::string> evaluated;
  for (const int64_t l : arm.lengths) evaluated.push_back(std::to_string(l));
  add_at_key(problems, study, path, fmt::format("{} is {}, a length that is not evaluated", path, length),
             fmt::format("evaluated{}: {}", arm.levels.empty() ? "" : " with " + combination_text(arm.levels),
                         join(evaluated, ", ")));
}

}  // namespace

void settle_questions(StudyConfig& study, Problems& problems) {
  const auto factors = all_factors(study);
  settle_compare(study, factors, problems);
  if (study.tune) check_metric(study, "tune.by.metric", study.tune->metric, problems);
  std::set<std::string> names;
  for (size_t i = 0; i < study.claims.size(); ++i) {
    settle_claim(study, i, factors, problems);
    if (!names.insert(study.claims[i].name).second)
      add_at_key(problems, study, fmt::format("claims.{}.name", i),
                 fmt::format("the claim '{}' is there twice", shown(study.claims[i].name)));
  }
}

void check_evaluations(const StudyConfig& study, const std::vector<Arm>& arms, Problems& problems) {
  std::set<std::string> told;
  for (const auto& arm : arms) check_distinct_lengths(study, arm, told, problems);
  for (const auto& arm : arms)
    if (study.evaluate.stride.value_or(0) > *std::min_element(arm.lengths.begin(), arm.lengths.end()) &&
        told.insert("evaluate.stride").second)
      add_at_key(problems, study, "evaluate.stride",
                 fmt::format("evaluate.stride ({}) exceeds the shortest evaluated length ({})", *study.evaluate.stride,
                             *std::min_element(arm.lengths.begin(), arm.lengths.end())));
  for (const auto& arm : arms)
    if (study.compare.length) check_length(study, arm, "compare.length", *study.compare.length, told, problems);
  const bool all = arms.size() == combinations(study).size();  // else what is wrong with the others was told
  for (size_t i = 0; i < study.claims.size(); ++i) {
    const auto& claim = study.claims[i];
    const std::string path = fmt::format("claims.{}", i);
    bool any = false;
    for (const auto& arm : arms) {
      if (!concerns(study, claim, arm)) continue;
      any = true;
      if (claim.length) check_length(study, arm, path + ".length", *claim.length, told, problems);
      if (!claim.change) continue;
      check_length(study, arm, path + ".change.from", claim.change->from, told, problems);
      check_length(study, arm, path + ".change.to", claim.change->to, told, problems);
    }
    if (!any && all && !arms.empty() && !claim.factor.empty())
      add_at_key(problems, study, path, fmt::format("no run is of the levels of claim '{}'", shown(claim.name)));
  }
}

}  // namespace ordo
