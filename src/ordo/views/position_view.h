// SPDX-License-Identifier: Apache-2.0
// What a position encoding does in one layer, found through its interface alone: the rows it adds to the input, its
// frequencies, the bias of each head, the score between equal tokens, and what changes past a length.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ordo/checkpoint/safetensors.h"
#include "ordo/positions/parts.h"

namespace ordo {

struct PositionSubject {
  std::string name = {};    // of the run or config that it was found in; empty: a kind by itself
  std::string origin = {};  // where its weights are from: "run b, weights of step 40"
  bool fresh = true;        // its weights are first ones, untrained
  std::vector<PositionPart> parts;
  std::shared_ptr<PositionEncoding> encoding;
  PositionFacts facts;                                    // max_length: what it was built for
  std::vector<std::shared_ptr<Linear>> projections = {};  // that prepare() attached; the encoding holds plain pointers
  double scale() const;                                   // what content scores are multiplied by
};
// The encoding of a list, not prepared.
PositionSubject assembled(const std::vector<Choice<PositionEncoding>>& position, const PositionFacts& facts);
// Gives an encoding that stands in no model its first weights and, for those that score with them, projections of
// queries and keys.
void prepare(PositionSubject& subject, uint64_t seed);

struct ViewOptions {
  int64_t length = 128;               // positions to look at
  int64_t matrix = 128;               // as many of them for what is kept of every pair
  uint64_t seed = 1;                  // of the tokens
  std::optional<int64_t> layer = {};  // nothing: the first in which something acts
};

// Tokens: `noise` are N(0, 1) in all channels, different ones for the block's input, queries and keys. Equal tokens
// are one such vector, the same for all heads, and zero at the input, which then holds positions only.
struct PositionView {
  std::string owner;    // the run or config it was found in; empty: a kind by itself
  std::string name;     // for a line or a row: "rope", "b: rope"
  std::string kinds;    // what acts in the layer: "learned+alibi"
  std::string title;    // the same with the settings that are not defaults: "rope, theta 500000 + alibi"
  bool set = false;     // some setting is not a default
  std::string summary;  // of one kind; of several: empty
  std::string origin;   // as of the subject
  bool fresh = true;
  PositionTraits traits;  // of what acts in the layer
  PositionFacts facts;
  int64_t layer = 0;
  std::string layer_note;   // as of layer_text(); empty where every part acts in every layer
  int64_t asked = 0;        // the length that was asked for
  int64_t length = 0;       // positions that are shown: fewer when it refuses more
  std::string refused;      // why; empty when it does not
  NamedTensors parameters;  // of what acts in the layer, by their names below the encoding

  Tensor table;  // [L, D]: what a zero input becomes; undefined: it adds nothing there
  // fp64 [pairs], radians a position: for sequences of `asked`, and of max_length.
  Tensor frequencies, frequencies_at_max_length;
  Tensor angles;            // fp64 [L, pairs] of `frequencies`; for shifts of whole positions
  Tensor distances;         // int64 [n], query - key: 0 … L-1; in a two-sided stack from -(L-1)
  Tensor bias_by_distance;  // [H, n], noise; past: for the last query, future: for the first
  Tensor bias;              // [H, M, M], noise, of the first M positions; not yet masked
  Tensor values_by_offset;  // [1|H, 2M-1, E]: what is added to values, for key - query from -(M-1)
  Tensor decay;             // [n]: score between equal tokens, mean of the heads, less that of distance 0
  // [m, m], m <= M: for every pair of `similar` positions, less the mean of the diagonal; hidden pairs of a causal
  // stack are NaN.
  Tensor similarity;
  Tensor similar;                // int64 [m]: all positions up to L, or every n-th
  Tensor moved_training, moved;  // fp64 [rows, M]: where it moves the first M positions, in training and evaluation
  bool untrained() const { return fresh && !parameters.empty(); }
  // Why scores are the same without it, for what starts at zero; else empty.
  std::string silence() const;
  std::string full_name() const;  // with the settings: "b: rope, theta 500000"
  // What is to be said beside a picture or a table of several: where it is from, its layer, its weights.
  std::vector<std::string> notes() const;
  double decay_at(int64_t distance) const;  // NaN past what is shown
  std::vector<double> wavelengths() const;  // positions a turn, of `frequencies`, ascending; still pairs are left out
};

PositionView look_at(const PositionSubject& subject, const ViewOptions& options);

}  // namespace ordo
