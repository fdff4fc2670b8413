// SPDX-License-Identifier: Apache-2.0
// ordo help [TOPIC]: a command, a config path, or a page.
#include <fmt/core.h>

#include <algorithm>

#include "options.h"
#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/study/study.h"
#include "ordo/train/run_config.h"
#include "pages.h"

namespace ordo::cli {
namespace {

Walk config_walk() {
  static RunConfig config;
  return walk_of(config);
}

constexpr std::string_view kTop = "config", kStudy = "study";

// The keys of a study file, below a name of their own: study.claims.
Walk study_walk() {
  static StudyConfig study;
  return [](Fields& f) { f(kStudy, study, "a study file: what is compared, on which seeds, and what is asked"); };
}
bool about_study(const std::string& topic) { return topic == kStudy || topic.starts_with(fmt::format("{}.", kStudy)); }

// A path with names left out (model.position.theta), as the shortest path of the manual that holds the given names in
// order, from its first to its last; "" when there is none.
std::string completed(const std::string& topic) {
  const Words asked = split(topic, '.');
  std::string best;
  for (const auto& path : manual_paths(config_walk())) {
    const Words full = split(path, '.');
    if (full.front() != asked.front() || full.back() != asked.back() ||
        (!best.empty() && full.size() >= split(best, '.').size()))
      continue;
    size_t met = 0;
    for (const auto& segment : full)
      if (met < asked.size() && segment == asked[met]) ++met;
    if (met == asked.size()) best = path;
  }
  return best;
}

// The page of a path of the config; "" when there is none.
std::string config_page(const std::string& topic) {
  if (topic.empty()) return "";
  try {
    return manual(config_walk(), topic);
  } catch (const ConfigError&) {
    const std::string path = completed(topic);
    return path.empty() ? "" : manual(config_walk(), path);
  }
}

// "model.postion" -> "model.position": the nearest key below the part of the path that is known.
std::string nearest_path(const std::string& topic) {
  const size_t dot = topic.rfind('.');
  if (dot == topic.npos) return "";
  const std::string parent = topic.substr(0, dot), known = completed(parent);
  if (known.empty()) return nearest_path(parent);
  Words keys;
  for (const auto& path : manual_paths(config_walk()))
    if (path.starts_with(known + ".")) keys.push_back(split(path, '.').back());
  const std::string near = nearest(topic.substr(dot + 1), keys);
  return near.empty() ? "" : parent + "." + near;
}

// Paths that end in a name: 'rope' is at model.position.rope.
Words paths_to(const std::string& name) {
  Words found;
  for (const auto& path : manual_paths(config_walk()))
    if (path.ends_with("." + name)) found.push_back(path);
  return found;
}

ConfigError unknown_topic(const std::string& topic) {
  constexpr size_t kMost = 6;
  Words ways = paths_to(topic), names;
  if (!ways.empty()) {
    const size_t all = ways.size();
    ways.resize(std::min(all, kMost));
    return ConfigError(fmt::format("no help on '{}' alone: say 'ordo help {}'{}", topic, join(ways, "' or 'ordo help "),
                                   all > kMost ? fmt::format(" or one of {} more", all - kMost) : ""));
  }
  for (const auto& command : commands()) names.emplace_back(command.name);
  for (const auto& page : pages()) names.emplace_back(page.name);
  for (const auto& path : manual_paths(config_walk()))
    if (path.find('.') == path.npos) names.push_back(path);
  names.emplace_back(kStudy);
  const std::string path = nearest_path(topic), near = path.empty() ? nearest(topic, names) : path;
  return ConfigError(
      fmt::format("no help on '{}'{}; 'ordo help' lists commands and pages, 'ordo help --paths' the keys of a config",
                  topic, near.empty() ? "" : fmt::format(": did you mean '{}'?", near)));
}

int show_contents() {
  print(overview());
  Table table({});
  for (const auto& page : pages()) table.row({fmt::format("  ordo help {}", page.name), std::string(page.summary)});
  table.row({"  ordo help PATH", "the keys of a config below a path: train, model.attention, model.position.rope, …"});
  table.row({"  ordo help study", "the keys of a study file; study.claims: those of a part of it"});
  print("\nPages:\n" + table.text());
  return kDone;
}

}  // namespace

int help(const Words& words) {
  Options options("help", "The manual.");
  std::string topic;
  bool paths = false;
  options.positional("TOPIC", topic, "a command, a page, or a config path: model.position.rope; config for its top",
                     false);
  options.flag("--paths", paths, "every config path that the manual knows");
  if (!options.parse(words)) return kDone;

  if (paths) {
    for (const auto& walk : {config_walk(), study_walk()})
      for (const auto& path : manual_paths(walk))
        if (!path.empty()) print(path + "\n");
    return kDone;
  }
  if (topic.empty()) return show_contents();
  if (about_study(topic)) {
    print(manual(study_walk(), topic));
    return kDone;
  }
  for (const auto& page : pages())
    if (page.name == topic) {
      print(page.text);
      return kDone;
    }
  bool known = false;
  for (const auto& command : commands())
    if (command.name == topic) {
      command.run({"--help"});
      known = true;
    }
  const std::string text = topic == kTop ? manual(config_walk(), "") : config_page(topic);
  if (known && !text.empty()) print("\nIn a config:\n\n");
  print(text);
  if (!known && text.empty()) throw unknown_topic(topic);
  for (const auto& page : pages())
    if (topic.ends_with(fmt::format(".{}", page.name))) print(fmt::format("\nMore: ordo help {}\n", page.name));
  return kDone;
}

}  // namespace ordo::cli
