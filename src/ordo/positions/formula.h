// SPDX-License-Identifier: Apache-2.0
// A formula of positions as a small tree: what the parser makes and the encoding evaluates.
#pragma once
#include <cstddef>
#include <vector>

namespace ordo {

enum class FormulaOp {
  number,
  i,
  j,
  head,
  heads,
  length,
  parameter,
  element,  // of a table
  negative,
  add,
  subtract,
  multiply,
  divide,
  power,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  unequal,
  abs,
  log,
  exp,
  sqrt,
  sin,
  cos,
  floor,
  min,
  max,
};

struct FormulaNode {
  FormulaOp op = FormulaOp::number;
  double number = 0.0;         // of a number
  size_t parameter = 0;        // of a parameter or a table: which of the names
  size_t left = 0, right = 0;  // operands: earlier nodes (one operand: left; a table's row: left)
};

// A formula: nodes in an order in which operands come before what uses them; the last one is the whole. What holds
// numbers alone is computed already.
struct Formula {
  std::vector<FormulaNode> nodes;
  std::vector<bool> used;  // for each of the names: whether the formula has it

  // Whether a common shift of i and j surely changes nothing: decided from the tree, so that a formula which hides it
  // well counts as one that does not have it.
  bool depends_on_difference() const;
  bool uses(FormulaOp op) const;
};

// What an operation gives for two numbers (for one operand: a).
double apply_formula_op(FormulaOp op, double a, double b);

}  // namespace ordo
