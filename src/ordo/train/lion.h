// SPDX-License-Identifier: Apache-2.0
// Lion (Chen et al. 2023): the sign of an interpolated momentum, with decoupled weight decay.
#pragma once
#include "ordo/train/optimizer.h"

namespace ordo {

// u = sign(b1 m + (1 - b1) g);  w <- (1 - lr weight_decay) w - lr u;  m <- b2 m + (1 - b2) g.
class Lion final : public Optimizer {
 public:
  struct Config {
    double lr = 1e-4, weight_decay = 0.1;  // about a tenth of AdamW's lr and ten times its decay
    std::vector<double> betas = {0.9, 0.99};
    Decay decay = Decay::matrices;
  };
  static constexpr std::string_view kKind = "lion",
                                    kSummary = "sign of an interpolated momentum; half of Adam's memory";
  Lion(const Config& config, const OptimizerFacts& facts);
  void update(const UpdateOptions& options) override;
  double base_lr() const override { return config_.lr; }
  NamedTensors state() const override;  // "<parameter>.momentum"

 private:
  Config config_;
  std::vector<Parameter> parameters_;
  std::vector<Tensor> momentum_;
};
void fields(Fields& f, Lion::Config& c);

}  // namespace ordo
