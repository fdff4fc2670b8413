// SPDX-License-Identifier: Apache-2.0
// Blocks and stacks of blocks: what encoders and decoders are made of.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ordo/attention/attention.h"
#include "ordo/models/model.h"

namespace ordo {

class Problems;  // config/config.h

// By value: a replay of a recomputed block outlives the call.
struct Context {
  Positions at;
  Mask mask = {};
  Draw draw = {};
  KVCache* cache = nullptr;  // never together with recompute
  Probe* probe = nullptr;
};

enum class NormPlacement { pre, post, sandwich, parallel };
extern const std::span<const NamedValue> kNormPlacements;

struct NormConfig {
  NormKind kind = NormKind::layer;
  NormPlacement placement = NormPlacement::pre;
  double eps = 1e-5;
};
void fields(Fields& f, NormConfig& c);

// What encoder and decoder share in YAML, under `model`.
struct StackConfig {
  int64_t dim = 0, layers = 0;
  int64_t max_length = 0;  // positions it is built for; 0: train.length
  AttentionConfig attention;
  FeedForwardConfig feed_forward;
  NormConfig norm;
  std::vector<Choice<PositionEncoding>> position;  // empty: none
  double dropout = 0.0;                            // after embedding, attention and feed-forward
  double drop_path = 0.0;  // stochastic depth of the last block; the blocks before rise linearly to it
  bool bias = true;        // of linear layers and norms
  InitConfig init;
  bool tie_embeddings = true;
  bool scale_embedding = false;        // times sqrt(dim)
  bool embedding_norm = false;         // a norm after embedding + position
  std::optional<double> softcap = {};  // of output logits
};
void fields(Fields& f, StackConfig& c);
// Relations between the options of a stack, reported at `path` ("model").
void check(const StackConfig& c, const std::string& path, Problems& problems);

// One block's settings: per-layer patterns resolved, no zeros left.
struct BlockConfig {
  AttentionLayer attention;
  FeedForwardConfig feed_forward;
  NormConfig norm;
  double dropout = 0.0, drop_path = 0.0;
  bool bias = true;
  int64_t dim = 0;
};
std::vector<BlockConfig> resolve_blocks(const StackConfig& c);

// Attention and feed-forward with their norms and residual connections, in one of four placements:
// pre (Xiong et al. 2020), post (Vaswani et al. 2017), sandwich (Ding et al. 2021), parallel (Wang & Komatsuzaki 2021).
class Block : public torch::nn::Module {
 public:
  Block(const BlockConfig& config, std::shared_ptr<AttentionKernel> kernel, PositionEncoding* position);
  Tensor forward(Tensor x, const Context& c);  // [B, L, D] -> [B, L, D]
  MultiHeadAttention& attention() { return *attention_; }

 private:
  Tensor attend(const Tensor& x, const Context& c);
  Tensor feed(const Tensor& x, const Context& c);
  BlockConfig config_;
  std::shared_ptr<MultiHeadAttention> attention_;
  std::shared_ptr<FeedForward> feed_forward_;
  std::shared_ptr<Norm> norm1_, norm2_, after1_, after2_;  // children "norm1", "norm2"; sandwich: "after1", "after2"
  std::shared_ptr<Dropout> drop1_, drop2_;
  std::shared_ptr<DropPath> path1_, path2_;
};

// What a stack of these settings tells its position encoding; trained_length: see PositionFacts.
PositionFacts position_facts(const StackConfig& c, bool causal, int64_t trained_length = 0);

// Input encoding, embedding norm and dropout, blocks (recomputed where asked), final norm.
class Stack : public torch::nn::Module {
 public:
  Stack(const StackConfig& config, bool causal, int64_t trained_length = 0);
  Stack(const StackConfig& config, bool causal,
        std::shared_ptr<PositionEncoding> position);  // a ready encoding instead of config.position
  Tensor forward(Tensor x, const Context& c);         // embedded tokens [B, L, D] -> hidden [B, L, D]
  void recompute(const std::vector<bool>& blocks);
  PositionEncoding& position() { return *position_; }
  const std::vector<std::shared_ptr<Block>>& blocks() const { return blocks_; }

 private:
  Tensor replayed(const std::shared_ptr<Block>& block, const Tensor& x, const Context& c);
  bool causal_;
  std::vector<bool> recompute_;
  std::shared_ptr<PositionEncoding> position_;   // child "position"
  std::shared_ptr<Norm> embedding_norm_, norm_;  // children "embedding_norm", "norm"
  std::shared_ptr<Dropout> dropout_;             // child "dropout"
  std::vector<std::shared_ptr<Block>> blocks_;   // children "blocks.0", …
};

}  // namespace ordo
