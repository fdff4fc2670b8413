// SPDX-License-Identifier: Apache-2.0
// Nested lists with an operator each; the answer is the value of the whole (Nangia and Bowman 2018, "ListOps"; in the
// form of the Long Range Arena, Tay et al. 2021): [MAX 4 [SM 7 5 ] 1 ] -> 4, as SM, the sum modulo 10, is 2. MED is the
// median, rounded down. Trees are those of the Arena's grammar: a node is an operator with probability 1/4, one of the
// four, with 2 to 10 arguments, else a digit; at the lowest of ten levels it is a digit; the root is an operator. Its
// round brackets, which say nothing, are left out, which makes 15 symbols. The size is the exact length; trees are
// drawn as the grammar would among those of that length. (The Arena keeps lengths of 501 to 1999 in the grammar's own
// mixture; here training draws them evenly.)
//
// Answers are not balanced, as MIN and MAX push them to 0 and 9: each of these two is about one in six.
#pragma once
#include <memory>
#include <mutex>

#include "ordo/tasks/drawn_task.h"

namespace ordo {

class TreeLengths;

class ListOps final : public DrawnTask {
 public:
  struct Config {
    DrawnConfig drawn;
    int64_t depth = 10;      // levels, the root's included
    int64_t arguments = 10;  // of an operator, at the most
  };
  static constexpr std::string_view kKind = "listops", kSummary = "the value of nested lists with an operator each";
  ListOps(const Config& config, const TaskFacts& facts);
  ~ListOps() override;
  Example example(KeyedSequence& draw, int64_t size) const override;
  // Throws ConfigError for a size that no tree has.
  int64_t given_length(int64_t size) const override;
  int64_t asked_length(int64_t) const override { return 1; }
  int64_t least_size() const override { return 4; }  // an operator, two digits, a bracket
  std::string_view kind() const override { return kKind; }

 private:
  std::shared_ptr<const TreeLengths> lengths(int64_t size) const;
  Config config_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const TreeLengths> lengths_;  // made for the longest size asked for so far
};
void fields(Fields& f, ListOps::Config& c);

}  // namespace ordo
