// SPDX-License-Identifier: Apache-2.0
// First and second moments of gradients (Kingma & Ba 2015), held for a list of parameters in the form that LibTorch's
// fused updates take.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ordo/train/optimizer.h"

namespace ordo {

class Moments {
 public:
  // Parameters that decay and those that do not are two groups: a fused call takes one weight decay.
  Moments(const std::vector<Parameter>& parameters, Decay decay, double weight_decay);

  // Parallel lists of the parameters that have a gradient now.
  struct Group {
    std::vector<Tensor> values, gradients, first, second, steps;
    double weight_decay = 0.0;
  };
  // Counts one more update, and lists what it concerns. The fused calls want their step counted up before (step 0 gives
  // NaN).
  std::vector<Group> advance();
  NamedTensors state() const;  // "<parameter>.exp_avg", "<parameter>.exp_avg_sq", "step"

 private:
  struct Slot {
    std::string name;
    Tensor value;  // the leaf itself: a detached one would not see its gradient
    Tensor first, second;
    bool decays;
  };
  std::vector<Slot> slots_;
  Tensor step_;  // fp32, one for all: parameters without a gradient now count too
  double weight_decay_;
};

// What the fused updates divide gradients by; nothing when it is 1.
std::optional<Tensor> fused_divisor(double divisor, const Tensor& like);

}  // namespace ordo
