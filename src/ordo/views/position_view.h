// SPDX-License-Identifier: Apache-2.0
// What a position encoding does, found through its interface alone: the rows it adds to the input, its frequencies, the
// bias of each head, the score between equal tokens, and what changes past a length.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ordo/checkpoint/safetensors.h"
#include "ordo/positions/encoding.h"

namespace ordo {

struct PositionSubject {
  std::string name, summary;
  std::shared_ptr<PositionEncoding> encoding;
  PositionFacts facts;                                    // max_length: what it was built for
  std::vector<std::shared_ptr<Linear>> projections = {};  // that prepare() attached; the encoding holds plain pointers
  double scale() const;                                   // what content scores are multiplied by
};
// Gives an encoding that stands in no model its first weights and, for those that score with them, projections of
// queries and keys.
void prepare(PositionSubject& subject, uint64_t seed);

struct ViewOptions {
  int64_t length = 128;  // positions to look at
  int64_t matrix = 128;  // the first of them, for what is kept of every pair
  uint64_t seed = 1;     // of the tokens
};

// Tokens: `noise` are N(0, 1) in all channels, different ones for the block's input, queries and keys. Equal tokens
// are one such vector, the same for all heads, and zero at the input, which then holds positions only.
struct PositionView {
  std::string name, summary;
  PositionTraits traits;
  PositionFacts facts;
  int64_t layer = 0;        // the first that it acts in
  int64_t asked = 0;        // the length that was asked for
  int64_t length = 0;       // positions that are shown: fewer when it refuses more
  std::string refused;      // why; empty when it does not
  int64_t axes = 0;         // coordinates a token that it had to be given; 0: none, plain positions
  NamedTensors parameters;  // its own, by their names below it

  Tensor table;                   // [L, D]: what a zero input becomes; undefined: it adds nothing there
  Tensor frequencies, at_length;  // fp64 [pairs], radians a position: for sequences of max_length, and of `length`
  Tensor angles;                  // fp64 [L, pairs] of at_length; for shifts of whole positions
  Tensor distances;               // int64 [n], query - key: 0 … L-1; in a two-sided stack from -(L-1)
  Tensor bias_by_distance;        // [H, n], noise; past: for the last query, future: for the first
  Tensor bias;                    // [H, M, M], noise, of the first M positions; not yet masked
  Tensor values_by_offset;        // [1|H, 2M-1, E]: what is added to values, for key - query from -(M-1)
  Tensor decay;                   // [n]: score between equal tokens, mean of the heads, less that of distance 0
  Tensor similarity;  // [M, M]: for every pair, less the mean of the diagonal; hidden pairs of a causal stack are NaN
  Tensor moved_training, moved;  // fp64 [rows, M]: where it moves the first M positions, in training and evaluation
  double decay_at(int64_t distance) const;  // NaN past what is shown
  std::vector<double> wavelengths() const;  // positions a turn, of at_length, ascending; still pairs are left out
};

PositionView look_at(const PositionSubject& subject, const ViewOptions& options);

}  // namespace ordo
