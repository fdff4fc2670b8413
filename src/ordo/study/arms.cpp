// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/arms.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ordo/config/writer.h"
#include "ordo/core/errors.h"
#include "ordo/core/text.h"

namespace ordo {

const Level* Factor::find(std::string_view level) const {
  const auto found = std::find_if(levels.begin(), levels.end(), [&](const Level& l) { return l.name == level; });
  return found == levels.end() ? nullptr : &*found;
}

const Factor* StudyConfig::factor(std::string_view wanted) const {
  const auto found = std::find_if(vary.begin(), vary.end(), [&](const Factor& f) { return f.name == wanted; });
  return found == vary.end() ? nullptr : &*found;
}

std::string combination_text(const Combination& combination) {
  std::vector<std::string> parts;
  for (const auto& [factor, level] : combination) parts.push_back(fmt::format("{} {}", factor, level));
  return join(parts, ", ");
}

Json levels_json(const Combination& combination) {
  Json levels = Json::object();
  for (const auto& [factor, level] : combination) levels[factor] = level;
  return levels;
}

std::string level_of(const Combination& combination, std::string_view factor) {
  const auto found =
      std::find_if(combination.begin(), combination.end(), [&](const auto& pair) { return pair.first == factor; });
  return found == combination.end() ? "" : found->second;
}

bool Selection::holds(const Combination& combination) const {
  return std::all_of(levels.begin(), levels.end(), [&](const auto& wanted) {
    return std::find(wanted.second.begin(), wanted.second.end(), level_of(combination, wanted.first)) !=
           wanted.second.end();
  });
}

void add_at_key(Problems& problems, const StudyConfig& study, std::string_view path, std::string text,
                std::string hint) {
  const Source* at = nullptr;
  while (study.files != nullptr && (at = study.files->read.find(path)) == nullptr && !path.empty()) {
    const size_t dot = path.rfind('.');
    path = dot == std::string_view::npos ? "" : path.substr(0, dot);
  }
  problems.add_at(at == nullptr ? Source{} : *at, std::move(text), std::move(hint));
}

std::vector<Combination> product(const std::vector<Factor>& factors) {
  std::vector<Combination> all{{}};
  for (const auto& factor : factors) {
    std::vector<Combination> longer;
    for (const auto& combination : all)
      for (const auto& level : factor.levels) {
        longer.push_back(combination);
        longer.back().emplace_back(factor.name, level.name);
      }
    all = std::move(longer);
  }
  return all;
}

std::vector<Combination> combinations(const StudyConfig& study, std::vector<LeftOut>* left_out) {
  std::vector<Combination> kept;
  for (auto& combination : product(study.vary)) {
    const auto holds = [&](const Selection& selection) { return selection.holds(combination); };
    const auto skip = std::find_if(study.skip.begin(), study.skip.end(), holds);
    const bool asked_for = study.only.empty() || std::any_of(study.only.begin(), study.only.end(), holds);
    if (skip == study.skip.end() && asked_for) {
      kept.push_back(std::move(combination));
      continue;
    }
    if (left_out == nullptr) continue;
    std::string why = skip != study.skip.end() ? skip->why : "";
    if (!asked_for) why = study.only.front().why;
    if (why.empty()) why = asked_for ? "left out by `skip`" : "not among those of `only`";
    left_out->push_back({std::move(combination), std::move(why)});
  }
  return kept;
}

namespace {

// `position.kind` is as broad as `position`, which may name a kind, too.
std::ptrdiff_t breadth(const Setting& setting) {
  return std::count(setting.path.begin(), setting.path.end(), '.') - (setting.path.ends_with(".kind") ? 1 : 0);
}

// The levels of a combination, in the order of the factors.
std::vector<const Level*> levels_of(const StudyConfig& study, const Combination& combination) {
  std::vector<const Level*> levels;
  for (const auto& factor : study.vary) {
    const Level* level = factor.find(level_of(combination, factor.name));
    ORDO_ASSERT(level != nullptr);
    levels.push_back(level);
  }
  return levels;
}

// What the study says of evaluations while a run is trained.
std::vector<Setting> evaluation_settings(const StudyConfig& study) {
  std::vector<Setting> settings;
  const auto give = [&](const std::string& path, std::string value) {
    const Source* at = study.files->read.find(path);
    settings.push_back({path, std::move(value), at == nullptr ? Source{} : *at});
  };
  if (study.evaluate.every) give("evaluate.every", quantity_text(*study.evaluate.every));
  if (study.evaluate.batch_size) give("evaluate.batch_size", std::to_string(*study.evaluate.batch_size));
  return settings;
}

Arm unresolved(const StudyConfig& study, const Combination& combination) {
  Arm arm{.levels = combination, .base = study.base, .settings = evaluation_settings(study)};
  for (const Level* level : levels_of(study, combination)) {
    arm.settings.insert(arm.settings.end(), level->settings.begin(), level->settings.end());
    if (level->base) arm.base = *level->base;
  }
  // Levels set keys of their own, so the broader ones can go first: a kind of one factor keeps what another gives to
  // it.
  std::stable_sort(arm.settings.begin(), arm.settings.end(),
                   [](const Setting& a, const Setting& b) { return breadth(a) < breadth(b); });
  for (const auto& entry : study.set)
    if (entry.when.holds(combination))
      arm.settings.insert(arm.settings.end(), entry.settings.begin(), entry.settings.end());
  return arm;
}

const Node& scaling_node(const StudyConfig& study, int64_t scaling) {
  const Node& all = *study.evaluate.scalings_as_written.node;
  return all.kind == Node::Kind::list ? all.items[static_cast<size_t>(scaling) - 1].value : all;
}

}  // namespace

std::optional<RunConfig> resolve(const StudyConfig& study, const fs::path& base, std::span<const Setting> settings,
                                 Problems& problems) {
  const auto tree = study.files->bases.find(base.string());
  if (tree == study.files->bases.end()) return std::nullopt;  // told already: it cannot be read
  Problems found;
  found.know_texts_of(study.files->read);
  Node root = tree->second;
  for (const auto& setting : settings) lay_over(root, {&setting, 1}, found);
  RunConfig config;
  config.name = study.name;
  read_into(root, walk_of(config), study.files->folders, found);
  try {
    if (found.empty()) check(config, found);
  } catch (const ConfigError& refusal) {  // of the task; says its place
    found.add_at({}, refusal.what());
  }
  problems.adopt(found);
  return found.empty() ? std::optional(std::move(config)) : std::nullopt;
}

std::optional<RunConfig> scaled(const StudyConfig& study, const Arm& arm, int64_t scaling, Problems& why) {
  const Node& value = scaling_node(study, scaling);
  auto settings = arm.settings;
  settings.push_back({"model.position.scaling", study.evaluate.scalings[static_cast<size_t>(scaling) - 1], value.source,
                      std::make_shared<const Node>(value)});
  return resolve(study, arm.base, settings, why);
}

std::vector<Arm> resolve_arms(const StudyConfig& study, Problems& problems) {
  std::vector<Arm> arms;
  for (const auto& combination : combinations(study)) {
    Arm arm = unresolved(study, combination);
    auto config = resolve(study, arm.base, arm.settings, problems);
    if (!config) continue;
    arm.config = std::move(*config);
    arm.lengths = !study.evaluate.lengths.empty()        ? study.evaluate.lengths
                  : !arm.config.evaluate.lengths.empty() ? arm.config.evaluate.lengths
                                                         : std::vector{arm.config.train.length};
    arms.push_back(std::move(arm));
  }
  const auto count = static_cast<int64_t>(study.evaluate.scalings.size());
  for (int64_t scaling = 1; scaling <= count && !arms.empty(); ++scaling) {
    bool taken = false;
    Problems wrong, without;  // the scaling itself; encodings that take none
    for (auto& arm : arms) {
      Problems refused;
      if (scaled(study, arm, scaling, refused)) {
        arm.scalings.push_back(scaling);
        taken = true;
      } else {
        const bool takes_none = refused.all().front().at == scaling_node(study, scaling).source;
        (takes_none ? without : wrong).adopt(refused);
      }
    }
    problems.adopt(wrong);
    if (!taken && wrong.empty()) problems.adopt(without);
  }
  return arms;
}

}  // namespace ordo
