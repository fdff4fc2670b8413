// SPDX-License-Identifier: Apache-2.0
// Dyck-k with bounded depth (Hewitt et al. 2020, "RNNs can generate bounded hierarchical languages"; Yao et al. 2021,
// "Self-attention networks can process bounded hierarchical languages"): the start of a word of k kinds of nested
// brackets. Asked at each place, as in those papers: which bracket closes next, that is, the partner of the innermost
// one that is open; nothing is asked where none is open.
//   row    ( [ ] ( ) ) {
//   asked  ) ] ) ) ) . }
// At every place a bracket opens with probability 1/2, save where none is open (it must) or the depth is reached (it
// must not); its kind is uniform. Beyond the last symbol there is something to guess with: after an opening bracket the
// answer is its own partner.
#pragma once
#include "ordo/tasks/drawn_task.h"

namespace ordo {

class Dyck final : public DrawnTask {
 public:
  struct Config {
    DrawnConfig drawn;
    int64_t brackets = 2;  // kinds: k
    int64_t depth = 4;     // brackets open at a time, at the most
  };
  static constexpr std::string_view kKind = "dyck",
                                    kSummary = "nested brackets of k kinds: which one closes next, at each place";
  Dyck(const Config& config, const TaskFacts& facts);
  Example example(KeyedSequence& draw, int64_t size) const override;
  std::string_view kind() const override { return kKind; }

 private:
  Config config_;
};
void fields(Fields& f, Dyck::Config& c);

}  // namespace ordo
