// SPDX-License-Identifier: Apache-2.0
// Windows of a text as examples: where each came from, and which of them an interval may draw apart.
// Windows of one text are not independent: what a passage is about and how it is written goes on from one to the next,
// so drawing them one by one would give intervals that are too narrow. Blocks are drawn instead (Künsch 1989, by
// Carlstein's (1986) blocks side by side):
//   - of a split of 20 documents or more, its documents: the windows whose judged part begins in the same one. Shorter
//     documents, several of which share a window, are drawn with it;
//   - of fewer, runs of n^(1/3) neighbouring windows of n, the order that is best for an interval's width (Hall,
//     Horowitz and Jing 1995), but no longer than leaves 10 runs. Windows that overlap are counted as if they stood
//     side by side: a run spans the same text.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ordo/data/streams.h"
#include "ordo/data/tokens.h"

namespace ordo {

class JudgedWindows {
 public:
  explicit JudgedWindows(std::shared_ptr<const TokenSequence> tokens) : tokens_(std::move(tokens)) {}
  void add(const std::vector<Window>& windows);
  int64_t count() const { return static_cast<int64_t>(begins_.size()); }
  std::string from(int64_t i) const;  // "input.txt, offset 512": where its judged part begins

  struct Blocks {
    std::vector<int64_t> of;  // each window's block, from 0 on
    std::string note;         // what was drawn, in a sentence
  };
  // `overlap`: how many windows stand over a token: 1 side by side, length / stride when they slide.
  Blocks blocks(int64_t overlap) const;

 private:
  Blocks documents() const;
  Blocks runs(int64_t overlap) const;
  std::shared_ptr<const TokenSequence> tokens_;
  std::vector<int64_t> begins_;  // of the judged parts
};

}  // namespace ordo
