// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/t5_bias.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

namespace ordo {

namespace {
// Of distances x = 0, 1, …, int64. The logarithm is taken in fp32, as everywhere: a bucket off by one is another
// weight.
Tensor t5_distance_buckets(const Tensor& x, int64_t buckets, int64_t max_distance) {
  const int64_t exact = buckets / 2;
  const double span = std::log(static_cast<double>(max_distance) / static_cast<double>(exact));
  const Tensor logarithm = (x.clamp_min(exact).to(at::kFloat) / exact).log();
  const Tensor far = exact + (logarithm / span * (buckets - exact)).to(at::kLong);
  return at::where(x < exact, x, far.clamp_max(buckets - 1));
}

// Of the offsets key - query from -max_distance to max_distance.
Tensor t5_offset_buckets(int64_t buckets, int64_t max_distance, bool causal) {
  const Tensor offset = at::arange(-max_distance, max_distance + 1, at::kLong);
  if (causal) return t5_distance_buckets((-offset).clamp_min(0), buckets, max_distance);
  return t5_distance_buckets(offset.abs(), buckets / 2, max_distance) + (offset > 0) * (buckets / 2);
}

Tensor t5_looked_up(const Tensor& buckets, const Tensor& offset) {
  const int64_t reach = buckets.size(0) / 2;
  return buckets.take(offset.clamp(-reach, reach) + reach);
}
}  // namespace

void fields(Fields& f, T5Bias::Config& c) {
  f("num_buckets", c.num_buckets, "learned numbers a head; in stacks that see both sides half of them for each side",
    within(2, 1 << 20));
  f("max_distance", c.max_distance, "distances from here on share the last bucket", within(2, 1 << 24));
  f("shared", c.shared, "one table for all layers; false: one a layer");
  f("init_std", c.init_std, "standard deviation of the first values; absent: dim^-0.5", at_least(0.0));
}

T5Bias::T5Bias(const Config& config, const PositionFacts& facts)
    : sets_{config.shared, facts.layers},
      init_std_(config.init_std.value_or(1.0 / std::sqrt(static_cast<double>(std::max<int64_t>(facts.dim, 1))))) {
  const int64_t n = config.num_buckets, exact = (facts.causal ? n : n / 2) / 2;
  require<ConfigError>(facts.causal || (n % 2 == 0 && n >= 4),
                       "t5_bias: num_buckets ({}) is shared by past and future in a stack that sees both sides; use an "
                       "even number from 4 on",
                       n);
  require<ConfigError>(
      config.max_distance > exact,
      "t5_bias: max_distance ({}) must be larger than {}, the number of distances that have a bucket of "
      "their own with num_buckets {}; raise it, or use fewer buckets",
      config.max_distance, exact, n);
  buckets_ = FixedTensor(t5_offset_buckets(n, config.max_distance, facts.causal));
  weight_ = register_parameter("weight", at::zeros(sets_.shape({n, facts.heads})));
}

Tensor T5Bias::buckets(const Tensor& offset) const { return t5_looked_up(buckets_.on(offset.device()), offset); }

struct T5Bias::Bias final : OffsetBias {
  Bias(const AttentionPass& pass, const Tensor& table, Tensor buckets)
      : OffsetBias(pass, {table}), table_(table), buckets_(std::move(buckets)) {}
  Tensor at(const Tensor& offset) const override {
    return at::embedding(table_, t5_looked_up(buckets_, offset.squeeze(1))).movedim(-1, 1);
  }

 private:
  Tensor table_, buckets_;
};

std::shared_ptr<const ScoreBias> T5Bias::scores(const AttentionPass& pass) {
  return std::make_shared<Bias>(pass, sets_.of(weight_, pass.layer).to(score_type(pass)),
                                buckets_.on(pass.q.index.device()));
}

void T5Bias::reset(const Initialiser& init, const std::string& path) {
  init.normal(weight_, parameter_name(path, "weight"), init_std_);
}

}  // namespace ordo
