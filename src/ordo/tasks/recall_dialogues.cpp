// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/recall_dialogues.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <string_view>

#include "ordo/core/hash.h"

namespace ordo {

namespace {

constexpr auto kThings = std::to_array<std::string_view>(
    {"key", "cup", "book", "lamp", "coin", "ring", "map", "ball", "pen", "hat", "shoe", "letter"});
constexpr auto kWheres =
    std::to_array<std::string_view>({"in the drawer", "on the shelf", "under the bed", "in the box", "on the table",
                                     "by the door", "in the garden", "behind the clock"});

}  // namespace

void fields(Fields& f, RecallConfig& c) {
  constexpr double kMost = 1'000'000;
  f("dialogues", c.dialogues, "dialogues of the training split", within(1, kMost));
  f("held_out", c.held_out, "dialogues of validation and of test", within(1, kMost));
  f("exchanges", c.exchanges, "turns of the user in a dialogue, each with its answer", within(2, 1000));
}

SpokenDialogue recall_dialogue(uint64_t key, uint64_t index, int64_t exchanges) {
  KeyedSequence draw(mix(key, index));
  SpokenDialogue made{.turns = {}, .where = fmt::format("generated dialogue {}", index + 1)};
  const auto exchange = [&](std::string asked, std::string answered) {
    made.turns.push_back({Speaker::user, std::move(asked)});
    made.turns.push_back({Speaker::system, std::move(answered)});
  };
  std::vector<std::string_view> put;  // in the order of their first place
  std::map<std::string_view, std::string_view> places;
  for (int64_t i = 0; i < exchanges; ++i) {
    if (i > 0 && draw.below(2) == 0) {
      const std::string_view thing = put[draw.below(put.size())];
      exchange(fmt::format("where is the {}", thing), std::string(places[thing]));
      continue;
    }
    const std::string_view thing = kThings[draw.below(kThings.size())];
    const std::string_view place = kWheres[draw.below(kWheres.size())];
    if (!places.contains(thing)) put.push_back(thing);
    places[thing] = place;
    exchange(fmt::format("put the {} {}", thing, place), fmt::format("the {} is {}", thing, place));
  }
  return made;
}

}  // namespace ordo
