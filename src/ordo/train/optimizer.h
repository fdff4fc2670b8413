// SPDX-License-Identifier: Apache-2.0
// Optimisers: an update of all parameters from their gradients. State has names, so that it is saved and resumed to the
// bit.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ordo/checkpoint/safetensors.h"
#include "ordo/config/catalog.h"
#include "ordo/ops/sequence.h"

namespace ordo {

// What a parameter is, by its name and shape: it decides about weight decay, and which update it gets.
enum class ParameterRole { matrix, embedding, head, position, norm, bias };
ParameterRole role_of(const std::string& name, const Tensor& parameter);

// What weight decay acts on: `matrices` leaves out norms, biases and position tables.
enum class Decay { matrices, all };
extern const std::span<const NamedValue> kDecays;
bool decays(ParameterRole role, Decay decay);

struct Parameter {
  std::string name;
  Tensor value;  // a leaf; its gradient is read at each step
  ParameterRole role;
};
struct OptimizerFacts {
  std::vector<Parameter> parameters;
};

struct UpdateOptions {
  double lr = 0.0;                // of this step, from the schedule
  double gradient_divisor = 1.0;  // gradients count as divided by this (clipping folded in: norm / clip)
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // Moves the parameters that have a gradient; gradients may be overwritten.
  virtual void update(const UpdateOptions& options) = 0;
  virtual double base_lr() const = 0;
  virtual NamedTensors state() const = 0;   // "<parameter>.exp_avg", …: the live tensors
  void restore(const NamedTensors& state);  // copies; names and shapes must match (CheckpointError)
};

using OptimizerCatalog = Catalog<Optimizer, OptimizerFacts>;
const OptimizerCatalog& optimizers();  // adamw, adam, sgd, lion, muon, adafactor
template <>
const Kinds& kinds_of<Optimizer>();

}  // namespace ordo
