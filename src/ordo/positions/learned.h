// SPDX-License-Identifier: Apache-2.0
// Learned absolute encoding (Gehring et al. 2017, BERT, GPT-2): x + E[i + offset]. Undefined past the table.
#pragma once
#include "ordo/positions/encoding.h"

namespace ordo {

class Learned final : public PositionEncoding, public Resets {
 public:
  enum class Overflow { error, clamp };
  struct Config {
    int64_t max_positions = 0;  // 0: the model's max_length
    int64_t offset = 0;         // rows before that of position 0: 2 in OPT, padding index + 1 in RoBERTa
    double init_std = 0.02;
    Overflow on_overflow = Overflow::error;
  };
  static constexpr std::string_view kKind = "learned",
                                    kSummary = "a learned vector for each position, added to the input";
  Learned(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override {
    return {.places = {.input = true}, .unbounded = config_.on_overflow == Overflow::clamp};
  }
  Tensor input(const Tensor& x, const Positions& at) override;
  std::optional<std::string> refuses_length(int64_t length) const override;
  void reset(const Initialiser& init, const std::string& path) override;

 private:
  Tensor rows(const Positions& at) const;  // [1|B, L, D]
  Config config_;                          // max_positions resolved
  Tensor weight_;                          // parameter "weight" [max_positions + offset, D]
};
void fields(Fields& f, Learned::Config& c);

}  // namespace ordo
