// SPDX-License-Identifier: Apache-2.0
#include "ordo/ops/draw.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>

#include "ordo/ops/clones.h"

namespace ordo {

namespace {

// The counter hash of dropout: two multiply-xorshift rounds (a 32-bit mixer of low bias) over a Weyl sequence, one half of the key before
// each. It is written twice, as a loop and in tensor operators; a test holds them equal.
constexpr uint32_t kWeyl = 0x9E3779B9U, kFirstFactor = 0x21F0AAADU, kSecondFactor = 0x735A2D97U;
constexpr int64_t kCounterBlock = int64_t{1} << 32;   // indices a 32-bit counter tells apart; each block has its own key

struct DropRule {
  uint32_t first, second;   // the halves of the key
  uint32_t limit;           // dropped when the hash is below
  double up;                // 1 / (1 - p); 0 when everything is dropped

  DropRule(double p, uint64_t key, int64_t block) {
    const uint64_t mixed = mix(key, static_cast<uint64_t>(block));
    first = static_cast<uint32_t>(mixed);
    second = static_cast<uint32_t>(mixed >> 32);
    limit = static_cast<uint32_t>(std::min(std::floor(p * 0x1p32), 0x1p32 - 1));
    up = p < 1.0 ? 1.0 / (1.0 - p) : 0.0;
  }
};

inline __attribute__((always_inline)) uint32_t drop_hash(uint32_t counter, uint32_t first, uint32_t second) {
  uint32_t h = (counter * kWeyl) ^ first;
  h = (h ^ (h >> 16)) * kFirstFactor;
  h ^= second;
  h = (h ^ (h >> 15)) * kSecondFactor;
  return h ^ (h >> 15);
}

ORDO_CLONES void drop_floats(const float* x, float* y, uint32_t begin, int64_t count, const DropRule& rule) {
  const uint32_t first = rule.first, second = rule.second, limit = rule.limit;
  const float up = static_cast<float>(rule.up);
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const float kept = x[i] * up;
    y[i] = drop_hash(begin + static_cast<uint32_t>(i), first, second) < limit ? 0.0F : kept;
  }
}

template <class T>
void drop_elements(const T* x, T* y, uint32_t begin, int64_t count, const DropRule& rule) {
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const Wide up = static_cast<Wide>(rule.up);
  for (int64_t i = 0; i < count; ++i) {
    const bool dropped = drop_hash(begin + static_cast<uint32_t>(i), rule.first, rule.second) < rule.limit;
    y[i] = dropped ? T(0) : static_cast<T>(static_cast<Wide>(x[i]) * up);
  }
}
template <>
void drop_elements(const float* x, float* y, uint32_t begin, int64_t count, const DropRule& rule) {
  drop_floats(x, y, begin, count, rule);
}

// x and y: the elements of one block.
template <class T>
void drop_block(const Tensor& x, const Tensor& y, const DropRule& rule) {
  const T* from = x.const_data_ptr<T>();
  T* to = y.mutable_data_ptr<T>();
  constexpr int64_t kGrain = 1 << 15;
  at::parallel_for(0, x.numel(), kGrain, [&](int64_t begin, int64_t end) {
    drop_elements(from + begin, to + begin, static_cast<uint32_t>(begin), end - begin, rule);
  });
}

// The same in tensor operators, for other devices: int64 arithmetic whose low 32 bits count.
void drop_block_anywhere(const Tensor& x, const Tensor& y, const DropRule& rule) {
  constexpr int64_t kLow = 0xFFFFFFFF, kSlice = int64_t{1} << 24;   // bounds the int64 tensors of a slice
  const auto wide = accumulate_type(x.scalar_type());
  for (int64_t begin = 0; begin < x.numel(); begin += kSlice) {
    const int64_t end = std::min(x.numel(), begin + kSlice);
    Tensor h = at::arange(begin, end, x.options().dtype(at::kLong));
    h.mul_(static_cast<int64_t>(kWeyl)).bitwise_and_(kLow).bitwise_xor_(static_cast<int64_t>(rule.first));
    h.bitwise_xor_(h.bitwise_right_shift(16)).mul_(static_cast<int64_t>(kFirstFactor)).bitwise_and_(kLow);
    h.bitwise_xor_(static_cast<int64_t>(rule.second));
    h.bitwise_xor_(h.bitwise_right_shift(15)).mul_(static_cast<int64_t>(kSecondFactor)).bitwise_and_(kLow);
    h.bitwise_xor_(h.bitwise_right_shift(15));
    const Tensor kept = x.slice(0, begin, end).to(wide).mul(rule.up);
    y.slice(0, begin, end).copy_(kept.masked_fill_(h.lt(static_cast<int64_t>(rule.limit)), 0.0));
  }
}

Tensor drop(const Tensor& x, double p, uint64_t key) {
  const Tensor from = x.contiguous(), flat = from.view({-1});
  const Tensor to = at::empty_like(from), flat_to = to.view({-1});
  for (int64_t begin = 0; begin < flat.numel(); begin += kCounterBlock) {
    const int64_t end = std::min(flat.numel(), begin + kCounterBlock);
    const DropRule rule(p, key, begin / kCounterBlock);
    const Tensor x_block = flat.slice(0, begin, end), y_block = flat_to.slice(0, begin, end);
    const auto type = x.scalar_type();
    if (!x.is_cpu()) drop_block_anywhere(x_block, y_block, rule);
    else if (type == at::kFloat) drop_block<float>(x_block, y_block, rule);
    else if (type == at::kDouble) drop_block<double>(x_block, y_block, rule);
    else if (type == at::kBFloat16) drop_block<at::BFloat16>(x_block, y_block, rule);
    else if (type == at::kHalf) drop_block<at::Half>(x_block, y_block, rule);
    else throw Error(fmt::format("dropout: expected fp32, fp64, bf16 or fp16, found {}", c10::toString(type)));
  }
  return to;
}

struct Dropout : torch::autograd::Function<Dropout> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& x, double p, int64_t key) {
    ctx->saved_data["p"] = p;
    ctx->saved_data["key"] = key;
    return drop(x, p, static_cast<uint64_t>(key));
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    return {Dropout::apply(grads[0], ctx->saved_data["p"].toDouble(), ctx->saved_data["key"].toInt()), {}, {}};
  }
};

void require_probability(double p) { require(p >= 0.0 && p <= 1.0, "dropout: expected a probability between 0 and 1, found {}", p); }

// A generator of its own, so that no draw depends on another one.
template <class Fill>
void draw_into(const Tensor& into, uint64_t key, Fill fill) {
  const at::NoGradGuard no_grad;
  const Tensor drawn = at::empty(into.sizes(), at::TensorOptions(at::kFloat));
  fill(drawn, at::detail::createCPUGenerator(key));
  into.copy_(drawn);
}

}  // namespace

Tensor dropout(const Tensor& x, double p, uint64_t key) {
  require_probability(p);
  if (p == 0.0) return x;
  return Dropout::apply(x, p, static_cast<int64_t>(key));
}

Tensor dropout_mask(at::IntArrayRef shape, double p, uint64_t key, const at::TensorOptions& options) {
  require_probability(p);
  const at::NoGradGuard no_grad;
  const Tensor ones = at::ones(shape, options);
  return p == 0.0 ? ones : drop(ones, p, key);
}

void draw_normal(const Tensor& into, double std, uint64_t key) {
  draw_into(into, key, [&](const Tensor& t, const at::Generator& generator) { t.normal_(0.0, std, generator); });
}

void draw_uniform(const Tensor& into, double low, double high, uint64_t key) {
  draw_into(into, key, [&](const Tensor& t, const at::Generator& generator) { t.uniform_(low, high, generator); });
}

}  // namespace ordo
