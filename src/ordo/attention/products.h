// SPDX-License-Identifier: Apache-2.0
// Matrix products on parts of tensors, without the cost of making views: the BLAS that LibTorch carries, called
// directly.
#pragma once
#include <cstdint>

namespace ordo {

// A row-major matrix inside a larger one: row i starts at data + i * stride.
template <class T>
struct Rows {
  T* data = nullptr;
  int64_t stride = 0;
  Rows from(int64_t row) const { return {data + row * stride, stride}; }
};

// c [m, n] = alpha * a [m, k] · b [k, n] + beta * c, where a or b may be given as the transpose of what is stored.
struct Product {
  int64_t m = 0, n = 0, k = 0;
  bool a_transposed = false, b_transposed = false;
  double alpha = 1.0, beta = 0.0;
};
void multiply(const Product& p, Rows<const float> a, Rows<const float> b, Rows<float> c);
void multiply(const Product& p, Rows<const double> a, Rows<const double> b, Rows<double> c);

}  // namespace ordo
