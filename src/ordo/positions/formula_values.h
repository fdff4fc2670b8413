// SPDX-License-Identifier: Apache-2.0
// A formula's values on tensors of positions, differentiable in its parameters.
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "ordo/positions/formula.h"

namespace ordo {

// Where a formula is asked for its values: i and j (and length, when the formula uses it), floating, that broadcast to
// [B, 1, q, k].
struct FormulaPlace {
  at::Tensor i, j, length = {};
};

// Thrown (on the CPU, where looking is free) for a row that a table does not have, or that is no whole number.
struct FormulaRowError {
  size_t table;     // which of the parameters
  double row;       // what was asked for
  int64_t rows;     // how many there are
  int64_t element;  // of [B, H, q, k], flat
};

// parameters: [H], or [H, rows] of a table, in the type of the places. -> [B, H, q, k].
at::Tensor formula_values(const Formula& formula, const FormulaPlace& place, const std::vector<at::Tensor>& parameters,
                          int64_t heads);

}  // namespace ordo
