// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/factors.h"

#include <algorithm>
#include <set>

#include "ordo/config/overrides.h"
#include "ordo/config/words.h"
#include "ordo/core/text.h"

namespace ordo {

namespace {

// Columns of results.csv, keys of selections and the scalings: no factor can be called so.
const std::set<std::string, std::less<>> kTaken{"why",   "when",   "run",    "seed",   "instance",
                                                "split", "length", "metric", "status", kScalingFactor.data()};
// Keys of a training config that a study has its own way for.
struct OwnKey {
  std::string_view key, instead;
};
constexpr OwnKey kOwnKeys[] = {{"name", "runs are named after their levels"},
                               {"seed", "give `seeds` of the study"},
                               {"instance", "give `instances` of the study"}};

class FactorReader {
 public:
  FactorReader(StudyFiles& files) : files_(files), problems_(files.read) {}

  std::vector<Factor> factors(const Tree& tree, std::string_view key) {
    std::vector<Factor> all;
    if (tree.node == nullptr ||
        !is_map(*tree.node, std::string(key), "FACTOR: {LEVEL: {KEY: value}} or KEY: [value, …]"))
      return all;
    for (const auto& item : tree.node->items) {
      if (kTaken.contains(item.key))
        problems_.add_at(item.at, fmt::format("no factor can be called '{}'", item.key),
                         "the name has a meaning of its own in a study; take another one");
      const std::string path = child_path(key, item.key);
      if (item.value.kind == Node::Kind::list)
        all.push_back(short_factor(item));
      else if (item.value.kind == Node::Kind::map)
        all.push_back(named_factor(item, path));
      else
        problems_.add_at(
            item.value.source,
            fmt::format("{} must be a list of values or a map of levels, found {}", path, found_text(item.value)),
            "KEY: [value, …] varies one key; FACTOR: {LEVEL: {KEY: value}} names levels");
      if (!all.empty() && all.back().name == item.key) check_levels(all.back(), path);
    }
    return all;
  }
  // The keys of tune: short forms only.
  std::vector<Factor> values(const Tree& tree, std::string_view key) {
    std::vector<Factor> all;
    if (tree.node == nullptr || !is_map(*tree.node, std::string(key), "KEY: [value, …]")) return all;
    for (const auto& item : tree.node->items) {
      if (item.value.kind != Node::Kind::list) {
        problems_.add_at(item.value.source, fmt::format("{} must be a list of the values to try, found {}",
                                                        child_path(key, item.key), found_text(item.value)));
        continue;
      }
      all.push_back(short_factor(item));
      check_levels(all.back(), child_path(key, item.key));
    }
    return all;
  }
  std::vector<Setting> settings(const Node& map, const std::set<std::string, std::less<>>& but) {
    std::vector<Setting> all;
    for (const auto& item : map.items)
      if (!but.contains(item.key)) all.push_back(setting(item.key, item.at, item.value));
    return all;
  }
  bool is_map(const Node& node, const std::string& what, std::string_view form) {
    if (node.kind == Node::Kind::map && !node.bare) return true;
    problems_.add_at(node.source, fmt::format("{} must be a map, found {}", what, found_text(*unwrapped(&node))),
                     fmt::format("of the form {}", form));
    return false;
  }

 private:
  Setting setting(const std::string& key, const Source& at, const Node& value) {
    for (const auto& own : kOwnKeys)
      if (key == own.key)
        problems_.add_at(at, fmt::format("a study does not set '{}' of its runs", key), std::string(own.instead));
    return {key, inline_yaml(value), at, std::make_shared<const Node>(value)};
  }
  std::optional<fs::path> base_of(const Node& value, const std::string& path) {
    if (value.kind != Node::Kind::scalar || value.text.empty() || value.text.find('\0') != std::string::npos) {
      problems_.add_at(value.source,
                       fmt::format("{} must be the path of a training config, found {}", path, found_text(value)));
      return std::nullopt;
    }
    const auto folder = files_.folders.find(value.source.file);
    const auto from = folder == files_.folders.end() ? fs::current_path() : folder->second;
    return (from / value.text).lexically_normal();
  }

  Factor short_factor(const Node::Item& item) {
    Factor factor{.name = item.key, .at = item.at};
    const auto& values = item.value.items;
    std::vector<const Node*> nodes;
    for (const auto& value : values) nodes.push_back(&value.value);
    const auto names = value_names(nodes);
    for (size_t i = 0; i < values.size(); ++i) {
      Level level{.name = names[i], .at = values[i].value.source};
      if (item.key == "base") {
        level.base = base_of(values[i].value, item.key);
        if (level.base) level.name = level.base->stem().string();
      } else {
        level.settings.push_back(setting(item.key, values[i].value.source, values[i].value));
      }
      factor.levels.push_back(std::move(level));
    }
    return factor;
  }
  Factor named_factor(const Node::Item& item, const std::string& path) {
    Factor factor{.name = item.key, .at = item.at};
    for (const auto& level : item.value.items) factor.levels.push_back(named_level(level, child_path(path, level.key)));
    return factor;
  }
  Level named_level(const Node::Item& item, const std::string& path) {
    Level level{.name = item.key, .at = item.at};
    if (item.value.kind == Node::Kind::null) return level;  // the base as it is
    if (!is_map(item.value, path, "{KEY: value, …}")) return level;
    level.settings = settings(item.value, {"base"});
    if (const Node* base = item.value.find("base")) level.base = base_of(*base, child_path(path, "base"));
    return level;
  }
  void check_levels(const Factor& factor, const std::string& path) {
    if (factor.levels.empty()) problems_.add_at(factor.at, fmt::format("{} has no levels", path));
    std::set<std::string> seen;
    for (const auto& level : factor.levels) {
      if (!seen.insert(level.name).second)
        problems_.add_at(level.at, fmt::format("{} has the value {} twice", path, shown(level.name)));
      if (level.name.empty() || level.name.front() == '!' || level.name == "all")
        problems_.add_at(level.at, fmt::format("no level can be called '{}'", shown(level.name)),
                         "`all` and names that begin with ! have a meaning of their own");
    }
  }

  StudyFiles& files_;
  Problems& problems_;
};

// A list of maps; one map alone is a list of one.
std::vector<const Node*> maps_of(const Tree& tree, std::string_view key, FactorReader& reader) {
  std::vector<const Node*> maps;
  if (tree.node == nullptr) return maps;
  const auto take = [&](const Node& node) {
    if (reader.is_map(node, fmt::format("an entry of {}", key), "{FACTOR: LEVEL, …}")) maps.push_back(&node);
  };
  if (tree.node->kind != Node::Kind::list)
    take(*tree.node);
  else
    for (const auto& item : tree.node->items) take(item.value);
  return maps;
}

std::vector<ConditionalSettings> read_set(const StudyConfig& study, FactorReader& reader, Problems& problems) {
  std::vector<ConditionalSettings> all;
  for (const Node* map : maps_of(study.set_as_written, "set", reader)) {
    ConditionalSettings entry;
    entry.when.at = map->source;
    const Node* when = map->find("when");
    if (when != nullptr && reader.is_map(*when, "when", "{FACTOR: LEVEL, …}"))
      entry.when = read_selection(*when, study.vary, problems);
    entry.settings = reader.settings(*map, {"when"});
    if (entry.settings.empty())
      problems.add_at(map->source, "an entry of set sets nothing", "of the form {when: {FACTOR: LEVEL}, KEY: value}");
    all.push_back(std::move(entry));
  }
  return all;
}

std::vector<Selection> read_selections(const Tree& tree, std::string_view key, const StudyConfig& study,
                                       FactorReader& reader, Problems& problems) {
  std::vector<Selection> all;
  for (const Node* map : maps_of(tree, key, reader)) all.push_back(read_selection(*map, study.vary, problems));
  return all;
}

void read_scalings(StudyConfig& study, Problems& problems) {
  const auto& node = study.evaluate.scalings_as_written.node;
  if (node == nullptr) return;
  std::vector<const Node*> values;
  if (node->kind == Node::Kind::list)
    for (const auto& item : node->items) values.push_back(&item.value);
  else
    values.push_back(node.get());
  study.evaluate.scaling_names = value_names(values);
  std::set<std::string> seen{std::string(kUnscaled)};
  for (size_t i = 0; i < values.size(); ++i) {
    study.evaluate.scalings.push_back(inline_yaml(*values[i]));
    if (!seen.insert(study.evaluate.scaling_names[i]).second)
      problems.add_at(values[i]->source, fmt::format("the scaling {} is there twice", study.evaluate.scaling_names[i]),
                      "none, the encoding as trained, is always evaluated");
  }
}

}  // namespace

void read_factors(StudyConfig& study, StudyFiles& files) {
  FactorReader reader(files);
  study.vary = reader.factors(study.vary_as_written, "vary");
  study.set = read_set(study, reader, files.read);
  study.skip = read_selections(study.skip_as_written, "skip", study, reader, files.read);
  study.only = read_selections(study.only_as_written, "only", study, reader, files.read);
  if (study.tune) study.tune->keys = reader.values(study.tune->keys_as_written, "tune.keys");
  read_scalings(study, files.read);
}

bool sets_runs(const std::string& override) {
  const std::string first = override.substr(0, override.find_first_of(".="));
  static const std::set<std::string, std::less<>> kRunKeys{"task", "model", "train", "checkpoint", "device"};
  return kRunKeys.contains(first) && override.find('=') != std::string::npos;
}

void set_from_command_line(StudyConfig& study) {
  ConditionalSettings given;
  for (size_t i = 0; i < study.overrides.size(); ++i) {
    const std::string& text = study.overrides[i];
    if (!sets_runs(text)) continue;
    const size_t equals = text.find('=');
    given.settings.push_back({text.substr(0, equals), text.substr(equals + 1), command_line(i)});
  }
  if (!given.settings.empty()) study.set.push_back(std::move(given));
}

std::vector<std::string> read_levels(const Factor& factor, const std::vector<std::string>& names, const Source& at,
                                     Problems& problems) {
  std::vector<std::string> all, wanted, without;
  for (const auto& level : factor.levels) all.push_back(level.name);
  for (const auto& name : names) {
    const bool negated = name.starts_with('!');
    const std::string plain = negated ? name.substr(1) : name;
    if (factor.find(plain) == nullptr) {
      const std::string near = did_you_mean(plain, all);
      problems.add_at(at, fmt::format("{} has no level '{}'", factor.name, shown(plain)),
                      fmt::format("{}{}levels: {}", near, near.empty() ? "" : " ", join(all, ", ")));
      continue;
    }
    (negated ? without : wanted).push_back(plain);
  }
  if (without.empty()) return wanted;
  if (!wanted.empty())
    problems.add_at(at, fmt::format("levels of {} are either named or left out with !, not both", factor.name));
  std::erase_if(all,
                [&](const auto& name) { return std::find(without.begin(), without.end(), name) != without.end(); });
  return all;
}

namespace {

// The levels that an entry of a selection names: one, or a list.
std::vector<std::string> selected_levels(const Node::Item& item, const Factor& factor, Problems& problems) {
  std::vector<const Node*> names;
  if (item.value.kind == Node::Kind::list)
    for (const auto& name : item.value.items) names.push_back(&name.value);
  else
    names.push_back(&item.value);
  std::vector<std::string> texts, levels;
  bool negated = false;
  for (const Node* name : names) {
    if (name->kind != Node::Kind::scalar) {
      problems.add_at(name->source, fmt::format("a level of {} must be a name, found {}", item.key, found_text(*name)));
      continue;
    }
    negated = negated || name->text.starts_with('!');
    texts.push_back(name->text);
  }
  if (negated || texts.size() != names.size()) return read_levels(factor, texts, item.value.source, problems);
  for (const Node* name : names)  // one by one, so that each has its own place
    for (auto& level : read_levels(factor, {name->text}, name->source, problems)) levels.push_back(std::move(level));
  return levels;
}

}  // namespace

Selection read_selection(const Node& node, const std::vector<Factor>& factors, Problems& problems) {
  Selection selection{.at = node.source};
  std::vector<std::string> known;
  for (const auto& factor : factors) known.push_back(factor.name);
  for (const auto& item : node.items) {
    if (item.key == "why") {
      if (item.value.kind == Node::Kind::scalar) selection.why = item.value.text;
      continue;
    }
    const auto factor =
        std::find_if(factors.begin(), factors.end(), [&](const Factor& f) { return f.name == item.key; });
    if (factor != factors.end()) {
      selection.levels.emplace_back(item.key, selected_levels(item, *factor, problems));
      continue;
    }
    selection.levels.emplace_back(item.key, std::vector<std::string>());  // holds of nothing
    const std::string near = did_you_mean(item.key, known);
    problems.add_at(
        item.at, fmt::format("there is no factor '{}'", shown(item.key)),
        fmt::format("{}{}factors: {}", near, near.empty() ? "" : " ", known.empty() ? "none" : join(known, ", ")));
  }
  return selection;
}

std::optional<Factor> scaling_factor(const StudyConfig& study) {
  if (study.evaluate.scaling_names.empty()) return std::nullopt;
  Factor factor{.name = std::string(kScalingFactor)};
  factor.levels.push_back({.name = std::string(kUnscaled)});
  for (const auto& name : study.evaluate.scaling_names) factor.levels.push_back({.name = name});
  return factor;
}

std::vector<Factor> all_factors(const StudyConfig& study) {
  std::vector<Factor> all = study.vary;
  if (auto scalings = scaling_factor(study)) all.push_back(std::move(*scalings));
  return all;
}

}  // namespace ordo
