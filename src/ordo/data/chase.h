// SPDX-License-Identifier: Apache-2.0
// A little language in which the order of words decides: who chased whom. Each line tells what one did to the other, in
// one of several forms (active, passive, cleft, relative clause), and then what followed, which names the two again,
// now by their roles:
//   the grey cat chased anna past the old barn . so anna ran away from the cat .
//   anna was chased by the grey cat past the old barn . so anna ran away from the cat .
// Swap the two in the first clause and its words stay the same, but the second clause must change: a reader that is
// blind to order can do no better there than to guess.
#pragma once
#include "ordo/data/text_source.h"

namespace ordo {

class ChaseText final : public TextSource {
 public:
  struct Config {
    int64_t sentences = 20000;  // lines of the training text
    int64_t held_out = 2000;    // lines of validation and of test
  };
  static constexpr std::string_view kKind = "chase",
                                    kSummary = "a little language of who chased whom: the order of words decides";
  ChaseText(const Config& config, const TextFacts& facts) : config_(config), seed_(facts.seed) {}
  std::string_view kind() const override { return kKind; }
  std::string text(Split split) const override;

 private:
  Config config_;
  uint64_t seed_;
};
void fields(Fields& f, ChaseText::Config& c);

// One line, without its line break: a pure function of (key, index).
std::string chase_line(uint64_t key, uint64_t index);

// How the first clause says that `agent` did it to `patient`, and what followed. For tests of what a line means.
struct ChaseEvent {
  size_t verb = 0, form = 0, place = 0;
  std::string agent, patient;              // as first mentioned: "the grey cat"
  std::string agent_again, patient_again;  // as mentioned later: "the cat"
};
std::string chase_event(const ChaseEvent& event);    // the first clause
std::string chase_outcome(const ChaseEvent& event);  // the second
size_t chase_forms();

}  // namespace ordo
