// SPDX-License-Identifier: Apache-2.0
// Adam (Kingma & Ba 2015); weight decay is added to the gradient (L2).
#pragma once
#include "ordo/train/moments.h"

namespace ordo {

class Adam final : public Optimizer {
 public:
  struct Config {
    double lr = 1e-3;
    std::vector<double> betas = {0.9, 0.999};
    double eps = 1e-8, weight_decay = 0.0;
    Decay decay = Decay::matrices;
  };
  static constexpr std::string_view kKind = "adam", kSummary = "adaptive moments; weight decay as L2";
  Adam(const Config& config, const OptimizerFacts& facts);
  void update(const UpdateOptions& options) override;
  double base_lr() const override { return config_.lr; }
  NamedTensors state() const override { return moments_.state(); }

 private:
  Config config_;
  Moments moments_;
};
void fields(Fields& f, Adam::Config& c);

}  // namespace ordo
