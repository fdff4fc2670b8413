// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/planned_runs.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "ordo/core/errors.h"
#include "ordo/core/files.h"
#include "ordo/core/hash.h"
#include "ordo/core/text.h"
#include "ordo/core/utf8.h"
#include "ordo/study/deciding.h"

namespace ordo {

namespace {

constexpr size_t kLongestFolder = 100;  // characters, before a hash takes the place of the rest

// `rope`; `length64` for a level whose name would say nothing without its factor.
std::string folder_part(const std::string& factor, const std::string& level) {
  const bool says_little = level.empty() || std::isdigit(static_cast<unsigned char>(level.front())) != 0 ||
                           level == "true" || level == "false" || level == "null";
  return file_safe(says_little ? factor.substr(factor.rfind('.') + 1) + level : level);
}

std::string folder_of(const Combination& levels) {
  std::vector<std::string> parts;
  for (const auto& [factor, level] : levels) parts.push_back(folder_part(factor, level));
  return join(parts, "-");
}

// All strings below a value.
template <class Change>
void change_strings(Json& value, const Change& change) {
  if (value.is_string())
    value = change(value.get<std::string>());
  else if (value.is_structured())
    for (auto& inner : value) change_strings(inner, change);
}

}  // namespace

std::string file_safe(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '=') continue;
    const bool kept = byte >= 0x80 || std::isalnum(byte) != 0 || std::string_view("._+-").find(c) != std::string::npos;
    if (kept)
      safe += c;
    else if (!safe.empty() && safe.back() != '-')
      safe += '-';
  }
  while (!safe.empty() && safe.back() == '-') safe.pop_back();
  while (safe.starts_with('.') || safe.starts_with('-')) safe.erase(0, 1);
  return safe.empty() ? "level" : safe;
}

// The path below the study's folder, of no run before it; names that differ in case alone are the same to some systems.
std::string RunMaker::folder(const std::string& wanted) {
  std::string name = wanted;
  if (name.size() > kLongestFolder) {
    name = fmt::format("{}-{:08x}", name.substr(0, character_start(name, kLongestFolder)),
                       hash_bytes(wanted.data(), wanted.size()) & 0xFFFFFFFFU);
  }
  const auto taken = [&](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return !folders_.insert(text).second;
  };
  std::string unique = name;
  for (int number = 2; taken(unique); ++number) unique = fmt::format("{}-{}", name, number);
  return unique;
}

// A path as what stands there: a study means the same wherever its folder lies.
std::string RunMaker::content(const std::string& path) {
  if (!path.starts_with('/')) return path;
  const auto known = contents_.find(path);
  if (known != contents_.end()) return known->second;
  std::error_code ignored;
  std::string text = fs::path(path).lexically_relative(study_.file.parent_path()).string();
  if (fs::is_regular_file(path, ignored) && fs::file_size(path, ignored) > 0) {
    const MappedFile file(path);
    text = hash_text(hash_bytes(file.data(), file.size()));
  }
  return contents_[path] = text;
}

void RunMaker::rehash(PlannedRun& run) {
  Json all = settings_that_decide(run.config, Decides::record);
  change_strings(all, [&](const std::string& text) { return content(text); });
  Json scalings = Json::array();
  for (const int64_t number : run.scalings)
    scalings.push_back(study_.evaluate.scalings[static_cast<size_t>(number) - 1]);
  const Json whole{{"config", std::move(all)},
                   {"split", run.split},
                   {"lengths", run.lengths},
                   {"stride", study_.evaluate.stride.value_or(0)},
                   {"scalings", std::move(scalings)}};
  const std::string text = json_line(whole);
  run.hash = hash_text(hash_bytes(text.data(), text.size()));
}

PlannedRun RunMaker::run(const Arm& arm, int64_t seed, std::optional<int64_t> instance) const {
  PlannedRun made{.levels = arm.levels,
                  .seed = seed,
                  .instance = instance,
                  .config = arm.config,
                  .settings = arm.settings,
                  .adjusted = arm.adjusted,
                  .split = study_.evaluate.split,
                  .lengths = arm.lengths,
                  .scalings = arm.scalings,
                  .base = arm.base};
  made.config.seed_value = seed;
  made.config.instance = instance;
  // Curves are drawn at the first length; the others are evaluated at the end.
  made.config.evaluate.lengths = {arm.lengths.front()};
  if (study_.evaluate.stride) made.config.evaluate.stride = *study_.evaluate.stride;
  return made;
}

std::vector<PlannedRun> RunMaker::comparison(const std::vector<Arm>& arms) {
  std::vector<std::optional<int64_t>> instances;
  if (study_.instances == Instances::per_seed) instances.push_back(std::nullopt);
  const int64_t sets = study_.instances == Instances::fixed ? 1 : study_.instance_count;
  for (int64_t i = 1; i <= sets; ++i) instances.emplace_back(i);
  std::vector<PlannedRun> runs;
  for (const auto& arm : arms)
    for (const auto& instance : instances)
      for (const int64_t seed : study_.seeds) {
        PlannedRun made = run(arm, seed, instance);
        std::string name = folder_of(arm.levels) + (arm.levels.empty() ? "" : "-") + fmt::format("seed{}", seed);
        if (study_.instances == Instances::crossed) name += fmt::format("-instance{}", *instance);
        made.config.name = folder(name);
        made.folder = "runs/" + made.config.name;
        rehash(made);
        runs.push_back(std::move(made));
      }
  return runs;
}

std::vector<PlannedRun> RunMaker::trial(const std::vector<Arm>& arms, const Combination& values) {
  std::vector<PlannedRun> runs;
  std::vector<std::string> parts;
  for (const auto& [key, value] : values) parts.push_back(file_safe(key.substr(key.rfind('.') + 1) + value));
  for (const auto& arm : arms)
    for (const int64_t seed : study_.tune->seeds) {
      PlannedRun made = run(arm, seed, std::nullopt);
      made.trial = trial_text(values);
      made.split = study_.tune->split;
      made.lengths = {study_.compare.length.value_or(arm.lengths.front())};
      made.scalings.clear();
      std::string name = folder_of(arm.levels) + (arm.levels.empty() ? "" : "-") + join(parts, "-");
      made.config.name = folder(fmt::format("{}-seed{}", name, seed));
      made.folder = "tune/" + made.config.name;
      rehash(made);
      runs.push_back(std::move(made));
    }
  return runs;
}

std::string trial_text(const Combination& values) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : values) parts.push_back(fmt::format("{}={}", key, value));
  return join(parts, ", ");
}

std::vector<Setting> trial_settings(const TuneConfig& tune, const Combination& values) {
  std::vector<Setting> settings;
  for (const auto& factor : tune.keys) {
    const Level* level = factor.find(level_of(values, factor.name));
    ORDO_ASSERT(level != nullptr);
    settings.insert(settings.end(), level->settings.begin(), level->settings.end());
  }
  return settings;
}

std::vector<Arm> with_settings(const StudyConfig& study, std::vector<Arm> arms,
                               const std::vector<std::vector<Setting>>& settings, Problems& problems) {
  for (size_t i = 0; i < arms.size(); ++i) {
    arms[i].settings.insert(arms[i].settings.end(), settings[i].begin(), settings[i].end());
    if (auto config = resolve(study, arms[i].base, arms[i].settings, problems)) arms[i].config = std::move(*config);
  }
  return arms;
}

}  // namespace ordo
