// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/formula.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

namespace ordo {

namespace {

// By how much a value grows when i and j both grow by one, if that is the same everywhere.
using Growth = std::optional<double>;

Growth growth_of(const FormulaNode& node, std::span<const FormulaNode> all, std::span<const Growth> known) {
  const Growth a = known[node.left], b = known[node.right];
  const auto number = [&](size_t n) { return all[n].op == FormulaOp::number; };
  switch (node.op) {
    case FormulaOp::number:
    case FormulaOp::head:
    case FormulaOp::heads:
    case FormulaOp::parameter:
      return 0.0;
    case FormulaOp::i:
    case FormulaOp::j:
      return 1.0;
    case FormulaOp::length:
      return std::nullopt;
    case FormulaOp::negative:
      return a ? Growth(-*a) : a;
    case FormulaOp::add:
      return a && b ? Growth(*a + *b) : std::nullopt;
    case FormulaOp::subtract:
      return a && b ? Growth(*a - *b) : std::nullopt;
    case FormulaOp::multiply:
      if (a && number(node.right)) return *a * all[node.right].number;
      if (b && number(node.left)) return *b * all[node.left].number;
      break;
    case FormulaOp::divide:
      if (a && number(node.right)) return *a / all[node.right].number;
      break;
    case FormulaOp::min:
    case FormulaOp::max:
      return a && a == b ? a : std::nullopt;
    case FormulaOp::floor:  // positions are whole, so whole growth stays what it is
      return a && std::floor(*a) == *a ? a : std::nullopt;
    case FormulaOp::less:
    case FormulaOp::less_equal:
    case FormulaOp::greater:
    case FormulaOp::greater_equal:
    case FormulaOp::equal:
    case FormulaOp::unequal:
      return a && a == b ? Growth(0.0) : std::nullopt;
    default:
      break;
  }
  return a == 0.0 && b == 0.0 ? Growth(0.0) : std::nullopt;
}

}  // namespace

double apply_formula_op(FormulaOp op, double a, double b) {
  switch (op) {
    case FormulaOp::negative:
      return -a;
    case FormulaOp::add:
      return a + b;
    case FormulaOp::subtract:
      return a - b;
    case FormulaOp::multiply:
      return a * b;
    case FormulaOp::divide:
      return a / b;
    case FormulaOp::power:
      return std::pow(a, b);
    case FormulaOp::less:
      return a < b ? 1.0 : 0.0;
    case FormulaOp::less_equal:
      return a <= b ? 1.0 : 0.0;
    case FormulaOp::greater:
      return a > b ? 1.0 : 0.0;
    case FormulaOp::greater_equal:
      return a >= b ? 1.0 : 0.0;
    case FormulaOp::equal:
      return a == b ? 1.0 : 0.0;
    case FormulaOp::unequal:
      return a != b ? 1.0 : 0.0;
    case FormulaOp::abs:
      return std::abs(a);
    case FormulaOp::log:
      return std::log(a);
    case FormulaOp::exp:
      return std::exp(a);
    case FormulaOp::sqrt:
      return std::sqrt(a);
    case FormulaOp::sin:
      return std::sin(a);
    case FormulaOp::cos:
      return std::cos(a);
    case FormulaOp::floor:
      return std::floor(a);
    case FormulaOp::min:
      return std::min(a, b);
    case FormulaOp::max:
      return std::max(a, b);
    default:
      return a;
  }
}

bool Formula::uses(FormulaOp op) const {
  return std::any_of(nodes.begin(), nodes.end(), [&](const auto& n) { return n.op == op; });
}

bool Formula::depends_on_difference() const {
  std::vector<Growth> known(nodes.size());
  for (size_t n = 0; n < nodes.size(); ++n) known[n] = growth_of(nodes[n], nodes, known);
  return known.back() == 0.0;
}

}  // namespace ordo
