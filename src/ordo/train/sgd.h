// SPDX-License-Identifier: Apache-2.0
// Stochastic gradient descent with momentum (Polyak 1964) or Nesterov's form of it (Sutskever et al. 2013).
#pragma once
#include "ordo/train/optimizer.h"

namespace ordo {

// v <- momentum v + g;  w <- w - lr v  (nesterov: w - lr (g + momentum v)); weight decay is added to g (L2).
class Sgd final : public Optimizer {
 public:
  struct Config {
    double lr = 0.1, momentum = 0.9, weight_decay = 0.0;
    bool nesterov = false;
    Decay decay = Decay::matrices;
  };
  static constexpr std::string_view kKind = "sgd", kSummary = "gradient descent with momentum, plain or Nesterov";
  Sgd(const Config& config, const OptimizerFacts& facts);
  void update(const UpdateOptions& options) override;
  double base_lr() const override { return config_.lr; }
  // "<parameter>.momentum": zeros without momentum, so that a resume may take it up or give it up.
  NamedTensors state() const override;

 private:
  void update_group(bool decaying, const UpdateOptions& options);
  Config config_;
  std::vector<Parameter> parameters_;
  std::vector<Tensor> momentum_;  // one a parameter
};
void fields(Fields& f, Sgd::Config& c);

}  // namespace ordo
