// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/time_age.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>

#include <cmath>

#include "ordo/positions/table.h"

namespace ordo {

void fields(Fields& f, TimeAge::Config& c) {
  constexpr double kMost = 4096;
  f("features", c.features, "how many time scales", within(1.0, kMost));
  unit_field(f, c.unit);
  fields(f, c.scales);
}

TimeAge::TimeAge(const Config& config, const PositionFacts& facts) : unit_(config.unit) {
  require<ConfigError>(!facts.causal,
                       "time_age: a token's age counts from the row's end, which a causal stack must not know; use "
                       "time_decay");
  require<ConfigError>(config.features > 1 || config.scales.span == 0.0,
                       "time_age: one feature has the scale step alone, and span ({}) would do nothing; leave it out, "
                       "or use 2 features or more",
                       config.scales.span);
  const double ratio = resolved_span(config.scales, facts.max_length, kKind) / config.scales.step;
  std::vector<double> rates;
  for (int64_t m = 0; m < config.features; ++m) {
    const double along = config.features == 1 ? 0.0 : static_cast<double>(m) / static_cast<double>(config.features - 1);
    rates.push_back(1.0 / (config.scales.step * std::pow(ratio, along)));
  }
  rates_ = FixedTensor(at::tensor(rates, at::kDouble));
  project_ = register_module("project", std::make_shared<Linear>(config.features, facts.dim, Linear::Options{}));
}

Tensor TimeAge::input(const Tensor& x, const Positions& at) {
  const Tensor times = real_positions(at);
  const Tensor age = (times.gather(1, document_ends(at).expand_as(times)) - times) / unit_;
  const Tensor features = (age.unsqueeze(-1) * -rates_.on(age.device())).exp();
  return (x + project_->forward(features.to(accumulate_type(x.scalar_type())))).to(x.scalar_type());
}

}  // namespace ordo
