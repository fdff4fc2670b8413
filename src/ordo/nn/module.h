// SPDX-License-Identifier: Apache-2.0
// Initial weights: every parameter is drawn from (seed, its full name), so that two models which share a parameter
// share its values.
#pragma once
#include <torch/nn/module.h>

#include <optional>
#include <string>

#include "ordo/config/fields.h"
#include "ordo/ops/draw.h"

namespace ordo {

class Problems;  // config/config.h

// normal: one standard deviation for all; lecun_normal: 1 / sqrt(inputs) (LeCun et al. 1998), by which a matrix keeps
// the scale of what it is given, and 1 for embeddings, which have one input.
enum class InitKind { normal, lecun_normal };

struct InitConfig {
  InitKind kind = InitKind::normal;
  std::optional<double> std = {};            // of weight matrices and embeddings; normal alone: absent is 0.02
  std::optional<double> embedding_std = {};  // absent: as the kind says
  bool scale_residual = true;                // residual projections: / sqrt(2 x layers) (Radford et al. 2019)
};
void fields(Fields& f, InitConfig& c);
// Relations between the options, reported at `path` ("model.init").
void check(const InitConfig& c, const std::string& path, Problems& problems);

// Handed to each module's reset(): draws by full parameter name.
class Initialiser {
 public:
  Initialiser(uint64_t seed, const InitConfig& config, int64_t layers)
      : seed_(seed), config_(config), layers_(layers) {}
  double std(int64_t inputs) const;  // of a matrix
  double residual_std(int64_t inputs) const;
  double embedding_std() const;
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
