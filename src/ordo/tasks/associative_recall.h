// SPDX-License-Identifier: Apache-2.0
// Pairs of a key and its value, then keys again, each with its value to be told (Ba et al. 2016, "Using fast weights to
// attend to the recent past": one key; Arora et al. 2023, "Zoology": many, which teaches far more a row). Keys of a row
// are different, and so are those asked for; values are independent of them. The size counts the pairs.
//   row    c 4 a 1 d 4 a d
//   asked  . . . . . . 1 4
#pragma once
#include "ordo/tasks/drawn_task.h"

namespace ordo {

class AssociativeRecall final : public DrawnTask {
 public:
  struct Config {
    DrawnConfig drawn;
    int64_t keys = 32;
    int64_t values = 8;
    int64_t queries = 0;  // keys asked for; 0: all of the row
  };
  static constexpr std::string_view kKind = "associative_recall",
                                    kSummary = "pairs of keys and values, then keys: the value of each";
  AssociativeRecall(const Config& config, const TaskFacts& facts);
  Example example(KeyedSequence& draw, int64_t size) const override;
  // Throws ConfigError for more pairs than there are keys.
  int64_t given_length(int64_t size) const override;
  int64_t asked_length(int64_t size) const override { return given_length(size); }
  int64_t least_size() const override;
  std::string_view kind() const override { return kKind; }

 private:
  Config config_;
};
void fields(Fields& f, AssociativeRecall::Config& c);

}  // namespace ordo
