// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/listops.h"

#include <algorithm>
#include <numeric>

#include "ordo/tasks/rows.h"
#include "ordo/tasks/tree_lengths.h"

namespace ordo {

namespace {

enum ListSymbol : int64_t { kDigits = 10, kMin = kDigits, kMax, kMed, kSumMod, kClose };
constexpr int64_t kOperators = kClose - kMin;
constexpr int64_t kLongestTree = 8192;  // its table of lengths takes seconds, and grows with the square
constexpr double kRarestTree = 1e-250;  // below it, products of probabilities lose their digits

void draw_operator(KeyedSequence& draw, const TreeLengths& lengths, int64_t height, int64_t length,
                   std::vector<int64_t>& row) {
  row.push_back(kMin + static_cast<int64_t>(draw.below(kOperators)));
  int64_t rest = length - 2;
  for (int64_t left = lengths.draw_arguments(draw, height, length); left > 0; --left) {
    const int64_t child = lengths.draw_first(draw, height - 1, left, rest);
    if (child == 1)
      row.push_back(static_cast<int64_t>(draw.below(kDigits)));
    else
      draw_operator(draw, lengths, height - 1, child, row);
    rest -= child;
  }
  row.push_back(kClose);
}

int64_t applied(int64_t operation, std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  switch (operation) {
    case kMin:
      return values.front();
    case kMax:
      return values.back();
    case kSumMod:
      return std::accumulate(values.begin(), values.end(), int64_t{0}) % kDigits;
    default:
      return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  }
}

int64_t value_of(const std::vector<int64_t>& row) {
  struct List {
    int64_t operation;
    std::vector<int64_t> values;
  };
  std::vector<List> open;
  int64_t value = 0;
  for (const int64_t symbol : row) {
    if (symbol >= kMin && symbol < kClose) {
      open.push_back({symbol, {}});
      continue;
    }
    value = symbol;
    if (symbol == kClose) {
      value = applied(open.back().operation, open.back().values);
      open.pop_back();
    }
    if (!open.empty()) open.back().values.push_back(value);
  }
  return value;
}

}  // namespace

void fields(Fields& f, ListOps::Config& c) {
  f("depth", c.depth, "levels of a tree, the root's included", within(3, 100));
  // With fewer than four, some lengths would have no tree.
  f("arguments", c.arguments, "arguments of an operator, at the most; each number from 2 on is equally likely",
    within(4, 100));
  drawn_fields(f, c.drawn, Asks::label);
}

ListOps::ListOps(const Config& config, const TaskFacts& facts)
    : DrawnTask(config.drawn, facts, Asks::label,
                joined(numbered_symbols(kDigits), {"[MIN", "[MAX", "[MED", "[SM", "]"})),
      config_(config) {}
ListOps::~ListOps() = default;

std::shared_ptr<const TreeLengths> ListOps::lengths(int64_t size) const {
  require<ConfigError>(size <= kLongestTree, "listops: a length of {} is beyond the largest, {}", size, kLongestTree);
  const std::lock_guard lock(mutex_);
  constexpr int64_t kAtFirst = 256;
  if (!lengths_ || lengths_->longest() < size)
    lengths_ = std::make_shared<TreeLengths>(
        TreeLengths::Grammar{.depth = config_.depth, .most_arguments = config_.arguments}, std::max(size, kAtFirst));
  require<ConfigError>(
      lengths_->root(size) > kRarestTree,
      "listops: trees of length {} do not exist, or hardly ever, with task.depth ({}) and task.arguments ({}); raise "
      "one of them, or lower the lengths trained on and evaluated",
      size, config_.depth, config_.arguments);
  return lengths_;
}

int64_t ListOps::given_length(int64_t size) const {
  lengths(size);
  return size;
}

Example ListOps::example(KeyedSequence& draw, int64_t size) const {
  Example made;
  draw_operator(draw, *lengths(size), config_.depth - 1, size, made.given);
  made.asked = {value_of(made.given)};
  return made;
}

}  // namespace ordo
