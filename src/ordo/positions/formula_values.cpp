// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/formula_values.h"

#include <ATen/ExpandUtils.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/scalar_tensor.h>

namespace ordo {

namespace {

class FormulaRun {
 public:
  FormulaRun(const Formula& formula, const FormulaPlace& place, const std::vector<at::Tensor>& parameters,
             int64_t heads)
      : formula_(formula), place_(place), parameters_(parameters), heads_(heads) {
    shape_ = at::infer_size(place.i.sizes(), place.j.sizes());
    if (place.length.defined()) shape_ = at::infer_size(shape_, place.length.sizes());
    shape_.at(1) = heads;
  }
  at::Tensor whole() const { return value(formula_.nodes.size() - 1).expand(shape_); }

 private:
  // Operands are asked for when they are needed, so that what is done with is let go.
  at::Tensor value(size_t index) const {
    const FormulaNode& node = formula_.nodes[index];
    if (const at::Tensor leaf = leaf_value(node); leaf.defined()) return leaf;
    const at::Tensor a = value(node.left);
    if (const at::Tensor one = value_of_one(node, a); one.defined()) return one;
    return value_of_two(node.op, a, value(node.right));
  }
  at::Tensor leaf_value(const FormulaNode& node) const {
    switch (node.op) {
      case FormulaOp::number:
        return at::scalar_tensor(node.number, place_.i.options());
      case FormulaOp::i:
        return place_.i;
      case FormulaOp::j:
        return place_.j;
      case FormulaOp::length:
        return place_.length;
      case FormulaOp::head:
        return at::arange(heads_, place_.i.options()).view({1, -1, 1, 1});
      case FormulaOp::heads:
        return at::scalar_tensor(static_cast<double>(heads_), place_.i.options());
      case FormulaOp::parameter:
        return parameters_[node.parameter].view({1, -1, 1, 1});
      default:
        return {};
    }
  }
  at::Tensor value_of_one(const FormulaNode& node, const at::Tensor& a) const {
    switch (node.op) {
      case FormulaOp::element:
        return rows_of(node.parameter, a);
      case FormulaOp::negative:
        return -a;
      case FormulaOp::abs:
        return a.abs();
      case FormulaOp::log:
        return a.log();
      case FormulaOp::exp:
        return a.exp();
      case FormulaOp::sqrt:
        return a.sqrt();
      case FormulaOp::sin:
        return a.sin();
      case FormulaOp::cos:
        return a.cos();
      case FormulaOp::floor:
        return a.floor();
      default:
        return {};
    }
  }
  at::Tensor value_of_two(FormulaOp op, const at::Tensor& a, const at::Tensor& b) const {
    const auto truth = [&](const at::Tensor& holds) { return holds.to(place_.i.scalar_type()); };
    switch (op) {
      case FormulaOp::add:
        return a + b;
      case FormulaOp::subtract:
        return a - b;
      case FormulaOp::multiply:
        return a * b;
      case FormulaOp::divide:
        return a / b;
      case FormulaOp::power:
        return at::pow(a, b);
      case FormulaOp::less:
        return truth(a < b);
      case FormulaOp::less_equal:
        return truth(a <= b);
      case FormulaOp::greater:
        return truth(a > b);
      case FormulaOp::greater_equal:
        return truth(a >= b);
      case FormulaOp::equal:
        return truth(a == b);
      case FormulaOp::unequal:
        return truth(a != b);
      case FormulaOp::min:
        return at::minimum(a, b);
      default:
        return at::maximum(a, b);
    }
  }

  // Rows of a table [H, rows] -> [B, H, q, k].
  at::Tensor rows_of(size_t table, const at::Tensor& row) const {
    const at::Tensor& values = parameters_[table];
    const int64_t rows = values.size(1);
    const at::Tensor all = row.expand(shape_);
    if (all.is_cpu()) {
      const at::Tensor lacking = ((all >= 0) & (all < rows) & (all == all.floor())).logical_not().flatten();
      if (lacking.any().item<bool>()) {
        const auto element = lacking.nonzero()[0].item<int64_t>();
        throw FormulaRowError{table, all.flatten()[element].item<double>(), rows, element};
      }
    }
    const at::Tensor by_head = all.to(at::kLong).clamp(0, rows - 1).transpose(0, 1);  // [H, B, q, k]
    return at::gather(values, 1, by_head.reshape({heads_, -1})).view(by_head.sizes()).transpose(0, 1);
  }

  const Formula& formula_;
  const FormulaPlace& place_;
  const std::vector<at::Tensor>& parameters_;
  int64_t heads_;
  std::vector<int64_t> shape_;
};

}  // namespace

at::Tensor formula_values(const Formula& formula, const FormulaPlace& place, const std::vector<at::Tensor>& parameters,
                          int64_t heads) {
  return FormulaRun(formula, place, parameters, heads).whole();
}

}  // namespace ordo
