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

// What the cross-attention of a decoder reads.
struct Memory {
  Tensor hidden = {};  // [B, Lm, D], an encoder's output; undefined once `cache` has been written
  Positions at = {};
  Tensor keys = {};          // bool [B, Lm], optional: false = padding
  KVCache* cache = nullptr;  // a fixed one
};

// Tokens of the same text before those of a call: what a block read of them, whose keys and values it makes anew (Dai
// et al. 2019).
struct Before {
  Tensor hidden = {};  // [B, M, D], without gradient; undefined: nothing stands before
  Positions at = {};   // of these and of the call's own tokens
};

// By value: a replay of a recomputed block outlives the call.
struct Context {
  Positions at;
  Mask mask = {};
  Draw draw = {};
  KVCache* cache = nullptr;  // never together with recompute
  Probe* probe = nullptr;
  Memory memory = {};                 // of a stack with cross-attention
  SegmentMemory* segments = nullptr;  // what stands before, for all blocks; they are moved on. Never with a cache
  int64_t kept_tokens = 0;            // that `segments` holds at most
  Before before = {};                 // of `segments`, for one block: set by the stack
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
// The setting `layers` of each encoding of the list `path`.`key`, whose other settings are its own affair.
void check_layers(const std::vector<Choice<PositionEncoding>>& list, int64_t layers, const std::string& path,
                  const std::string& key, Problems& problems);
// Gives it what the data decides. Throws ConfigError when neither says a length.
void complete(StackConfig& c, const ModelFacts& facts);
// Over the embedding's weight [V, D] or one of its own, as tie_embeddings says.
std::shared_ptr<Head> make_head(const StackConfig& c, const Tensor& embedding);

// One block's settings: per-layer patterns resolved, no zeros left.
struct BlockConfig {
  AttentionLayer attention;
  std::optional<AttentionLayer> cross = {};  // cross-attention, between self-attention and feed-forward
  FeedForwardConfig feed_forward;
  NormConfig norm;
  double dropout = 0.0, drop_path = 0.0;
  bool bias = true;
  int64_t dim = 0;
};
std::vector<BlockConfig> resolve_blocks(const StackConfig& c);

// What an attention layer is made with beside its settings.
struct AttentionParts {
  std::shared_ptr<AttentionKernel> kernel = {};
  PositionEncoding* position = nullptr;
};

// Attention and feed-forward with their norms and residual connections, in one of four placements:
// pre (Xiong et al. 2020), post (Vaswani et al. 2017), sandwich (Ding et al. 2021), parallel (Wang & Komatsuzaki 2021).
// With cross-attention (Vaswani et al. 2017) that is a branch of its own, with norms of its own.
class Block : public torch::nn::Module {
 public:
  Block(const BlockConfig& config, AttentionParts self, AttentionParts cross = {});
  Tensor forward(Tensor x, const Context& c);  // [B, L, D] -> [B, L, D]
  MultiHeadAttention& attention() { return *attention_; }
  MultiHeadAttention* cross() { return cross_.get(); }  // null: it has no cross-attention

 private:
  // What stands around a branch; children "norm1", "after1", "drop1", "path1" of the attention, "…2" of the
  // feed-forward, "…_cross" of the cross-attention.
  struct Branch {
    std::shared_ptr<Norm> norm, after;  // `after`: sandwich alone; the feed-forward of a parallel block has no norm
    std::shared_ptr<Dropout> drop;
    std::shared_ptr<DropPath> path;
    Tensor out(Tensor x, const Draw& draw) const;  // what is added to the stream
  };
  std::shared_ptr<Norm> norm(const std::string& name);
  void finish(Branch& branch, const std::string& suffix);  // all but its norm
  Tensor attend(const Tensor& x, const Context& c);
  Tensor attend_memory(const Tensor& x, const Context& c);
  Tensor feed(const Tensor& x, const Context& c);
  BlockConfig config_;
  std::shared_ptr<MultiHeadAttention> attention_, cross_;  // children "attention", "cross"
  std::shared_ptr<FeedForward> feed_forward_;              // child "feed_forward"
  Branch around_attention_, around_cross_, around_feed_forward_;
};

// What a stack of these settings tells its position encoding; trained_length: see PositionFacts.
PositionFacts position_facts(const StackConfig& c, bool causal, int64_t trained_length = 0);

// The cross-attention of a decoder's blocks: its other settings are those of self-attention.
struct CrossAttention {
  std::vector<Choice<PositionEncoding>> position = {};  // empty: none
};

// Input encoding, embedding norm and dropout, blocks (recomputed where asked), final norm.
class Stack : public torch::nn::Module {
 public:
  Stack(const StackConfig& config, bool causal, int64_t trained_length = 0,
        const std::optional<CrossAttention>& cross = {});
  Stack(const StackConfig& config, bool causal,
        std::shared_ptr<PositionEncoding> position);  // a ready encoding instead of config.position
  Tensor forward(Tensor x, const Context& c);         // embedded tokens [B, L, D] -> hidden [B, L, D]
  void recompute(const std::vector<bool>& blocks);
  PositionEncoding& position() { return *position_; }
  PositionEncoding* cross_position() { return cross_position_.get(); }  // null: no cross-attention
  bool causal() const { return causal_; }
  const std::vector<std::shared_ptr<Block>>& blocks() const { return blocks_; }

 private:
  Stack(const StackConfig& config, bool causal, std::shared_ptr<PositionEncoding> position,
        std::shared_ptr<PositionEncoding> cross_position);
  Tensor run_blocks(Tensor x, Context c);
  Tensor replayed(const std::shared_ptr<Block>& block, const Tensor& x, const Context& c);
  bool causal_;
  std::vector<bool> recompute_;
  std::shared_ptr<PositionEncoding> position_;        // child "position"
  std::shared_ptr<PositionEncoding> cross_position_;  // child "cross_position"; null: no cross-attention
  std::shared_ptr<Norm> embedding_norm_, norm_;       // children "embedding_norm", "norm"
  std::shared_ptr<Dropout> dropout_;                  // child "dropout"
  std::vector<std::shared_ptr<Block>> blocks_;        // children "blocks.0", …
};

}  // namespace ordo
