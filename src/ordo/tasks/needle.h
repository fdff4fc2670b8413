// SPDX-License-Identifier: Apache-2.0
// A needle in a haystack, after Kamradt 2023 ("Needle in a haystack") and RULER (Hsieh et al. 2024, several needles, of
// which one is asked for): a long row of filler holds a key and, right behind it, its value; the key follows once more,
// and the value is asked: 5 0 a 3 3 7, a -> 3. Values look like filler, so they are found by their place behind the key
// alone. Needles lie anywhere, uniformly. The size counts the row, needles included.
#pragma once
#include "ordo/tasks/drawn_task.h"

namespace ordo {

class Needle final : public DrawnTask {
 public:
  struct Config {
    DrawnConfig drawn;
    int64_t symbols = 10;  // of filler and values
    int64_t needles = 1;
  };
  static constexpr std::string_view kKind = "needle",
                                    kSummary = "a key and its value somewhere in a row of filler: the value of the key";
  Needle(const Config& config, const TaskFacts& facts);
  Example example(KeyedSequence& draw, int64_t size) const override;
  int64_t given_length(int64_t size) const override { return size + 1; }
  int64_t asked_length(int64_t) const override { return 1; }
  int64_t least_size() const override { return 2 * config_.needles; }
  std::string_view kind() const override { return kKind; }

 private:
  Config config_;
};
void fields(Fields& f, Needle::Config& c);

}  // namespace ordo
