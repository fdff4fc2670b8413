// SPDX-License-Identifier: Apache-2.0
// AdamW (Loshchilov & Hutter 2019): Adam with weight decay taken from the weights themselves, times the learning rate.
#pragma once
#include "ordo/train/moments.h"

namespace ordo {

class AdamW final : public Optimizer {
 public:
  struct Config {
    double lr = 1e-3;
    std::vector<double> betas = {0.9, 0.999};
    double eps = 1e-8, weight_decay = 0.01;
    Decay decay = Decay::matrices;
  };
  static constexpr std::string_view kKind = "adamw", kSummary = "Adam with decoupled weight decay";
  AdamW(const Config& config, const OptimizerFacts& facts);
  void update(const UpdateOptions& options) override;
  double base_lr() const override { return config_.lr; }
  NamedTensors state() const override { return moments_.state(); }

 private:
  Config config_;
  Moments moments_;
};
void fields(Fields& f, AdamW::Config& c);

}  // namespace ordo
