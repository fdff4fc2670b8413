// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/fire.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "ordo/positions/offsets.h"
#include "ordo/positions/scalar_mlp.h"

namespace ordo {

void fields(Fields& f, Fire::Config& c) {
  f("hidden", c.hidden, "width of the learned function's inner layer", within(1, 1 << 16));
  f("init_c", c.init_c, "first value of c: distances are squeezed by ln(|c d| + 1)", within(-1e6, 1e6));
  f("init_L", c.init_L, "queries before this position divide by it, later ones by their own; 0: the trained length",
    at_least(0.0));
  f("eps", c.eps, "added to what is divided by", above(0.0));
  f("shared", c.shared, "one function for all layers; false: one a layer");
}

Fire::Fire(const Config& config, const PositionFacts& facts) : config_(config), sets_{config.shared, facts.layers} {
  require<ConfigError>(facts.causal,
                       "fire: it knows how far back a key lies, nothing ahead; in a stack that sees both sides use "
                       "t5_bias, kerple or alibi");
  require<ConfigError>(config.init_c != 0.0,
                       "fire: with init_c 0 all distances look alike, and nothing is learned; "
                       "use 0.1");
  if (config_.init_L == 0.0)
    config_.init_L = static_cast<double>(facts.trained_length > 0 ? facts.trained_length : facts.max_length);
  require<ConfigError>(config_.init_L > 0.0, "fire: init_L is 0 and the model has no max_length; give one of them");
  const auto parameter = [&](const char* name, const std::vector<int64_t>& one) {
    return register_parameter(name, at::zeros(sets_.shape(one)));
  };
  all_.w1 = parameter("w1", {config.hidden});
  all_.b1 = parameter("b1", {config.hidden});
  all_.w2 = parameter("w2", {facts.heads, config.hidden});
  all_.b2 = parameter("b2", {facts.heads});
  all_.c = parameter("c", {});
  all_.L_multiplier = parameter("L_multiplier", {});
}

struct Fire::Bias final : ScoreBias {
  Bias(const AttentionPass& pass, const Numbers& numbers, double L, double eps)
      : q_(pass.q), k_(pass.k), n_(numbers), limit_((n_.L_multiplier * L).abs()), eps_(eps) {
    refuse_coords(pass, kKind, "time_decay");
  }

  Tensor tile(const Tile& t, const Tensor& q, const Tensor& k) const override {
    (void)q, (void)k;
    const Tensor rows = q_.slice(t.q0, t.q1).index.unsqueeze(2), columns = k_.slice(t.k0, t.k1).index.unsqueeze(1);
    const Tensor reach = at::maximum(rows.to(n_.c.scalar_type()), limit_);  // [B|1, q, 1]
    return learned(rows - columns, reach).transpose(0, 1);
  }

  // While no query is past the limit, the limit is all that is divided by.
  std::optional<Tensor> by_offset() const override {
    if (!q_.start || !k_.start) return std::nullopt;
    const int64_t last = *q_.start + q_.length() - 1;
    if (static_cast<double>(last) > limit_.item<double>()) return std::nullopt;
    return learned(-offsets_of_call(q_, k_), limit_);
  }

  std::vector<Tensor> inputs() const override { return {n_.w1, n_.b1, n_.w2, n_.b2, n_.c, limit_}; }

 private:
  Tensor squeezed(const Tensor& x) const { return (n_.c * x).abs().log1p(); }
  // Distances int64 [...] -> [H, ...].
  Tensor learned(const Tensor& distance, const Tensor& reach) const {
    const Tensor d = distance.clamp_min(0).to(n_.c.scalar_type());
    return scalar_mlp(squeezed(d) / (squeezed(reach) + eps_), n_.w1, n_.b1, n_.w2, n_.b2);
  }

  Positions q_, k_;
  Numbers n_;
  Tensor limit_;  // |l L|
  double eps_;
};

std::shared_ptr<const ScoreBias> Fire::scores(const AttentionPass& pass) {
  const auto type = score_type(pass);
  const auto own = [&](const Tensor& all) { return sets_.of(all, pass.layer).to(type); };
  const Numbers numbers{own(all_.w1), own(all_.b1), own(all_.w2), own(all_.b2), own(all_.c), own(all_.L_multiplier)};
  return std::make_shared<Bias>(pass, numbers, config_.init_L, config_.eps);
}

// The learned function starts as LibTorch's linear layers do, as in the authors' code: its bends spread over [-1, 1].
void Fire::reset(const Initialiser& init, const std::string& path) {
  const double inner = 1.0 / std::sqrt(static_cast<double>(config_.hidden));
  const auto draw = [&](const Tensor& parameter, const char* name, double bound) {
    init.uniform(parameter, parameter_name(path, name), -bound, bound);
  };
  draw(all_.w1, "w1", 1.0);
  draw(all_.b1, "b1", 1.0);
  draw(all_.w2, "w2", inner);
  draw(all_.b2, "b2", inner);
  all_.c.fill_(config_.init_c);
  all_.L_multiplier.fill_(1.0);
}

}  // namespace ordo
