// SPDX-License-Identifier: Apache-2.0
// What every model is to the rest of the house: it ends at hidden states; its head goes from there to logits or to a
// loss.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "ordo/attention/cache.h"
#include "ordo/config/catalog.h"
#include "ordo/nn/layers.h"
#include "ordo/ops/encoder_input.h"
#include "ordo/ops/fused_loss.h"
#include "ordo/ops/segment_memory.h"
#include "ordo/positions/encoding.h"

namespace ordo {

class Problems;  // config/config.h
class Probe;     // models/probe.h: handed in by whoever is curious; with none a model pays nothing

// Of what a model reads, one or the other: token ids, or numbers that its input layer (models/input.h) makes tokens of.
struct ModelInput {
  Tensor ids;  // int64 [B, L]
  Positions at;
  Mask mask = {};  // keys, segments, prefix; a decoder adds `causal` itself
  Draw draw = {};
  Probe* probe = nullptr;
  EncoderInput source = {};         // of an encoder-decoder; with a cache in the first call alone
  Tensor signal = {};               // float: images [B, C, H, W]; frames or series [B, L, C]; then `ids` is undefined
  Tensor types = {};                // int64 [B, L]: which of several texts a token is of
  SegmentMemory* memory = nullptr;  // of the segments before: read, then moved on by this one
};

// What stands in place of token ids.
struct SignalFacts {
  int64_t channels = 0;           // 0: there are token ids
  int64_t height = 0, width = 0;  // of images, else 0
  bool defined() const { return channels > 0; }
  bool image() const { return height > 0; }
};

// What the data decides.
struct ModelFacts {
  int64_t vocab_size = 0;         // of the ids it reads, and writes unless there are `outputs`
  int64_t outputs = 0;            // numbers that the head gives, which are not tokens: classes, values; 0: tokens
  bool pools = false;             // they are asked of a whole row
  int64_t source_vocab_size = 0;  // of the ids an encoder reads where they are others; 0: vocab_size
  SignalFacts signal = {};
  int64_t max_length = 0;      // train.length, for a config whose max_length is 0
  uint64_t seed = 0;           // initial weights
  int64_t trained_length = 0;  // of the checkpoint whose weights will be loaded; 0: a fresh model
};

// Hidden states -> logits or loss. weight [V, D] is the embedding's own when tied; bias [V] or none.
class Head : public torch::nn::Module, public Resets {
 public:
  Head(int64_t dim, int64_t outputs, std::optional<double> softcap, bool bias = false);  // owns a weight
  // Shares one: registered (and saved) by its owner alone.
  Head(const Tensor& tied, std::optional<double> softcap);
  Tensor logits(const Tensor& hidden) const;  // [.., D] -> [.., V]
  // Sum over the targets (int64, shaped as hidden without its last dimension; kIgnore is left out).
  Tensor loss(const Tensor& hidden, const Tensor& targets, LossOptions options) const;
  Tensor token_losses(const Tensor& hidden, const Tensor& targets,
                      Tensor* correct = nullptr) const;  // no gradients, shaped as targets
  void reset(const Initialiser& init, const std::string& path) override;
  const Tensor& weight() const { return weight_; }

 private:
  Tensor weight_, bias_;
  bool tied_;
  std::optional<double> softcap_;
};

// Where a step's arithmetic and memory go; counted, not measured.
struct ModelCost {
  double flops_per_token = 0.0;             // forward, of matrix products with what a token sees at the given length
  double activation_bytes_per_token = 0.0;  // kept for backward without recompute, fp32
};

class Model : public torch::nn::Module {
 public:
  // Hidden states [B, L, D], after the final norm; L counts the tokens that an input layer made. A cache is one of
  // make_cache().
  virtual Tensor forward(const ModelInput& in, Cache* cache = nullptr) = 0;
  // One vector a row: what the head makes classes or values of. Throws ConfigError in a model that gives none.
  virtual Tensor pooled(const ModelInput& in);
  virtual Head& head() = 0;
  virtual std::shared_ptr<Cache> make_cache() const = 0;
  virtual bool reads_source() const { return false; }  // its forward needs ModelInput::source
  virtual int64_t max_length() const = 0;
  // Why rows of this many tokens cannot be served, in plain words; nothing if they can.
  virtual std::optional<std::string> refuses_length(int64_t length) { return position().refuses_length(length); }
  // Tokens of the segments before that it keeps (model.memory), to go on from them; 0: it keeps none.
  virtual int64_t kept_tokens() const { return 0; }
  virtual bool causal() const = 0;  // a token sees itself and what stands before it, nothing else
  virtual PositionEncoding& position() = 0;
  virtual ModelCost cost(int64_t length) const = 0;
  // Which blocks drop their insides and replay them on the way back; one flag a block, true = recompute. Empty: none.
  virtual void recompute(const std::vector<bool>& blocks) = 0;
  virtual int64_t layers() const = 0;
  virtual int64_t dim() const = 0;
};

using ModelCatalog = Catalog<Model, ModelFacts>;
const ModelCatalog& models();                   // models/catalog.cpp
bool reads_source(const Choice<Model>& model);  // as of the model that will be built
// Relations between the options of a model, reported at `path`: what a config can be told before anything is built.
// `length`: of the rows that it will be given.
void check(const Choice<Model>& model, const std::string& path, int64_t length, Problems& problems);
template <>
const Kinds& kinds_of<Model>();

}  // namespace ordo
