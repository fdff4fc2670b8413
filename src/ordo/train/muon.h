// SPDX-License-Identifier: Apache-2.0
// Muon (Jordan et al. 2024): hidden matrices move along their momentum made orthogonal by a Newton-Schulz iteration;
// embeddings, the head, norms, biases and position tables take AdamW.
#pragma once
#include "ordo/train/moments.h"

namespace ordo {

class Muon final : public Optimizer {
 public:
  struct Config {
    double lr = 0.02, momentum = 0.95, weight_decay = 0.0;
    bool nesterov = true;
    int64_t iterations = 5;
    double adamw_lr = 3e-4;
    std::vector<double> adamw_betas = {0.9, 0.95};
    double adamw_eps = 1e-8;
    Decay decay = Decay::matrices;
  };
  static constexpr std::string_view kKind = "muon",
                                    kSummary = "orthogonalised momentum on hidden matrices, AdamW for the rest";
  Muon(const Config& config, const OptimizerFacts& facts);
  void update(const UpdateOptions& options) override;
  double base_lr() const override { return config_.lr; }
  NamedTensors state() const override;  // "<matrix>.momentum", and the AdamW part's

  // A matrix [rows, columns] with the singular vectors of g and singular values near 1 (0.7 to 1.2 after five
  // iterations).
  static Tensor orthogonal(const Tensor& g, int64_t iterations);

 private:
  void update_matrices(const UpdateOptions& options);
  Config config_;
  std::vector<Parameter> matrices_;
  std::vector<Tensor> momentum_;
  Moments rest_;
};
void fields(Fields& f, Muon::Config& c);

}  // namespace ordo
