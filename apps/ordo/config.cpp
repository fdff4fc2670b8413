// SPDX-License-Identifier: Apache-2.0
// ordo config show|schema|diff: the resolved config, its schema, and what differs.
#include "ordo/config/config.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "options.h"
#include "ordo/core/text.h"
#include "ordo/study/study.h"
#include "runs.h"

namespace ordo::cli {
namespace {

// path -> "file:line:column", or "command line"; a value without one is a default.
Json as_json(const Sources& sources) {
  Json places = Json::object();
  for (const auto& [path, at] : sources) places[path] = at.text();
  return places;
}

int show(const Words& words) {
  Options options("config show", "The resolved config: every key, with where its value came from.");
  std::string subject;
  Words overrides;
  bool json = false;
  options.positional("CONFIG|RUN", subject, "a config file, a run folder or a checkpoint");
  options.flag("--json", json, "one JSON document");
  options.overrides(overrides);
  if (!options.parse(words)) return kDone;
  LoadedConfig loaded = load_subject(subject, overrides);
  if (json)
    print_json({{"config", dump_json(walk_of(loaded.config))}, {"sources", as_json(loaded.sources)}});
  else
    print(dump_yaml(walk_of(loaded.config), &loaded.sources));
  return kDone;
}

int schema(const Words& words) {
  Options options("config schema", "JSON Schema of a training config, for editors.");
  bool json = false, of_study = false;
  options.flag("--study", of_study, "of a study file, in place of a training config");
  options.flag("--json", json, "the same: a schema is JSON");
  if (!options.parse(words)) return kDone;
  RunConfig config;
  StudyConfig study;
  print_json(of_study ? schema_json(walk_of(study), "Ordo study")
                      : schema_json(walk_of(config), "Ordo training config"));
  return kDone;
}

int diff(const Words& words) {
  Options options("config diff", "What differs between two configs or runs, defaults included.");
  std::string first, second;
  bool json = false;
  options.positional("A", first, "a config file, a run folder or a checkpoint");
  options.positional("B", second, "another");
  options.flag("--json", json, "one JSON document");
  if (!options.parse(words)) return kDone;
  LoadedConfig a = load_subject(first, {}), b = load_subject(second, {});
  const auto differences = differ(walk_of(a.config), walk_of(b.config));
  if (json) {
    Json list = Json::array();
    for (const auto& d : differences) list.push_back({{"path", d.path}, {"a", d.a}, {"b", d.b}});
    print_json({{"a", first}, {"b", second}, {"differences", std::move(list)}});
    return kDone;
  }
  if (differences.empty()) {
    print("no difference\n");
    return kDone;
  }
  Table table({"key", first, second});
  const auto shown = [](const std::string& value) { return value.empty() ? std::string("-") : value; };
  for (const auto& d : differences) table.row({d.path, shown(d.a), shown(d.b)});
  print(table.text());
  return kDone;
}

}  // namespace

int config(const Words& words) {
  static constexpr Command kParts[] = {
      {"show", "CONFIG|RUN", "the resolved config, with the source of each value", show},
      {"schema", "", "its JSON Schema, for editors", schema},
      {"diff", "A B", "what differs between two configs or runs", diff},
  };
  return run_part("config", "Configs as files.", kParts, words);
}

}  // namespace ordo::cli
