// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/time_decay.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/expm1.h>
#include <ATen/ops/log1p.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/zeros.h>

#include "ordo/positions/offsets.h"
#include "ordo/positions/table.h"
#include "ordo/positions/time.h"

namespace ordo {

namespace {
constexpr NamedValue kTimeDecayVariants[] = {{"linear", static_cast<int>(TimeDecay::Variant::linear)},
                                             {"log", static_cast<int>(TimeDecay::Variant::log)}};
// What softplus turns into `value`.
Tensor inverse_softplus(const Tensor& value) { return at::expm1(value).log(); }
}  // namespace

void fields(Fields& f, TimeDecay::Config& c) {
  f("variant", c.variant, "the penalty grows in a line with time, or as its logarithm", kTimeDecayVariants);
  unit_field(f, c.unit);
  f("shared", c.shared, "one set of parameters for all layers; false: one a layer");
}

TimeDecay::TimeDecay(const Config& config, const PositionFacts& facts)
    : unit_(config.unit), heads_(facts.heads), sets_{config.shared, facts.layers} {
  rate_ = register_parameter("rate", at::zeros(sets_.shape({heads_})));
  if (config.variant == Variant::log) power_ = register_parameter("power", at::zeros(sets_.shape({heads_})));
}

void TimeDecay::reset(const Initialiser& init, const std::string& path) {
  (void)init, (void)path;
  const Tensor head = at::arange(1, heads_ + 1, at::kDouble);
  const Tensor slopes = (head * (-8.0 / static_cast<double>(heads_))).exp2();
  rate_.copy_(inverse_softplus(power_.defined() ? slopes * 2.0 : slopes));
  if (power_.defined()) power_.copy_(inverse_softplus(at::zeros({}, at::kDouble) + 1.0));
}

struct TimeDecay::Bias final : ScoreBias {
  Bias(const AttentionPass& pass, double unit, Tensor rate, Tensor power)
      : q_(pass.q), k_(pass.k), unit_(unit), rate_(std::move(rate)), power_(std::move(power)) {
    require<ConfigError>(q_.coords.defined() == k_.coords.defined(),
                         "time_decay: queries and keys must both have time stamps, or neither");
  }

  // Distances in time, fp64 [B|1, 1, q, k], at least 0, -> [B|1, H, q, k].
  Tensor at(const Tensor& distance) const {
    const Tensor steps = (distance / unit_).to(rate_.scalar_type());
    const Tensor rate = per_head(at::softplus(rate_));
    return power_.defined() ? -per_head(at::softplus(power_)) * at::log1p(rate * steps) : -rate * steps;
  }
  Tensor tile(const Tile& t, const Tensor& q, const Tensor& k) const override {
    (void)q, (void)k;
    const Tensor rows = real_positions(q_.slice(t.q0, t.q1)), columns = real_positions(k_.slice(t.k0, t.k1));
    return at((rows.unsqueeze(2) - columns.unsqueeze(1)).abs().unsqueeze(1));
  }
  std::optional<Tensor> by_offset() const override {
    if (!q_.start || !k_.start || q_.coords.defined()) return std::nullopt;
    return at(offsets_of_call(q_, k_).abs().to(at::kDouble).view({1, 1, 1, -1})).squeeze(0).squeeze(1);
  }
  std::vector<Tensor> inputs() const override {
    return power_.defined() ? std::vector<Tensor>{rate_, power_} : std::vector<Tensor>{rate_};
  }

 private:
  Positions q_, k_;
  double unit_;
  Tensor rate_, power_;  // [H]
};

std::shared_ptr<const ScoreBias> TimeDecay::scores(const AttentionPass& pass) {
  const auto of_layer = [&](const Tensor& p) { return p.defined() ? sets_.of(p, pass.layer).to(score_type(pass)) : p; };
  return std::make_shared<Bias>(pass, unit_, of_layer(rate_), of_layer(power_));
}

}  // namespace ordo
