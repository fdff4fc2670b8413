// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/transformer_xl.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/alias.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "ordo/positions/score_parts.h"
#include "ordo/positions/sinusoids.h"

namespace ordo {

namespace {
constexpr SinusoidSettings kXlSines{.layout = SinusoidLayout::half};

// The future of consecutive tokens is hidden by a causal mask: it needs no distances of its own.
bool xl_past_only(const AttentionPass& pass) {
  return pass.mask.causal && pass.mask.prefix == 0 && pass.q.start && pass.k.start &&
         *pass.q.start - *pass.k.start == pass.mask.offset;
}

// For few queries against many keys, as when decoding: the queries are carried back through W_R, instead of every
// distance forward. The same numbers.
constexpr int64_t kXlFewRows = 2;
struct XlFewRows final : ScoreBias {
  XlFewRows(ContentBias of_distances, Tensor w, Tensor v_minus_u)
      : distances(std::move(of_distances)), weight(std::move(w)), other(std::move(v_minus_u)) {}
  Tensor tile(const Tile& t, const Tensor& q, const Tensor& k) const override {
    return distances.tile(t, at::matmul(q + other.to(q.scalar_type()).unsqueeze(1), weight.to(q.scalar_type())), k);
  }
  std::vector<Tensor> inputs() const override { return {weight, other}; }
  bool reads_content() const override { return true; }
  ContentBias distances;  // of queries as wide as the sinusoids
  Tensor weight, other;   // [H, E, D], [H, E]
};
}  // namespace

void fields(Fields& f, TransformerXl::Config& c) {
  f("untie_r", c.untie_r, "the vectors u and v of their own for each layer, instead of one pair for all");
  f("clamp_length", c.clamp_length, "keys farther away count as at this distance; 0: no bound", within(0, 1 << 20));
  f("init_std", c.init_std, "standard deviation of the first values", at_least(0.0));
}

TransformerXl::TransformerXl(const Config& config, const PositionFacts& facts)
    : untied_(config.untie_r),
      heads_(facts.heads),
      clamp_(config.clamp_length),
      init_std_(config.init_std),
      table_([dim = facts.dim](const Tensor& distances) { return ordo::sinusoids(distances, dim, kXlSines); }) {
  require<ConfigError>(facts.dim % 2 == 0, "transformer_xl: its sinusoids need an even model.dim, found {}", facts.dim);
  r_weight_ = register_parameter("r_weight", at::zeros({facts.layers, facts.heads * facts.head_dim, facts.dim}));
  const std::vector<int64_t> shape{untied_ ? facts.layers : 1, facts.heads, facts.head_dim};
  u_ = register_parameter("u", at::zeros(shape));
  v_ = register_parameter("v", at::zeros(shape));
}

Tensor TransformerXl::query(const Tensor& q, const Positions& at, int64_t layer) {
  (void)at;
  return (q + of_layer(u_, layer).unsqueeze(1)).to(q.scalar_type());
}

Tensor TransformerXl::frequencies(int64_t length) const {
  (void)length;
  return sinusoid_frequencies(r_weight_.size(2), kXlSines);
}

Tensor TransformerXl::sinusoids(int64_t low, int64_t high, at::ScalarType type, at::Device device) {
  const int64_t farthest = std::max(std::abs(low), std::abs(high));
  const Tensor rows = table_.at(consecutive(0, farthest + 1, device), type).squeeze(0);  // of distances 0, 1, …
  std::vector<Tensor> parts;
  if (low < 0) parts.push_back(rows.slice(0, std::max<int64_t>(1, -high), 1 - low).flip(0));  // the past
  if (low <= 0 && high >= 0) parts.push_back(rows.slice(0, 0, 1));
  if (high > 0) {  // the future: sines change their sign
    const Tensor there = rows.slice(0, std::max<int64_t>(1, low), high + 1);
    const int64_t half = rows.size(1) / 2;
    parts.push_back(at::cat({-there.slice(1, 0, half), there.slice(1, half)}, 1));
  }
  return parts.size() == 1 ? parts[0] : at::cat(parts, 0);
}

std::shared_ptr<const ScoreBias> TransformerXl::scores(const AttentionPass& pass) {
  refuse_coords(pass, kKind);
  auto [low, high] = clamp_ > 0 ? std::pair{-clamp_, clamp_} : offset_range(pass.q, pass.k);
  if (xl_past_only(pass)) high = std::min<int64_t>(high, 0);
  const RowOfOffset row = [low = low, high = high](const Tensor& offset) { return offset.clamp(low, high) - low; };
  const Tensor weight = r_weight_.select(0, pass.layer);
  const Tensor other = of_layer(v_, pass.layer) - of_layer(u_, pass.layer);
  const auto type = score_type(pass);
  const Tensor rows = sinusoids(low, high, type, weight.device());
  if (pass.q.length() <= kXlFewRows)
    return std::make_shared<XlFewRows>(ContentBias(pass, {.queries = rows.unsqueeze(0)}, row),
                                       weight.view({heads_, -1, weight.size(1)}), other);
  const Tensor r = at::linear(rows, weight.to(type)).view({rows.size(0), heads_, -1}).transpose(0, 1);  // [H, R, E]
  const Tensor of_other = at::matmul(r, other.to(type).unsqueeze(2)).squeeze(2) * pass.scale;
  // An alias: the numbers of `of_other` come from r itself, whose gradient would else count them twice in a tile.
  return std::make_shared<ContentBias>(pass, ContentForm{.queries = at::alias(r), .offsets = of_other}, row);
}

void TransformerXl::reset(const Initialiser& init, const std::string& path) {
  init.normal(r_weight_, parameter_name(path, "r_weight"), init_std_);
  init.normal(u_, parameter_name(path, "u"), init_std_);
  init.normal(v_, parameter_name(path, "v"), init_std_);
}

}  // namespace ordo
