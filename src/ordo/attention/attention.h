// SPDX-License-Identifier: Apache-2.0
// Multi-head attention (Vaswani et al. 2017) with grouped keys and values (Ainslie et al. 2023): projects, turns,
// appends to the cache, asks for biases, runs the kernel, projects out. Nothing else.
#pragma once
#include <memory>
#include <optional>

#include "ordo/attention/cache.h"
#include "ordo/attention/kernel.h"

namespace ordo {

struct AttentionConfig {
  int64_t heads = 0;
  int64_t kv_heads = 0;                // 0: as many as heads
  int64_t head_dim = 0;                // 0: dim / heads
  std::vector<int64_t> window = {};    // a pattern over the layers; 0: everything
  double scale = 0.0;                  // 0: 1 / sqrt(head_dim)
  bool qk_norm = false;                // RMSNorm of each head's q and k before the turn (Dehghani et al. 2023)
  std::optional<double> softcap = {};  // of scores
  double dropout = 0.0;                // of attention weights
  Choice<AttentionKernel> kernel{"auto"};
};
void fields(Fields& f, AttentionConfig& c);

// One layer's share of a resolved AttentionConfig.
struct AttentionLayer {
  AttentionConfig config;  // heads, kv_heads and head_dim resolved: no zeros
  int64_t dim = 0, layer = 0;
  std::optional<int64_t> window = {};
  bool bias = false;
  double norm_eps = 1e-5;  // of qk_norm
};

class MultiHeadAttention : public torch::nn::Module {
 public:
  // The stack registers the encoding; this holds a plain pointer, so its parameters are trained and saved once.
  MultiHeadAttention(const AttentionLayer& layer, std::shared_ptr<AttentionKernel> kernel, PositionEncoding* position);
  struct Call {
    Positions at;    // of the queries
    Mask mask = {};  // of queries against keys, without a cache
    Draw draw = {};
    KVCache* cache = nullptr;
    // [B, Lm, D]: keys and values come from here instead of x: cross-attention, or x with what stands before it;
    // undefined: from x
    Tensor memory = {};
    Positions memory_at = {};
    bool want_weights = false;
  };
  // x [B, L, D] (normed) -> out [B, L, D]; weights when wanted.
  Attended forward(const Tensor& x, const Call& call);
  // Why the configured kernel cannot serve a call of this layer, as a whole sentence; nothing when it can.
  std::optional<std::string> refusal(const AttentionCall& call) const;
  const AttentionLayer& settings() const { return layer_; }
  AttentionKernel& kernel() const { return *kernel_; }

 private:
  Tensor queries(const Tensor& x, const Positions& at) const;  // [B, H, L, E], turned
  bool turns_late() const;                                     // keys are held raw, and turned anew for each call
  KVCache::Held projected(const Tensor& source, const Positions& at, const Call& call) const;
  KVCache::Held memory(const Tensor& source, const Positions& at, const Call& call) const;

  AttentionLayer layer_;
  PositionEncoding* position_;
  std::shared_ptr<AttentionKernel> kernel_;  // child "kernel"
  std::shared_ptr<Linear> q_, k_, v_, o_;    // children "q", "k", "v", "o"
  std::shared_ptr<Norm> q_norm_, k_norm_;    // children "q_norm", "k_norm"; null unless qk_norm
  std::shared_ptr<Dropout> dropout_;         // child "dropout"
};

// The tokens of a row, and of the segments before it that stand in front as further keys.
struct RowTokens {
  int64_t length = 1, kept = 0;
};
// The call that a layer makes in training on one row, on zeros of these options: kernels look at shapes, types and
// forms only. `position`: null for none; asked only where it acts in this layer.
AttentionCall training_call(const AttentionLayer& layer, PositionEncoding* position, bool causal, const RowTokens& row,
                            const at::TensorOptions& options);

}  // namespace ordo
