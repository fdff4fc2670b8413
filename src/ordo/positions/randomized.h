// SPDX-License-Identifier: Apache-2.0
// Randomised positions (Ruoss et al. 2023): a model is trained on short sequences whose positions are drawn from a
// range that only long ones would fill. In training, n of max_position are drawn without replacement and sorted, and
// position p becomes the p-th of them: so padding and packed documents keep their order, and documents of one row share
// a draw. In evaluation they are spread evenly by a fixed stride, or are one fixed draw.
#pragma once
#include "ordo/positions/fixed.h"
#include "ordo/positions/moves.h"

namespace ordo {

class Randomized final : public PositionMove {
 public:
  enum class Evaluation {
    even,   // p x floor(max_position / evaluation_length): a prefix keeps its positions, whatever follows
    drawn,  // the p-th of evaluation_length positions that are the same in every run
  };
  struct Config {
    int64_t max_position = 0;  // positions to draw from: {0 … max_position - 1}; 0: four times the model's max_length
    bool per_row = false;      // a draw for each row; else one a batch
    Evaluation evaluation = Evaluation::even;
    int64_t evaluation_length = 0;  // 0: the model's max_length
  };
  static constexpr std::string_view kKind = "randomized",
                                    kSummary = "moves positions: trains on sorted draws from a longer range";
  Randomized(const Config& config, const PositionFacts& facts);
  PositionTraits traits() const override {
    return {.places = {.positions = true}, .relative = config_.evaluation == Evaluation::even, .unbounded = false};
  }
  Positions place(const Positions& at, int64_t rows, const Draw& draw) override;
  std::optional<std::string> refuses_length(int64_t length) const override;
  int64_t reach(int64_t length) const override;

 private:
  int64_t stride() const { return config_.max_position / config_.evaluation_length; }
  int64_t fits() const;  // the longest sequence that evaluation can place
  Config config_;        // with max_position and evaluation_length resolved
  FixedTensor drawn_;    // int64 [1, evaluation_length]; only for Evaluation::drawn
};
void fields(Fields& f, Randomized::Config& c);

}  // namespace ordo
