// SPDX-License-Identifier: Apache-2.0
#include "ordo/ops/draw.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <c10/util/accumulate.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "ordo/ops/clones.h"
#include "ordo/ops/type_name.h"

namespace ordo {

namespace {

// The counter hash of dropout: two multiply-xorshift rounds (a 32-bit mixer of low bias) over a Weyl sequence, one half
// of the key before each. It is written twice, as a loop and in tensor operators; a test holds them equal.
constexpr uint32_t kWeyl = 0x9E3779B9U, kFirstFactor = 0x21F0AAADU, kSecondFactor = 0x735A2D97U;
constexpr int64_t kCounterBlock = int64_t{1} << 32;  // indices a 32-bit counter tells apart; each block has its own key

struct DropRule {
  uint32_t first, second;  // the halves of the key
  uint32_t limit;          // dropped when the hash is below
  double up;               // 1 / (1 - p); 0 when everything is dropped

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

// The elements [begin, begin + count) of a tensor, from x to y (which may be x).
template <class T>
void drop_run(const T* x, T* y, int64_t begin, int64_t count, double p, uint64_t key) {
  while (count > 0) {
    const int64_t now = std::min(count, kCounterBlock - begin % kCounterBlock);
    drop_elements(x, y, static_cast<uint32_t>(begin), now, DropRule(p, key, begin / kCounterBlock));
    x += now;
    y += now;
    begin += now;
    count -= now;
  }
}

// Calls do_it with a null pointer of the element's type.
template <class DoIt>
void for_type(at::ScalarType type, DoIt do_it) {
  switch (type) {
    case at::kFloat:
      return do_it(static_cast<const float*>(nullptr));
    case at::kDouble:
      return do_it(static_cast<const double*>(nullptr));
    case at::kBFloat16:
      return do_it(static_cast<const at::BFloat16*>(nullptr));
    case at::kHalf:
      return do_it(static_cast<const at::Half*>(nullptr));
    default:
      throw Error(fmt::format("dropout: expected fp32, fp64, bf16 or fp16, found {}", type_name(type)));
  }
}

// The same hash in tensor operators, for other devices: int64 arithmetic of which the low 32 bits count. index: int64,
// of a tensor of `numel`.
Tensor dropped_anywhere(const Tensor& index, int64_t numel, double p, uint64_t key) {
  constexpr int64_t kLow = 0xFFFFFFFF;
  const DropRule rule(p, key, 0);
  Tensor first = at::scalar_tensor(static_cast<int64_t>(rule.first), at::kLong),
         second = at::scalar_tensor(static_cast<int64_t>(rule.second), at::kLong);
  if (numel > kCounterBlock) {
    std::vector<int64_t> firsts, seconds;
    for (int64_t block = 0; block * kCounterBlock < numel; ++block) {
      firsts.push_back(DropRule(p, key, block).first);
      seconds.push_back(DropRule(p, key, block).second);
    }
    const Tensor block = index.bitwise_right_shift(32);
    first = at::tensor(firsts, index.options()).take(block);
    second = at::tensor(seconds, index.options()).take(block);
  }
  Tensor h = index.mul(static_cast<int64_t>(kWeyl)).bitwise_and_(kLow).bitwise_xor_(first);
  h.bitwise_xor_(h.bitwise_right_shift(16))
      .mul_(static_cast<int64_t>(kFirstFactor))
      .bitwise_and_(kLow)
      .bitwise_xor_(second);
  h.bitwise_xor_(h.bitwise_right_shift(15)).mul_(static_cast<int64_t>(kSecondFactor)).bitwise_and_(kLow);
  return h.bitwise_xor_(h.bitwise_right_shift(15)).lt(static_cast<int64_t>(rule.limit));
}

Tensor drop_anywhere(const Tensor& x, double p, uint64_t key) {
  constexpr int64_t kSlice = int64_t{1} << 24;  // bounds the int64 tensors
  const Tensor from = x.contiguous(), to = at::empty_like(from), flat = from.view({-1}), flat_to = to.view({-1});
  const double up = DropRule(p, key, 0).up;
  for (int64_t begin = 0; begin < flat.numel(); begin += kSlice) {
    const int64_t end = std::min(flat.numel(), begin + kSlice);
    const Tensor dropped = dropped_anywhere(at::arange(begin, end, x.options().dtype(at::kLong)), flat.numel(), p, key);
    const Tensor kept = flat.slice(0, begin, end).to(accumulate_type(x.scalar_type())).mul(up);
    flat_to.slice(0, begin, end).copy_(kept.masked_fill(dropped, 0.0));
  }
  return to;
}

Tensor drop(const Tensor& x, double p, uint64_t key) {
  if (!x.is_cpu()) return drop_anywhere(x, p, key);
  const Tensor from = x.contiguous(), to = at::empty_like(from);
  for_type(x.scalar_type(), [&]<class T>(const T*) {
    const T* const source = from.const_data_ptr<T>();
    T* const target = to.mutable_data_ptr<T>();
    constexpr int64_t kGrain = 1 << 15;
    at::parallel_for(0, from.numel(), kGrain, [&](int64_t begin, int64_t end) {
      drop_run(source + begin, target + begin, begin, end - begin, p, key);
    });
  });
  return to;
}

// A rectangle of the last two dimensions of [matrices, rows, columns].
struct Part {
  int64_t matrices, rows, columns;
  Tile tile;
  int64_t numel() const { return matrices * rows * columns; }
  int64_t first_of(int64_t line) const {
    return (line / tile.rows() * rows + tile.q0 + line % tile.rows()) * columns + tile.k0;
  }  // of one row of all tiles
};

// Multiplies ones [matrices, tile.rows(), tile.columns()] by their fates.
void drop_part(const Tensor& ones, const Part& part, double p, uint64_t key) {
  const int64_t width = part.tile.columns();
  for_type(ones.scalar_type(), [&]<class T>(const T*) {
    T* const data = ones.mutable_data_ptr<T>();
    const int64_t grain = std::max<int64_t>(1, (1 << 15) / width);
    at::parallel_for(0, part.matrices * part.tile.rows(), grain, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line)
        drop_run(data + line * width, data + line * width, part.first_of(line), width, p, key);
    });
  });
}

Tensor part_index(const Part& part, at::Device device) {
  const auto options = at::TensorOptions(at::kLong).device(device);
  const Tensor row = at::arange(part.tile.q0, part.tile.q1, options).unsqueeze(1),
               column = at::arange(part.tile.k0, part.tile.k1, options).unsqueeze(0);
  const Tensor matrix = at::arange(part.matrices, options).view({-1, 1, 1});
  return (matrix * part.rows + row) * part.columns + column;
}

struct KeyedDropout : torch::autograd::Function<KeyedDropout> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& x, double p, int64_t key) {
    ctx->saved_data["p"] = p;
    ctx->saved_data["key"] = key;
    return drop(x, p, static_cast<uint64_t>(key));
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    return {KeyedDropout::apply(grads[0], ctx->saved_data["p"].toDouble(), ctx->saved_data["key"].toInt()), {}, {}};
  }
};

void require_probability(double p) {
  require(p >= 0.0 && p <= 1.0, "dropout: expected a probability between 0 and 1, found {}", p);
}

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
  return KeyedDropout::apply(x, p, static_cast<int64_t>(key));
}

Tensor dropout_mask(at::IntArrayRef shape, double p, uint64_t key, const at::TensorOptions& options) {
  require_probability(p);
  const at::NoGradGuard no_grad;
  const Tensor ones = at::ones(shape, options);
  return p == 0.0 ? ones : drop(ones, p, key);
}

Tensor dropout_mask_tile(at::IntArrayRef shape, const Tile& tile, double p, uint64_t key,
                         const at::TensorOptions& options) {
  require_probability(p);
  ORDO_ASSERT(shape.size() >= 2);
  const at::NoGradGuard no_grad;
  const auto leading = shape.slice(0, shape.size() - 2);
  const Part part{c10::multiply_integers(leading), shape[shape.size() - 2], shape.back(), tile};
  std::vector<int64_t> tile_shape = leading.vec();
  tile_shape.insert(tile_shape.end(), {tile.rows(), tile.columns()});
  Tensor mask = at::ones(tile_shape, options);
  if (p == 0.0 || mask.numel() == 0) return mask;
  if (mask.is_cpu())
    drop_part(mask, part, p, key);
  else
    mask.mul_(DropRule(p, key, 0).up)
        .masked_fill_(dropped_anywhere(part_index(part, mask.device()), part.numel(), p, key).view(tile_shape), 0.0);
  return mask;
}

void dropout_run(float* x, int64_t begin, int64_t count, double p, uint64_t key) {
  drop_run<float>(x, x, begin, count, p, key);
}
void dropout_run(double* x, int64_t begin, int64_t count, double p, uint64_t key) {
  drop_run<double>(x, x, begin, count, p, key);
}

void draw_normal(const Tensor& into, double std, uint64_t key) {
  draw_into(into, key, [&](const Tensor& t, const at::Generator& generator) { t.normal_(0.0, std, generator); });
}

void draw_uniform(const Tensor& into, double low, double high, uint64_t key) {
  draw_into(into, key, [&](const Tensor& t, const at::Generator& generator) { t.uniform_(low, high, generator); });
}

Tensor standard_normal(at::IntArrayRef shape, uint64_t key, const at::TensorOptions& options) {
  const Tensor t = at::empty(shape, options);
  draw_normal(t, 1.0, key);
  return t;
}

}  // namespace ordo
