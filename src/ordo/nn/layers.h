// SPDX-License-Identifier: Apache-2.0
// The plain layers: linear, embedding, norms, dropout, stochastic depth, feed-forward.
#pragma once
#include <memory>

#include "ordo/nn/module.h"

namespace ordo {

// y = x Wᵀ + b; weight [out, in], bias [out] or undefined.
class Linear : public torch::nn::Module, public Resets {
 public:
  struct Options {
    bool bias = true;
    bool residual = false;
  };  // residual: its output is added to the stream, so its first std is scaled down
  Linear(int64_t in, int64_t out, const Options& options);
  Tensor forward(const Tensor& x) const;
  void reset(const Initialiser& init, const std::string& path) override;
  Tensor weight, bias;

 private:
  bool residual_;
};

// ids int64 [B, L] -> [B, L, D]; weight [V, D].
class Embedding : public torch::nn::Module, public Resets {
 public:
  Embedding(int64_t vocab_size, int64_t dim);
  Tensor forward(const Tensor& ids) const;
  void reset(const Initialiser& init, const std::string& path) override;
  Tensor weight;
};

enum class NormKind { layer, rms };
extern const std::span<const NamedValue> kNormKinds;

// LayerNorm (Ba et al. 2016) or RMSNorm (Zhang & Sennrich 2019) over the last dimension; statistics in at least fp32,
// output in x's type (only LayerNorm under CUDA's autocast gives fp32, as LibTorch's own). weight [D]; bias [D] only
// for `layer` when asked for.
class Norm : public torch::nn::Module, public Resets {
 public:
  Norm(int64_t dim, NormKind kind, bool bias, double eps = 1e-5);
  Tensor forward(const Tensor& x) const;
  void reset(const Initialiser& init, const std::string& path) override;
  Tensor weight, bias;

 private:
  NormKind kind_;
  double eps_;
};

// Dropout (Srivastava et al. 2014) without state: its draw is keyed by the micro-batch and by its site.
class Dropout : public torch::nn::Module {
 public:
  explicit Dropout(double p) : p_(p) {}
  Tensor forward(const Tensor& x, const Draw& draw) const;
  uint64_t key(const Draw& draw) const { return draw.key(site_); }
  double p() const { return p_; }
  bool active() const { return is_training() && p_ > 0.0; }
  void site(uint64_t site) { site_ = site; }

 private:
  double p_;
  uint64_t site_ = 0;
};

// Stochastic depth (Huang et al. 2016): drops a whole residual branch per row of the batch with probability p, scales
// the rest by 1/(1-p).
class DropPath : public Dropout {
 public:
  using Dropout::Dropout;
  Tensor forward(const Tensor& branch, const Draw& draw) const;  // branch [B, …]
};

enum class Activation { gelu, gelu_tanh, relu, silu };
extern const std::span<const NamedValue> kActivations;
Tensor activate(const Tensor& x, Activation activation);

struct FeedForwardConfig {
  int64_t hidden = 0;  // 0: four times the model width; gated: 8/3 of it, rounded up to a multiple of 8
  Activation activation = Activation::gelu;
  bool gated = false;
};
void fields(Fields& f, FeedForwardConfig& c);

// down(act(up(x))), or down(act(gate(x)) * up(x)) when gated (Shazeer 2020). x [B, L, D] -> [B, L, D].
class FeedForward : public torch::nn::Module {
 public:
  FeedForward(const FeedForwardConfig& config, int64_t dim, bool bias, double dropout);
  Tensor forward(const Tensor& x, const Draw& draw) const;
  static int64_t width(const FeedForwardConfig& config, int64_t dim);  // the resolved `hidden`

 private:
  Activation activation_;
  std::shared_ptr<Linear> gate_, up_, down_;  // gate_ is null unless gated; children "gate", "up", "down"
  std::shared_ptr<Dropout> dropout_;          // on the inner activations; child "dropout"
};

}  // namespace ordo
