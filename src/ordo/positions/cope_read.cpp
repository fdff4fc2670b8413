// SPDX-License-Identifier: Apache-2.0
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>

#include "ordo/positions/cope.h"

namespace ordo {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

// The rows of one call as raw memory; `seen` has one row for all heads, and perhaps for the whole batch.
struct CopeRows {
  CopeRows(const Tensor& gates, const Tensor& seen, const Tensor& z)
      : heads(gates.size(1)),
        queries(gates.size(2)),
        keys(gates.size(3)),
        places(z.size(3)),
        seen_batch(seen.size(0)),
        shown(seen.const_data_ptr<bool>()) {}
  int64_t count(const Tensor& gates) const { return gates.size(0) * heads * queries; }
  const bool* seen_of(int64_t row) const {
    const int64_t b = seen_batch == 1 ? 0 : row / (heads * queries);
    return shown + (b * queries + row % queries) * keys;
  }
  int64_t heads, queries, keys, places, seen_batch;
  const bool* shown;
};

template <class Body>
void each_cope_row(int64_t rows, const Body& body) {
  at::parallel_for(0, rows, /*grain_size=*/8, [&](int64_t from, int64_t to) {
    for (int64_t row = from; row < to; ++row) body(row);
  });
}

// From the last key to the first: `count` runs up to the last place, where all further keys stay. A count of NaN is
// below no place: it reads row 0 (there may be no other), and makes the number NaN.
template <class T>
struct CopePlace {
  CopePlace(T count, int64_t places)
      : below(std::isnan(count) ? 0 : static_cast<int64_t>(count)),
        above(std::min(below + 1, places - 1)),
        part(count - static_cast<T>(below)) {}
  int64_t below, above;
  T part;
};

template <class T>
void read_row(const T* gates, const bool* seen, const T* z, int64_t keys, int64_t places, T* out) {
  const T last = static_cast<T>(places - 1);
  T count = 0;
  int64_t j = keys - 1;
  for (; j >= 0; --j) {
    if (seen[j]) count += gates[j];
    if (count >= last) break;
    const CopePlace<T> at(count, places);
    out[j] = z[at.below] + at.part * (z[at.above] - z[at.below]);
  }
  std::fill(out, out + j + 1, z[places - 1]);
}

// d out -> d gates, and added to d z. A gate moves the counts of its own key and of all before it.
template <class T>
void read_row_backward(const T* gates, const bool* seen, const T* z, const T* d, int64_t keys, int64_t places,
                       T* d_gates, T* d_z) {
  const T last = static_cast<T>(places - 1);
  T count = 0;
  int64_t j = keys - 1;
  for (; j >= 0; --j) {
    if (seen[j]) count += gates[j];
    if (count >= last) break;
    const CopePlace<T> at(count, places);
    d_z[at.below] += (1 - at.part) * d[j];
    d_z[at.above] += at.part * d[j];
    d_gates[j] = d[j] * (z[at.above] - z[at.below]);
  }
  for (int64_t rest = 0; rest <= j; ++rest) {
    d_z[places - 1] += d[rest];
    d_gates[rest] = 0;
  }
  T sum = 0;
  for (j = 0; j < keys; ++j) {
    sum += d_gates[j];
    d_gates[j] = seen[j] ? sum : T{0};
  }
}

template <class T>
void read_rows(const Tensor& gates, const Tensor& seen, const Tensor& z, const Tensor& out) {
  const CopeRows rows(gates, seen, z);
  const T *g = gates.const_data_ptr<T>(), *table = z.const_data_ptr<T>();
  T* to = out.mutable_data_ptr<T>();
  each_cope_row(rows.count(gates), [&](int64_t r) {
    read_row(g + r * rows.keys, rows.seen_of(r), table + r * rows.places, rows.keys, rows.places, to + r * rows.keys);
  });
}

template <class T>
void read_rows_backward(const Tensor& gates, const Tensor& seen, const Tensor& z, const Tensor& d,
                        const Tensor& d_gates, const Tensor& d_z) {
  const CopeRows rows(gates, seen, z);
  const T *g = gates.const_data_ptr<T>(), *table = z.const_data_ptr<T>(), *from = d.const_data_ptr<T>();
  T *to_gates = d_gates.mutable_data_ptr<T>(), *to_z = d_z.mutable_data_ptr<T>();
  each_cope_row(rows.count(gates), [&](int64_t r) {
    read_row_backward(g + r * rows.keys, rows.seen_of(r), table + r * rows.places, from + r * rows.keys, rows.keys,
                      rows.places, to_gates + r * rows.keys, to_z + r * rows.places);
  });
}

class ReadAtCounts : public torch::autograd::Function<ReadAtCounts> {
 public:
  static Tensor forward(AutogradContext* ctx, const Tensor& gates, const Tensor& seen, const Tensor& z) {
    ctx->save_for_backward({gates, seen, z});
    const Tensor out = at::empty_like(gates);
    if (gates.scalar_type() == at::kDouble)
      read_rows<double>(gates, seen, z, out);
    else
      read_rows<float>(gates, seen, z, out);
    return out;
  }
  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const auto saved = ctx->get_saved_variables();
    const Tensor &gates = saved[0], &seen = saved[1], &z = saved[2];
    const Tensor d = gradients[0].contiguous(), d_gates = at::empty_like(gates), d_z = at::zeros_like(z);
    if (gates.scalar_type() == at::kDouble)
      read_rows_backward<double>(gates, seen, z, d, d_gates, d_z);
    else
      read_rows_backward<float>(gates, seen, z, d, d_gates, d_z);
    return {d_gates, Tensor(), d_z};
  }
};

}  // namespace

Tensor read_at_counts_by_operators(const Tensor& gates, const Tensor& seen, const Tensor& z) {
  const int64_t last = z.size(3) - 1;
  const Tensor open = gates.masked_fill(seen.logical_not(), 0.0);
  const Tensor counts = open.flip(3).cumsum(3).flip(3).clamp_max(static_cast<double>(last));
  const Tensor below = counts.detach().floor();
  const Tensor index = below.nan_to_num(0.0).to(at::kLong);  // a count of NaN makes NaN of any row
  const Tensor low = z.gather(3, index), high = z.gather(3, (index + 1).clamp_max(last));
  return low + (counts - below) * (high - low);
}

Tensor read_at_counts(const Tensor& gates, const Tensor& seen, const Tensor& z) {
  const bool plain = gates.is_cpu() && (gates.scalar_type() == at::kFloat || gates.scalar_type() == at::kDouble);
  if (!plain) return read_at_counts_by_operators(gates, seen, z);
  return ReadAtCounts::apply(gates.contiguous(), seen.contiguous(), z.contiguous());
}

}  // namespace ordo
