// SPDX-License-Identifier: Apache-2.0
// Adafactor (Shazeer & Stern 2018): second moments of matrices kept as one row and one column, updates clipped by their
// size, steps relative to the weights' size.
#pragma once
#include "ordo/train/optimizer.h"

namespace ordo {

class Adafactor final : public Optimizer {
 public:
  struct Config {
    double lr = 1e-2;             // the paper's largest step; its 1/sqrt(t) is the schedule inverse_sqrt
    bool scale_parameter = true;  // steps are times the root mean square of the parameter
    double decay_rate = 0.8;      // second moments decay by 1 - t^-decay_rate
    double clip_threshold = 1.0;  // of an update's root mean square
    double eps = 1e-30;           // added to squared gradients
    double least_scale = 1e-3;    // of a parameter's root mean square
    double weight_decay = 0.0;
    Decay decay = Decay::matrices;
  };
  static constexpr std::string_view kKind = "adafactor",
                                    kSummary = "factored second moments, no first: memory of a row and a column";
  Adafactor(const Config& config, const OptimizerFacts& facts);
  void update(const UpdateOptions& options) override;
  double base_lr() const override { return config_.lr; }
  NamedTensors state()
      const override;  // "<parameter>.rows" and ".columns" of matrices, ".exp_avg_sq" of vectors; "step"

 private:
  struct Slot {
    Parameter parameter;
    Tensor rows, columns;  // of matrices (the last two dimensions)
    Tensor second;         // of vectors
  };
  static Tensor normalised(const Slot& s, const Tensor& gradient, double beta, double eps);
  Config config_;
  std::vector<Slot> slots_;
  Tensor step_;
};
void fields(Fields& f, Adafactor::Config& c);

}  // namespace ordo
