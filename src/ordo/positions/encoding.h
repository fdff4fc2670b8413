// SPDX-License-Identifier: Apache-2.0
// A position encoding acts at any of four places: on the input, on queries and keys, on scores, on values; and it may
// move the positions themselves first. Attention knows the places, never an encoding.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/config/catalog.h"
#include "ordo/nn/layers.h"
#include "ordo/ops/bias.h"

namespace ordo {

// One attention call of one layer.
struct AttentionPass {
  int64_t layer = 0;
  Positions q, k;
  double scale = 1.0;  // what content scores are multiplied by
  Tensor x = {};       // [B, Lq, D]: the block's input (for gates)
  Tensor kept = {};    // what keep() gave, for all Lk keys: [B, Lk, n]
  Mask mask = {};      // of this call, for encodings that read what is visible
};

struct Places {
  bool input = false, query_key = false, scores = false, values = false;
  bool positions = false;  // moves them before all else: no kernel sees that
  bool in_layers() const { return query_key || scores || values; }
  bool anywhere() const { return input || in_layers(); }  // beyond moving positions
  std::string text() const;                               // "input", "query and key, scores", "nothing"
};
enum class KeyCache { turned, raw };  // what a cache holds: results of key(); or unturned keys, turned all at each step

struct PositionTraits {
  Places places = {};
  bool relative = false;  // a common shift of all positions changes nothing (tested)
  bool unbounded = true;  // defined past max_length
  KeyCache keys = KeyCache::turned;
  bool reads_content = false;  // its scores read queries or keys beyond their product, turned by whoever turns them
  int64_t gives_axes = 0;      // coordinates a token that place() makes of whole positions; 0: none
  int64_t takes_axes = 0;      // coordinates a token that it reads in place of whole positions; 0: none, -1: it reads
                               // no positions at all
};

// What the model tells every encoding; never repeated in YAML.
struct PositionFacts {
  int64_t dim = 0, heads = 0, kv_heads = 0, head_dim = 0, layers = 0, max_length = 0;
  bool causal = true, cross = false;
  bool softcap = false;        // scores are capped before a bias is added
  double scale = 0.0;          // what content scores are multiplied by; 0: 1 / sqrt(head_dim)
  int64_t trained_length = 0;  // of the checkpoint whose weights will be loaded; 0: a fresh model
};

// Settings that an entry of any kind may have beside its own.
struct PlacedSettings {
  std::vector<int64_t> layers = {};  // a pattern over the layers, 1 = acts there; empty: in all
};
void fields(Fields& f, PlacedSettings& c);

class PositionEncoding : public torch::nn::Module {
 public:
  virtual PositionTraits traits() const = 0;
  // The layers that it acts in, as a pattern repeated over them; empty: all. Throws ConfigError for an encoding that
  // acts before the layers do. Whoever calls the per-layer functions below asks acts_in() first.
  void act_in(const std::vector<int64_t>& pattern);
  bool acts_in(int64_t layer) const;
  // The encodings that this one is made of, in order; itself when it is none of several.
  virtual std::vector<PositionEncoding*> parts() { return {this}; }
  // 0: moves the positions themselves (randomized, SHAPE, CAPE), for `rows` rows: [1|B, L] -> [1|B, L].
  virtual Positions place(const Positions& at, int64_t rows, const Draw& draw) {
    (void)rows;
    (void)draw;
    return at;
  }
  // 1: x [B, L, D] -> [B, L, D], once a stack.
  virtual Tensor input(const Tensor& x, const Positions& at) {
    (void)at;
    return x;
  }
  // 2: q [B, H, L, E], k [B, G, L, E]; and v [B, G, L, E], for encodings that turn values as they turn keys.
  virtual Tensor query(const Tensor& q, const Positions& at, int64_t layer) {
    (void)at;
    (void)layer;
    return q;
  }
  virtual Tensor key(const Tensor& k, const Positions& at, int64_t layer) {
    (void)at;
    (void)layer;
    return k;
  }
  virtual Tensor value(const Tensor& v, const Positions& at, int64_t layer) {
    (void)at;
    (void)layer;
    return v;
  }
  // 3: numbers per key that a cache holds beside k and v, from the block's normed input x [B, L, D]: [B, L, keeps()];
  // undefined: none.
  virtual int64_t keeps() const { return 0; }
  virtual Tensor keep(const Tensor& x, const Positions& at, int64_t layer) {
    (void)x;
    (void)at;
    (void)layer;
    return {};
  }
  virtual std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) {
    (void)pass;
    return nullptr;
  }
  // 4.
  virtual std::shared_ptr<const ValueTerm> values(const AttentionPass& pass) {
    (void)pass;
    return nullptr;
  }
  // The projections of a layer, for encodings that score with them; held as plain pointers.
  virtual void attach(int64_t layer, const Linear& q, const Linear& k) {
    (void)layer;
    (void)q;
    (void)k;
  }
  // One past the last position that place() may give to rows of `length` tokens, drawn or not.
  virtual int64_t reach(int64_t length) const { return length; }
  // Why sequences of this length cannot be served, in plain words; nothing if they can.
  virtual std::optional<std::string> refuses_length(int64_t length) const {
    (void)length;
    return std::nullopt;
  }
  // Radians a position, fp64 [pairs], of encodings made of sines or turns, for sequences of `length`; undefined: none.
  virtual Tensor frequencies(int64_t length) const {
    (void)length;
    return {};
  }
  // A saved tensor of another shape than the parameter `name` (its path below this module) made to fit it, and how, in
  // words ("interpolated from 64 to 128 rows"); nothing: it cannot be, and the parameter starts anew.
  struct Resized {
    Tensor value;
    std::string how;
  };
  virtual std::optional<Resized> resized(const std::string& name, const Tensor& saved) const {
    (void)name;
    (void)saved;
    return std::nullopt;
  }

 private:
  std::vector<int64_t> layers_;
};

using PositionCatalog = Catalog<PositionEncoding, PositionFacts>;
const PositionCatalog& positions();  // positions/catalog.cpp
template <>
const Kinds& kinds_of<PositionEncoding>();

// One encoding, or several composed: inputs and turns in order, biases and value terms added. An empty list is `none`.
std::shared_ptr<PositionEncoding> make_position(const std::vector<Choice<PositionEncoding>>& list,
                                                const PositionFacts& facts);

// The base of biases that depend on key position - query position alone: implement at(), get tile() and by_offset() for
// nothing. Real-valued positions (coords) are refused.
class OffsetBias : public ScoreBias {
 public:
  OffsetBias(const AttentionPass& pass, std::vector<Tensor> inputs);
  // offset (key - query) int64 [B|1, 1, q, k] -> [B|1, H, q, k].
  virtual Tensor at(const Tensor& offset) const = 0;
  Tensor tile(const Tile& t, const Tensor& q, const Tensor& k) const override;
  std::optional<Tensor> by_offset() const override;  // only when both sides are consecutive
  std::vector<Tensor> inputs() const override { return inputs_; }

 protected:
  Tensor offsets(const Tile& t) const;  // of a tile: int64 [B|1, 1, q, k]
  Positions q_, k_;

 private:
  std::vector<Tensor> inputs_;
};
Tensor per_head(const Tensor& values);  // [H] -> [1, H, 1, 1]

}  // namespace ordo
