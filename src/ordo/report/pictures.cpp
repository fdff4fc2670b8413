// SPDX-License-Identifier: Apache-2.0
#include "ordo/report/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/models/stack_of.h"
#include "ordo/views/position_picture.h"

namespace ordo::report {

namespace {

constexpr int64_t kShownLength = 128, kShownPairs = 48;  // positions in lines, and in maps of every pair

// An encoding with the facts of the stack around it, and the arms that have it.
struct Encoding {
  std::vector<std::string> arms;
  const PlannedRun* run = nullptr;
};

std::vector<Encoding> different_encodings(const StudyReport& study, const Arms& arms) {
  std::vector<Encoding> all;
  std::map<std::string, size_t> known;  // what decides the picture -> its place in `all`
  for (const auto& run : study.plan.runs) {
    const auto stack = stack_of(run.config.model);
    std::string key = run.config.model.kind;
    if (stack) {
      StackConfig shape = stack->config;
      key = fmt::format("{} {} {} {}", dump_json(walk_of(shape)).value("position", Json()).dump(), shape.dim,
                        shape.attention.heads, stack->causal);
    }
    const auto [place, fresh] = known.emplace(key, all.size());
    if (fresh) all.push_back({{}, &run});
    auto& names = all[place->second].arms;
    const std::string name = arms.name(run.levels);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return all;
}

PositionView view_of(const RunConfig& config, const StackOf& stack) {
  StackConfig own = stack.config;
  if (own.max_length == 0) own.max_length = row_length(config);
  PositionSubject subject = assembled(own.position, position_facts(own, stack.causal, config.train.trained_length));
  prepare(subject, config.seed());
  return look_at(subject, {.length = std::clamp<int64_t>(2 * own.max_length, 16, kShownLength), .matrix = kShownPairs});
}

}  // namespace

AllPictures encoding_pictures(const StudyReport& study, const Arms& arms) {
  AllPictures all;
  std::vector<PositionView> views;
  for (const auto& encoding : different_encodings(study, arms)) {
    EncodingPictures pictures{.name = join(encoding.arms, ", ")};
    const auto stack = stack_of(encoding.run->config.model);
    if (!stack) {
      pictures.title = fmt::format("model '{}'", encoding.run->config.model.kind);
      pictures.notes.emplace_back("It has no single stack whose position encoding could be drawn.");
      all.encodings.push_back(std::move(pictures));
      continue;
    }
    try {
      PositionView view = view_of(encoding.run->config, *stack);
      view.name = pictures.name;
      pictures.title = view.title;
      if (!view.summary.empty()) pictures.notes.push_back(view.summary);
      for (const auto& note : view.notes()) pictures.notes.push_back(note);
      pictures.panels = position_panels(view, nullptr);
      views.push_back(std::move(view));
    } catch (const Error& refusal) {  // some want what only their data has: coordinates, times
      pictures.notes.push_back(fmt::format("No picture: {}", refusal.what()));
    }
    all.encodings.push_back(std::move(pictures));
  }
  if (views.size() > 1) all.together = comparison_panels(views);
  return all;
}

}  // namespace ordo::report
