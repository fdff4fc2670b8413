// SPDX-License-Identifier: Apache-2.0
// Formulas of positions as text: numbers, names, + - * / ^, comparisons, functions and tables, read once into a small
// tree. From loose to tight: one comparison (< <= > >= == !=, giving 1 or 0); + and -; * and /; the signs; ^, which
// groups to the right and binds tighter than a sign before it (-2^2 is -4); calls f(x), tables t[x], parentheses.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "ordo/config/fields.h"
#include "ordo/positions/formula.h"

namespace ordo {

// A name that a formula may use beside its own words.
struct FormulaName {
  std::string name;
  bool table = false;  // t[row] instead of a number
};

inline constexpr size_t kLongestFormula = 4096;  // characters
inline constexpr size_t kDeepestFormula = 100;   // parentheses, signs and powers within each other

// The formula, or what is wrong with it and at which byte.
std::variant<Formula, TextProblem> parse_formula(std::string_view text, std::span<const FormulaName> names);
// Why something cannot be the name of a parameter; nothing: it can.
std::optional<TextProblem> check_formula_name(std::string_view name);

}  // namespace ordo
