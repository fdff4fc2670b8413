// SPDX-License-Identifier: Apache-2.0
#include "support/tolerance.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/isnan.h>
#include <fmt/format.h>

#include <cstring>

namespace ordo::test {

const Tolerance Tolerance::exact{0.0, 0.0};
const Tolerance Tolerance::fp64{1e-9, 1e-9};
const Tolerance Tolerance::fp32{1e-6, 1e-5};
const Tolerance Tolerance::fp32_sum{1e-5, 1e-4};  // sums of a few hundred fp32 terms in another order
const Tolerance Tolerance::bf16{2e-2, 2e-2};
const Tolerance Tolerance::fp16{2e-3, 2e-3};

std::ostream& operator<<(std::ostream& out, const Closeness& c) { return out << (c.near ? "near" : c.why); }

namespace {
std::string place_text(int64_t flat, at::IntArrayRef sizes) {
  std::string text;
  for (int64_t d = static_cast<int64_t>(sizes.size()) - 1; d >= 0; --d) {
    text = std::to_string(flat % sizes[d]) + (text.empty() ? "" : ", ") + text;
    flat /= sizes[d];
  }
  return "[" + text + "]";
}
Closeness against(const at::Tensor& a, const at::Tensor& b, double absolute, double relative) {
  if (a.sizes() != b.sizes())
    return {false, fmt::format("shapes differ: {} and {}", fmt::join(a.sizes(), "x"), fmt::join(b.sizes(), "x"))};
  if (a.numel() == 0) return {true, ""};
  const at::Tensor x = a.detach().to(at::kCPU, at::kDouble).contiguous(),
                   y = b.detach().to(at::kCPU, at::kDouble).contiguous();
  const double* p = x.const_data_ptr<double>();
  const double* q = y.const_data_ptr<double>();
  int64_t worst = -1;
  double excess = 0.0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    if (p[i] == q[i]) continue;
    const double over = std::abs(p[i] - q[i]) - (absolute + relative * std::abs(q[i]));
    if (!(over <= excess)) {  // NaN counts as far
      worst = i;
      excess = over;
      if (std::isnan(over)) break;
    }
  }
  if (worst < 0) return {true, ""};
  return {false, fmt::format("worst at {}: {:.9g} and {:.9g}, relative error {:.2e}", place_text(worst, x.sizes()),
                             p[worst], q[worst], std::abs(p[worst] - q[worst]) / std::max(std::abs(q[worst]), 1e-300))};
}
}  // namespace

Closeness close(const at::Tensor& a, const at::Tensor& b, Tolerance t) { return against(a, b, t.absolute, t.relative); }

Closeness close_gradient(const at::Tensor& a, const at::Tensor& b, double relative, double model_scale) {
  const double largest = b.numel() == 0 ? 0.0 : b.detach().abs().max().item<double>();
  return against(a, b, relative * std::max(largest, model_scale), 0.0);
}

bool same_bytes(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) return false;
  const at::Tensor x = a.detach().cpu().contiguous(), y = b.detach().cpu().contiguous();
  return std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

}  // namespace ordo::test
