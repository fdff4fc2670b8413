// SPDX-License-Identifier: Apache-2.0
// The value of a polynomial modulo a prime: first x, then the coefficients from the highest power down; 2, 1 0 3 -> 2
// (x = 2, modulo 5: 1·4 + 0·2 + 3 = 7). The size counts the coefficients. What a coefficient is worth depends on its
// place, through a power of x. The last coefficient is uniform, so all answers are equally likely at every length.
#pragma once
#include "ordo/tasks/drawn_task.h"

namespace ordo {

class Polynomial final : public DrawnTask {
 public:
  struct Config {
    DrawnConfig drawn;
    int64_t modulus = 5;  // a prime
  };
  static constexpr std::string_view kKind = "polynomial", kSummary = "the value of a polynomial modulo a prime";
  Polynomial(const Config& config, const TaskFacts& facts);
  Example example(KeyedSequence& draw, int64_t size) const override;
  int64_t given_length(int64_t size) const override { return size + 1; }
  int64_t asked_length(int64_t) const override { return 1; }
  std::string_view kind() const override { return kKind; }

 private:
  Config config_;
};
void fields(Fields& f, Polynomial::Config& c);

}  // namespace ordo
