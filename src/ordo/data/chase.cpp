// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/chase.h"

#include <fmt/args.h>

#include <array>

#include "ordo/core/errors.h"
#include "ordo/core/hash.h"

namespace ordo {

namespace {

using Words = std::string_view;

constexpr auto kAnimals = std::to_array<Words>({"cat", "dog", "fox", "hen", "goat", "horse", "mouse", "owl", "bear",
                                                "wolf", "crow", "hare", "sheep", "pig", "duck", "frog"});
constexpr auto kQualities = std::to_array<Words>(
    {"old", "young", "grey", "brown", "white", "small", "big", "quick", "shy", "brave", "sleepy", "hungry"});
constexpr auto kNames = std::to_array<Words>(
    {"anna", "ben", "clara", "david", "emma", "felix", "greta", "hugo", "ida", "jonas", "kira", "leo"});
constexpr auto kPlaces =
    std::to_array<Words>({"past the old barn", "near the river", "behind the mill", "under the oak", "across the field",
                          "by the gate", "along the wall", "in the snow", "on the hill", "at the edge of the wood"});

struct Verb {
  Words past, participle;
  Words outcome;  // a = who did it, b = to whom it was done
};
constexpr auto kVerbs = std::to_array<Verb>({{"chased", "chased", "so {b} ran away from {a}"},
                                             {"scared", "scared", "so {b} hid from {a}"},
                                             {"helped", "helped", "so {b} thanked {a}"},
                                             {"fed", "fed", "so {b} trusted {a}"},
                                             {"taught", "taught", "so {b} learned much from {a}"},
                                             {"pushed", "pushed", "so {a} said sorry to {b}"},
                                             {"woke", "woken", "so {b} yawned at {a}"},
                                             {"found", "found", "so {a} led {b} home"},
                                             {"carried", "carried", "so {b} rested while {a} grew tired"},
                                             {"beat", "beaten", "so {a} danced while {b} sulked"}});

// p = the past form, q = the participle, w = where.
constexpr auto kForms =
    std::to_array<Words>({"{a} {p} {b} {w}", "{b} was {q} by {a} {w}", "{w} {a} {p} {b}", "it was {a} that {p} {b} {w}",
                          "it was {b} that {a} {p} {w}", "{b} , whom {a} {p} , was {w}", "{a} , who {p} {b} , was {w}",
                          "{w} {b} was {q} by {a}"});

std::string say(Words pattern, const ChaseEvent& event, bool again) {
  const auto& verb = kVerbs[event.verb];
  fmt::dynamic_format_arg_store<fmt::format_context> words;
  words.push_back(fmt::arg("a", again ? event.agent_again : event.agent));
  words.push_back(fmt::arg("b", again ? event.patient_again : event.patient));
  words.push_back(fmt::arg("p", verb.past));
  words.push_back(fmt::arg("q", verb.participle));
  words.push_back(fmt::arg("w", kPlaces[event.place]));
  return fmt::vformat(pattern, words);
}

template <size_t N>
Words one_of(const std::array<Words, N>& words, KeyedSequence& draw) {
  return words[draw.below(N)];
}

struct Actor {
  std::string first, again;
};
Actor draw_actor(KeyedSequence& draw) {
  switch (draw.below(3)) {
    case 0: {
      const std::string name(one_of(kNames, draw));
      return {name, name};
    }
    case 1: {
      const std::string animal(one_of(kAnimals, draw));
      return {"the " + animal, "the " + animal};
    }
    default: {
      const std::string quality(one_of(kQualities, draw)), animal(one_of(kAnimals, draw));
      return {"the " + quality + " " + animal, "the " + animal};
    }
  }
}

}  // namespace

std::string chase_event(const ChaseEvent& event) { return say(kForms[event.form], event, false); }
std::string chase_outcome(const ChaseEvent& event) { return say(kVerbs[event.verb].outcome, event, true); }
size_t chase_forms() { return kForms.size(); }

std::string chase_line(uint64_t key, uint64_t index) {
  KeyedSequence draw(mix(key, index));
  const Actor agent = draw_actor(draw);
  Actor patient = draw_actor(draw);
  while (patient.again == agent.again) patient = draw_actor(draw);  // "the cat" must name one of the two
  const ChaseEvent event{.verb = draw.below(kVerbs.size()),
                         .form = draw.below(kForms.size()),
                         .place = draw.below(kPlaces.size()),
                         .agent = agent.first,
                         .patient = patient.first,
                         .agent_again = agent.again,
                         .patient_again = patient.again};
  return chase_event(event) + " . " + chase_outcome(event) + " .";
}

std::string ChaseText::text(Split split) const {
  const uint64_t key = key_of(seed_, fmt::format("chase {}", split_name(split)));
  const int64_t lines = split == Split::train ? config_.sentences : config_.held_out;
  std::string text;
  for (int64_t i = 0; i < lines; ++i) text += chase_line(key, static_cast<uint64_t>(i)) + "\n";
  return text;
}

void fields(Fields& f, ChaseText::Config& c) {
  constexpr double kMostLines = 10'000'000;  // 800 MB of text
  f("sentences", c.sentences, "lines of the training text", within(1, kMostLines));
  f("held_out", c.held_out, "lines of the validation text and of the test text", within(1, kMostLines));
}

}  // namespace ordo
