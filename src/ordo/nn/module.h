// SPDX-License-Identifier: Apache-2.0
// Initial weights: every parameter is drawn from (seed, its full name), so that two models which share a parameter
// share its values.
#pragma once
#include <torch/nn/module.h>

#include <string>

#include "ordo/config/fields.h"
#include "ordo/ops/draw.h"

namespace ordo {

struct InitConfig {
  double std = 0.02;           // of weight matrices and embeddings
  bool scale_residual = true;  // residual projections: std / sqrt(2 x layers) (Radford et al. 2019)
};
void fields(Fields& f, InitConfig& c);

// Handed to each module's reset(): draws by full parameter name.
class Initialiser {
 public:
  Initialiser(uint64_t seed, const InitConfig& config, int64_t layers)
      : seed_(seed), config_(config), layers_(layers) {}
  double std() const { return config_.std; }
  double residual_std() const;
  void normal(const Tensor& parameter, const std::string& name, double std) const;
  void uniform(const Tensor& parameter, const std::string& name, double low, double high) const;

 private:
  uint64_t seed_;
  InitConfig config_;
  int64_t layers_;
};

// A module with parameters of its own. Only modules that own parameters (not those that merely hold children) implement
// it.
class Resets {
 public:
  virtual ~Resets() = default;
  // Gives this module's own parameters their first values; `path` is the module's full name ("blocks.0.attention.q").
  virtual void reset(const Initialiser& init, const std::string& path) = 0;
};

// Draws all parameters below root, and gives every Dropout its site, the hash of its path. Works inside the root's own
// constructor.
void initialise(torch::nn::Module& root, uint64_t seed, const InitConfig& config, int64_t layers);

// "path.leaf", or "leaf" at the root.
std::string parameter_name(const std::string& path, const std::string& leaf);

}  // namespace ordo
