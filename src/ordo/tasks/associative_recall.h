// SPDX-License-Identifier: Apache-2.0
// Pairs of a key and its value, then one of the keys: which value stood behind it (Graves et al. 2014, "Neural Turing
// machines"; Ba et al. 2016, "Using fast weights to attend to the recent past"): c 4 a 1 d 4, a -> 1. Keys of a row are
// different, values independent of them. The size counts the pairs.
#pragma once
#include "ordo/tasks/sequence_task.h"

namespace ordo {

class AssociativeRecall final : public SequenceTask {
 public:
  struct Config {
    SequenceConfig examples;
    int64_t keys = 32;
    int64_t values = 8;
  };
  static constexpr std::string_view kKind = "associative_recall",
                                    kSummary = "pairs of keys and values, then a key: its value";
  AssociativeRecall(const Config& config, const TaskFacts& facts);
  Example example(KeyedSequence& draw, int64_t size) const override;
  int64_t given_length(int64_t size) const override;
  int64_t asked_length(int64_t) const override { return 1; }
  std::string_view kind() const override { return kKind; }

 private:
  Config config_;
};
void fields(Fields& f, AssociativeRecall::Config& c);

}  // namespace ordo
