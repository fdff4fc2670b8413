// SPDX-License-Identifier: Apache-2.0
// Input layers: from what a model is given, token ids or a signal, to the tokens that its layers read.
#pragma once
#include <memory>

#include "ordo/models/model.h"

namespace ordo {

// x [B, L, D] and where its tokens stand; mask as of ModelInput, for these tokens.
struct Embedded {
  Tensor x;
  Positions at;
  Mask mask = {};
};

struct InputFacts {
  int64_t dim = 0;
  int64_t vocab_size = 0;  // 0: there are no token ids
  SignalFacts signal = {};
  bool scaled = false;  // what it gives, times sqrt(dim)
  bool bias = true;     // of linear layers
};

class InputLayer : public torch::nn::Module {
 public:
  // Throws Error for an input of another shape than the facts say.
  virtual Embedded forward(const ModelInput& in) = 0;
  // Why rows of so many ids, frames, steps or pixels cannot be read, in plain words; nothing if they can.
  virtual std::optional<std::string> refuses_length(int64_t length) const {
    (void)length;
    return std::nullopt;
  }
  // Tokens that it makes of rows of at most so many.
  virtual int64_t tokens(int64_t length) const { return length; }
  virtual double flops_per_token() const { return 0.0; }  // of matrix products
  // What a head that writes token ids may share, [V, D]; undefined: nothing.
  virtual Tensor table() const { return {}; }

 protected:
  // scaled: what it gives is multiplied by sqrt(dim) (Vaswani et al. 2017).
  InputLayer(int64_t dim, bool scaled);
  Tensor scaled(const Tensor& x) const { return scale_ == 1.0 ? x : x.mul(scale_); }

 private:
  double scale_;
};

using InputCatalog = Catalog<InputLayer, InputFacts>;
const InputCatalog& inputs();  // models/inputs.cpp
template <>
const Kinds& kinds_of<InputLayer>();

}  // namespace ordo
