// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/made_sentences.h"

#include <fmt/format.h>

#include <array>

#include "ordo/config/fields.h"
#include "ordo/core/hash.h"

namespace ordo {

namespace {

using MadeWords = std::string_view;

constexpr auto kPeople = std::to_array<MadeWords>({"anna", "ben", "clara", "david", "emma", "felix", "greta", "hugo"});
constexpr auto kBeasts = std::to_array<MadeWords>({"cat", "dog", "fox", "goat", "horse", "owl", "bear", "wolf"});
constexpr auto kKinds = std::to_array<MadeWords>({"grey", "brown", "white", "small"});
constexpr auto kDeeds = std::to_array<MadeWords>({"chased", "found", "helped", "taught", "pushed", "carried"});
constexpr auto kSpots = std::to_array<MadeWords>({"mill", "barn", "river", "oak", "gate", "wall"});

template <size_t N>
MadeWords picked(const std::array<MadeWords, N>& words, KeyedSequence& draw) {
  return words[draw.below(N)];
}

void say(MadeSentence& made, MadeWords word, MadeWords tag = "O") {
  made.words.emplace_back(word);
  made.tags.emplace_back(tag);
}

void name_one(MadeSentence& made, bool person, KeyedSequence& draw) {
  if (person) return say(made, picked(kPeople, draw), "B-PER");
  say(made, "a");
  const bool described = draw.below(2) == 0;
  if (described) say(made, picked(kKinds, draw), "B-ANI");
  say(made, picked(kBeasts, draw), described ? "I-ANI" : "B-ANI");
}

}  // namespace

void fields(Fields& f, MadeSentencesConfig& c) {
  constexpr double kMost = 1'000'000;
  f("sentences", c.sentences, "of training", within(1, kMost));
  f("held_out", c.held_out, "of validation and of test", within(1, kMost));
}

MadeSentence made_sentence(uint64_t seed, Split split, uint64_t index) {
  KeyedSequence draw(mix(key_of(seed, fmt::format("sentences {}", split_name(split))), index));
  const bool person_did = draw.below(2) == 0, passive = draw.below(2) == 0;
  MadeSentence made{.words = {}, .tags = {}, .did = person_did ? "person" : "animal"};
  name_one(made, person_did != passive, draw);
  if (passive) say(made, "was");
  say(made, picked(kDeeds, draw));
  if (passive) say(made, "by");
  name_one(made, person_did == passive, draw);
  say(made, "near");
  say(made, "the");
  const bool old = draw.below(2) == 0;
  if (old) say(made, "old", "B-LOC");
  say(made, picked(kSpots, draw), old ? "I-LOC" : "B-LOC");
  return made;
}

}  // namespace ordo
