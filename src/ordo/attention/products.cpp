// SPDX-License-Identifier: Apache-2.0
#include "ordo/attention/products.h"

#include <algorithm>

extern "C" {
void sgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const float* alpha,
            const float* a, const int* lda, const float* b, const int* ldb, const float* beta, float* c,
            const int* ldc);
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc);
}

namespace ordo {

namespace {
// BLAS counts columns first: a row-major c = a b is its cᵀ = bᵀ aᵀ.
template <class T, class Gemm>
void multiply_with(Gemm gemm, const Product& p, Rows<const T> a, Rows<const T> b, Rows<T> c) {
  const char of_a = p.a_transposed ? 'T' : 'N', of_b = p.b_transposed ? 'T' : 'N';
  const int m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
  const int lda = static_cast<int>(std::max(a.stride, p.a_transposed ? p.m : p.k)),
            ldb = static_cast<int>(std::max(b.stride, p.b_transposed ? p.k : p.n));
  const int ldc = static_cast<int>(std::max(c.stride, p.n));
  const T alpha = static_cast<T>(p.alpha), beta = static_cast<T>(p.beta);
  gemm(&of_b, &of_a, &n, &m, &k, &alpha, b.data, &ldb, a.data, &lda, &beta, c.data, &ldc);
}
}  // namespace

void multiply(const Product& p, Rows<const float> a, Rows<const float> b, Rows<float> c) {
  multiply_with<float>(sgemm_, p, a, b, c);
}
void multiply(const Product& p, Rows<const double> a, Rows<const double> b, Rows<double> c) {
  multiply_with<double>(dgemm_, p, a, b, c);
}

}  // namespace ordo
