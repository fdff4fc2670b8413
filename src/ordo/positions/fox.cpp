// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/fox.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/log_sigmoid.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

namespace ordo {

namespace {
// Sums up to here differ by less than 1e-4 after rounding to fp32.
constexpr double kFoxFlat = 1024.0;

// Running sums are held in fp64: those of a long text are large where their differences are small. A tile subtracts the
// sum at its last row first, so that what is rounded to fp32 is small wherever weights are not.
struct GateSums final : ScoreBias {
  GateSums(Tensor forward, Tensor backward, int64_t first, at::ScalarType type)
      : sums(std::move(forward)), future(std::move(backward)), first_row(first), wide(type) {}

  Tensor difference(const Tensor& all, const Tile& t) const {  // all(row) - all(column)
    const Tensor reference = all.slice(2, first_row + t.q1 - 1, first_row + t.q1).detach();
    const Tensor rows = (all.slice(2, first_row + t.q0, first_row + t.q1) - reference).to(wide);
    return rows.unsqueeze(3) - (all.slice(2, t.k0, t.k1) - reference).to(wide).unsqueeze(2);
  }

  Tensor tile(const Tile& t, const Tensor& q, const Tensor& k) const override {
    (void)q, (void)k;
    const Tensor past = difference(sums, t);
    if (!future.defined()) return past;
    const auto options = sums.options().dtype(at::kLong);
    const Tensor behind = at::arange(t.k0, t.k1, options).unsqueeze(0) -
                          at::arange(first_row + t.q0, first_row + t.q1, options).unsqueeze(1);
    return at::where(behind.le(0), past, -difference(future, t));
  }

  // One vector for all rows, counted from the first key: a later token changes nothing earlier, not even its rounding.
  // Texts whose sums leave fp32 too few digits go by tiles, where looking costs nothing.
  std::optional<Tensor> by_key() const override {
    if (future.defined() || sums.size(2) == 0) return std::nullopt;
    if (sums.is_cpu() && -sums.min().item<double>() > kFoxFlat) return std::nullopt;
    return -sums.to(wide).unsqueeze(2);
  }

  std::vector<Tensor> inputs() const override {
    if (!future.defined() || future.is_same(sums)) return {sums};
    return {sums, future};
  }

  Tensor sums, future;  // fp64 [B, H, Lk]: ln f summed up to and including each key; future: where both sides are seen
  int64_t first_row;    // the column of query 0: queries are the last keys
  at::ScalarType wide;
};
}  // namespace

void fields(Fields& f, Fox::Config& c) {
  f("bias_init", c.bias_init, "first value of the gates' bias; a high one starts with all gates open",
    within(-1e4, 1e4));
}

Fox::Fox(const Config& config, const PositionFacts& facts)
    : bias_init_(config.bias_init), heads_(facts.heads), causal_(facts.causal) {
  require<ConfigError>(!facts.cross,
                       "fox: a query of another sequence has no gates between itself and a key; use none");
  const int64_t gates = causal_ ? heads_ : 2 * heads_;
  weight_ = register_parameter("weight", at::zeros({facts.layers, gates, facts.dim}));
  bias_ = register_parameter("bias", at::zeros({facts.layers, gates}));
}

Tensor Fox::keep(const Tensor& x, const Positions& at, int64_t layer) {
  (void)at;
  return at::log_sigmoid(
      at::linear(x.to(accumulate_type(x.scalar_type())), weight_.select(0, layer), bias_.select(0, layer)));
}

std::shared_ptr<const ScoreBias> Fox::scores(const AttentionPass& pass) {
  Tensor logs = pass.kept;
  if (pass.mask.keys.defined()) logs = logs.masked_fill(pass.mask.keys.logical_not().unsqueeze(2), 0.0);
  const Tensor sums = logs.transpose(1, 2).to(at::kDouble).cumsum(2);  // [B, H|2H, Lk]
  const int64_t first = pass.k.length() - pass.q.length();
  const Tensor past = sums.slice(1, 0, heads_);
  Tensor future;
  if (!causal_)
    future = sums.slice(1, heads_);
  else if (pass.mask.prefix > 0)  // keys of a prefix that stand behind a query fade by the same gates
    future = past;
  return std::make_shared<GateSums>(past, future, first, accumulate_type(logs.scalar_type()));
}

void Fox::reset(const Initialiser& init, const std::string& path) {
  init.normal(weight_, parameter_name(path, "weight"), init.std(weight_.size(-1)));
  bias_.fill_(bias_init_);
}

}  // namespace ordo
