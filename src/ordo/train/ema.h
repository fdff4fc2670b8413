// SPDX-License-Identifier: Apache-2.0
// An exponential moving average of the weights (Polyak & Juditsky 1992): shadow <- decay shadow + (1 - decay) weights,
// after each update.
#pragma once
#include <vector>

#include "ordo/train/optimizer.h"

namespace ordo {

class Ema {
 public:
  Ema(const std::vector<Parameter>& parameters, double decay);  // starts from the weights as they are
  void update();
  NamedTensors state() const;  // the live shadows, by the parameters' names
  void restore(const NamedTensors& state);

  // While it lives the model computes with the averages. Weights are exchanged, not copied.
  class Scope {
   public:
    explicit Scope(Ema* ema);  // null: nothing happens
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Ema* ema_;
  };

 private:
  void exchange();
  std::vector<Parameter> parameters_;
  std::vector<Tensor> shadows_;
  double decay_;
};

}  // namespace ordo
