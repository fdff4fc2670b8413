// SPDX-License-Identifier: Apache-2.0
// How long random trees are: a node is an operator with a fixed probability, with as many arguments as any of [2,
// most], else a leaf; a node at the lowest level is a leaf. A leaf has length 1, an operator 2 more than its arguments.
// From these probabilities a tree of a given length is drawn as the grammar itself would draw it, without a rejection.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ordo/core/hash.h"

namespace ordo {

class TreeLengths {
 public:
  struct Grammar {
    int64_t depth = 0;           // levels, the root's included
    int64_t most_arguments = 2;  // of an operator
    double operators = 0.25;     // probability of one
  };
  // Answers for lengths up to `longest`, in O(depth · most_arguments · longest²).
  TreeLengths(const Grammar& grammar, int64_t longest);
  int64_t longest() const { return longest_; }

  // The probability that a root has this length.
  double root(int64_t length) const { return at(grammar_.depth - 1, 1, length); }
  // Of an operator with `height` levels below it, given its length: how many arguments it has; and how long the first
  // of `count` arguments is, which together have this length.
  int64_t draw_arguments(KeyedSequence& draw, int64_t height, int64_t length) const;
  int64_t draw_first(KeyedSequence& draw, int64_t height, int64_t count, int64_t length) const;

 private:
  // That `count` nodes, each with `height` levels below it, have this length together.
  double at(int64_t height, int64_t count, int64_t length) const {
    return sums_[static_cast<size_t>(height)][static_cast<size_t>(count)][static_cast<size_t>(length)];
  }
  Grammar grammar_;
  int64_t longest_;
  std::vector<std::vector<std::vector<double>>> sums_;  // [height][count][length]
};

}  // namespace ordo
