// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/listops.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "support/thrown.h"

namespace ordo::test {

namespace {

bool is_operator(const std::string& word) { return word.front() == '['; }

// A tree as read from its words, from `at` on; `at` is left behind it.
struct Tree {
  std::string word;
  std::vector<Tree> arguments;
};
Tree read_tree(const std::vector<std::string>& words, size_t& at) {
  Tree tree{words.at(at++), {}};
  if (!is_operator(tree.word)) return tree;
  while (words.at(at) != "]") tree.arguments.push_back(read_tree(words, at));
  ++at;
  return tree;
}
Tree tree_of(const ListOps& task, const Example& e) {
  std::vector<std::string> words;
  for (const int64_t id : e.given) words.push_back(task.symbols().at(static_cast<size_t>(id)));
  size_t at = 0;
  Tree tree = read_tree(words, at);
  REQUIRE(at == words.size());
  return tree;
}

int tree_value(const Tree& tree) {
  if (tree.arguments.empty()) return std::stoi(tree.word);
  std::multiset<int> values;
  int sum = 0;
  for (const auto& argument : tree.arguments) {
    values.insert(tree_value(argument));
    sum += tree_value(argument);
  }
  if (tree.word == "[MIN") return *values.begin();
  if (tree.word == "[MAX") return *values.rbegin();
  if (tree.word == "[SM") return sum % 10;
  const auto n = static_cast<std::ptrdiff_t>(values.size());
  return (*std::next(values.begin(), (n - 1) / 2) + *std::next(values.begin(), n / 2)) / 2;  // the same one if n is odd
}

int64_t levels(const Tree& tree) {
  int64_t below = 0;
  for (const auto& argument : tree.arguments) below = std::max(below, levels(argument));
  return below + 1;
}
size_t most_arguments(const Tree& tree) {
  size_t most = tree.arguments.size();
  for (const auto& argument : tree.arguments) most = std::max(most, most_arguments(argument));
  return most;
}
size_t fewest_arguments(const Tree& tree) {  // of an operator
  size_t fewest = tree.arguments.size();
  for (const auto& argument : tree.arguments)
    if (!argument.arguments.empty()) fewest = std::min(fewest, fewest_arguments(argument));
  return fewest;
}

// The shape of a tree drawn by the grammar alone, top down: "(d(dd))"; a root is an operator.
std::string grown(KeyedSequence& draw, int64_t level, int64_t depth, uint64_t arguments) {
  if (level > 1 && (level == depth || draw.unit() >= 0.25)) return "d";
  std::string shape = "(";
  for (uint64_t left = 2 + draw.below(arguments - 1); left > 0; --left)
    shape += grown(draw, level + 1, depth, arguments);
  return shape + ")";
}
std::string shape_of(const Tree& tree) {
  if (tree.arguments.empty()) return "d";
  std::string shape = "(";
  for (const auto& argument : tree.arguments) shape += shape_of(argument);
  return shape + ")";
}

}  // namespace

TEST_CASE("listops: the answer is the value of the tree, whose length is exact and whose shape keeps the limits",
          "[unit]") {
  const ListOps task({.depth = 4, .arguments = 5}, {.seed = 1});
  size_t most = 0, fewest = 99;
  int64_t deepest = 0;
  for (const int64_t size : {4, 5, 6, 7, 11, 60, 120})
    for (uint64_t i = 0; i < 50; ++i) {
      const Example e = task.held_out(3, i, size);
      REQUIRE(std::ssize(e.given) == size);
      const Tree tree = tree_of(task, e);
      REQUIRE(e.asked == std::vector<int64_t>{tree_value(tree)});
      most = std::max(most, most_arguments(tree));
      fewest = std::min(fewest, fewest_arguments(tree));
      deepest = std::max(deepest, levels(tree));
    }
  CHECK(most == 5);
  CHECK(fewest == 2);
  CHECK(deepest == 4);
}

TEST_CASE("listops: trees of a length are as likely as the grammar makes them", "[unit]") {
  const int64_t depth = 4, size = 11;
  const ListOps task({.depth = depth, .arguments = 4}, {});
  std::map<std::string, double> ours, theirs;
  for (uint64_t i = 0; i < 4000; ++i) ++ours[shape_of(tree_of(task, task.held_out(3, i, size)))];
  double kept = 0.0;
  for (uint64_t i = 0; kept < 4000; ++i) {
    KeyedSequence draw(mix(9, i));
    const std::string shape = grown(draw, 1, depth, 4);
    if (std::ssize(shape) != size) continue;  // a letter a digit, two brackets an operator: the length of the row
    ++theirs[shape];
    ++kept;
  }
  CHECK(theirs.size() > 20);
  double squares = 0.0, cells = 0.0;  // chi-squared of two samples of equal size
  for (const auto& [shape, times] : theirs) {
    const double both = times + ours[shape];
    if (both < 20) continue;
    squares += (times - ours[shape]) * (times - ours[shape]) / both;
    ++cells;
  }
  CHECK(cells > 10);
  CHECK(squares < cells + 4.0 * std::sqrt(2.0 * cells));
}

TEST_CASE("listops: operators and digits are uniform", "[unit]") {
  const ListOps task({}, {});
  std::map<int64_t, double> seen;
  double digits = 0.0, operators = 0.0;
  for (uint64_t i = 0; i < 200; ++i)
    for (const int64_t id : task.held_out(3, i, 100).given) {
      ++seen[id];
      (id < 10 ? digits : operators) += id < 14 ? 1.0 : 0.0;
    }
  for (int64_t id = 0; id < 10; ++id) CHECK(std::abs(seen[id] / digits - 0.1) < 0.015);
  for (int64_t id = 10; id < 14; ++id) CHECK(std::abs(seen[id] / operators - 0.25) < 0.035);
}

TEST_CASE("listops: the lengths of the Long Range Arena are drawn", "[unit]") {
  const ListOps task({}, {});
  for (const int64_t size : {501, 1999}) {
    const Example e = task.held_out(3, 0, size);
    CHECK(std::ssize(e.given) == size);
    CHECK(e.asked == std::vector<int64_t>{tree_value(tree_of(task, e))});
  }
}

TEST_CASE("listops: an example does not depend on what was drawn before it", "[unit]") {
  const ListOps fresh({}, {}), used({}, {});
  (void)used.held_out(3, 0, 1000);
  CHECK(fresh.text(fresh.held_out(3, 1, 40)) == used.text(used.held_out(3, 1, 40)));
}

TEST_CASE("listops: lengths without a tree are refused, with the settings to raise", "[unit]") {
  const ListOps task({.depth = 3, .arguments = 4}, {});  // at the most 2 + 4 * (2 + 4) symbols
  CHECK(task.given_length(26) == 26);
  CHECK(contains(thrown<ConfigError>([&] { (void)task.given_length(27); }),
                 "trees of length 27 do not exist, or hardly ever, with task.depth (3) and task.arguments (4)"));
  CHECK(contains(thrown<ConfigError>([&] { (void)task.given_length(100'000); }), "beyond the largest, 8192"));
}

TEST_CASE("listops: an example by hand, which never changes", "[unit]") {
  const ListOps task({}, {});
  CHECK(task.text(task.held_out(1, 0, 20)) == "[MED 3 0 9 3 7 6 [MED 4 4 ] 1 [SM 3 9 9 2 ] 5 ] -> 3");
}

}  // namespace ordo::test
