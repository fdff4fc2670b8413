// SPDX-License-Identifier: Apache-2.0
#include "ordo/report/settings.h"

#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "ordo/core/text.h"
#include "ordo/report/numbers.h"

namespace ordo::report {

namespace {

constexpr std::string_view kAbsent = "not there";
using Paths = std::map<std::string, std::string>;  // path -> value

// As YAML would be written on one line: {kind: rope, theta: 10000.0}.
std::string inline_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_structured()) return value.dump();
  std::vector<std::string> parts;
  for (const auto& [key, inner] : value.items())
    parts.push_back(value.is_object() ? key + ": " + inline_text(inner) : inline_text(inner));
  return value.is_object() ? "{" + join(parts, ", ") + "}" : "[" + join(parts, ", ") + "]";
}

void flatten(const Json& value, const std::string& path, Paths& paths) {
  if (!value.is_object() || value.empty()) {
    paths[path] = inline_text(value);
    return;
  }
  for (const auto& [key, inner] : value.items()) flatten(inner, path.empty() ? key : path + "." + key, paths);
}

// Of every run, in the order of the plan; without what names a run or differs by design.
std::vector<Paths> all_settings(const StudyReport& study) {
  std::vector<Paths> all;
  for (const auto& run : study.plan.runs) {
    RunConfig config = run.config;
    Paths paths;
    flatten(dump_json(walk_of(config)), "", paths);
    for (const char* own : {"name", "seed", "instance"}) paths.erase(own);
    all.push_back(std::move(paths));
  }
  return all;
}

std::set<std::string> paths_of(const std::vector<Paths>& all) {
  std::set<std::string> paths;
  for (const auto& run : all)
    for (const auto& [path, value] : run) paths.insert(path);
  return paths;
}

std::string value_at(const Paths& run, const std::string& path) {
  const auto found = run.find(path);
  return found == run.end() ? std::string(kAbsent) : found->second;
}

bool same_in_all(const std::vector<Paths>& all, const std::string& path) {
  return std::all_of(all.begin(), all.end(),
                     [&](const Paths& run) { return value_at(run, path) == value_at(all.front(), path); });
}

void add_name(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

// The values of a path with those who have them, named as shortly as the values allow: by arm, by place, or by both.
std::vector<std::pair<std::string, std::vector<std::string>>> holders(const StudyReport& study, const Arms& arms,
                                                                      const std::vector<Paths>& all,
                                                                      const std::string& path) {
  const auto by = [&](const auto& name_of) -> std::vector<std::pair<std::string, std::vector<std::string>>> {
    std::vector<std::pair<std::string, std::vector<std::string>>> found;
    std::map<std::string, std::string> value_of;
    for (size_t i = 0; i < all.size(); ++i) {
      const std::string name = name_of(study.plan.runs[i]), value = value_at(all[i], path);
      const auto [known, fresh] = value_of.emplace(name, value);
      if (!fresh && known->second != value) return {};
      const auto place = std::find_if(found.begin(), found.end(), [&](const auto& one) { return one.first == value; });
      add_name(place == found.end() ? found.emplace_back(value, std::vector<std::string>{}).second : place->second,
               name);
    }
    return found;
  };
  auto found = by([&](const PlannedRun& run) { return arms.name(run.levels); });
  if (found.empty()) found = by([&](const PlannedRun& run) { return arms.place(run.levels); });
  if (found.empty()) found = by([&](const PlannedRun& run) { return arms.text(run.levels); });
  if (found.empty()) found = by([&](const PlannedRun& run) { return run.folder; });
  return found;
}

// One hash for all, or who has which.
std::string hashes_text(const std::vector<std::pair<std::string, std::string>>& hashes, bool& equal) {
  std::set<std::string> different;
  std::vector<std::string> parts;
  for (const auto& [name, hash] : hashes) {
    different.insert(hash);
    parts.push_back(fmt::format("{} {}", name, hash.empty() ? "none" : short_hash(hash)));
  }
  equal = different.size() == 1 && !different.begin()->empty();
  return equal ? short_hash(*different.begin()) : join(parts, ", ");
}

}  // namespace

ReportTable differing_table(const StudyReport& study, const Arms& arms) {
  ReportTable table{.title = "What differs between the runs"};
  table.columns = {{"setting"}, {"value"}, {"of"}};
  const auto all = all_settings(study);
  for (const auto& path : paths_of(all)) {
    if (same_in_all(all, path)) continue;
    for (const auto& [value, names] : holders(study, arms, all, path))
      table.rows.push_back({{path}, {value}, {join(names, ", ")}});
  }
  return table;
}

ReportTable common_table(const StudyReport& study) {
  ReportTable table{.title = "What is the same in all runs"};
  table.columns = {{"setting"}, {"value"}};
  const auto all = all_settings(study);
  for (const auto& path : paths_of(all))
    if (same_in_all(all, path)) table.rows.push_back({{path}, {value_at(all.front(), path)}});
  return table;
}

ReportTable pairing_table(const StudyReport& study, const Arms& arms) {
  ReportTable table{.title = "Pairing: what the runs of one seed share"};
  table.columns = {{"seed"}, {"runs", true}, {"weights at start"}, {"data order"}, {"paired"}};
  using Group = std::tuple<std::string, int64_t, std::optional<int64_t>>;
  std::vector<std::pair<Group, std::vector<const RunFacts*>>> groups;
  for (const auto& run : study.results.runs) {
    const Group key{arms.place(run.levels), run.seed, run.instance};
    auto place = std::find_if(groups.begin(), groups.end(), [&](const auto& one) { return one.first == key; });
    if (place == groups.end()) place = groups.insert(groups.end(), {key, {}});
    place->second.push_back(&run);
  }
  for (const auto& [key, runs] : groups) {
    if (runs.size() < 2) continue;
    const auto& [place, seed, instance] = key;
    std::vector<std::pair<std::string, std::string>> weights, order;
    for (const auto* run : runs) {
      if (run->status == RunStatus::missing || run->status == RunStatus::failed) continue;
      weights.emplace_back(arms.name(run->levels), run->first_weights);
      order.emplace_back(arms.name(run->levels), run->data_order);
    }
    bool same_weights = false, same_order = false;
    const std::string weights_text = hashes_text(weights, same_weights), order_text = hashes_text(order, same_order);
    const char* verdict = same_weights && same_order ? "yes"
                          : same_weights             ? "weights only"
                          : same_order               ? "order only"
                                                     : "no";
    table.rows.push_back({{fmt::format("{}{}{}", seed, instance ? fmt::format(", instance {}", *instance) : "",
                                       place.empty() ? "" : ", " + place)},
                          {std::to_string(weights.size())},
                          {weights_text},
                          {order_text},
                          {verdict}});
  }
  table.note =
      "Checksums of the first weights of all parameters that every arm has, and of all training batches in their "
      "order. "
      "One checksum: it is the same in all runs of the row.";
  for (const auto& [level, count] : study.summary.pairing.unpaired)
    table.note += fmt::format(" {}: {} parameters of its own, not paired.", level, count);
  for (const auto& exception : study.summary.pairing.exceptions) table.note += " " + exception + ".";
  return table;
}

std::string versions_text() { return fmt::format("Ordo {}, LibTorch {}", ORDO_VERSION, TORCH_VERSION); }

}  // namespace ordo::report
