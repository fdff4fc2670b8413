// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/time2vec.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <numbers>

namespace ordo {

void fields(Fields& f, Time2Vec::Config& c) {
  fields(f, c.clock);
  fields(f, c.scales);
  fields(f, c.fusion);
}

Time2Vec::Time2Vec(const Config& config, const PositionFacts& facts)
    : config_(config),
      span_(resolved_span(config.scales, facts.max_length, kKind)),
      fusion_(register_module("fusion", std::make_shared<Fusion>(config.fusion, facts.dim))),
      omega_(register_parameter("omega", at::zeros({fusion_->width()}))),
      phi_(register_parameter("phi", at::zeros({fusion_->width()}))) {}

Tensor Time2Vec::input(const Tensor& x, const Positions& at) {
  // In fp64: a time may be large, and sines want its last digits.
  const Tensor times = clock_times(at, config_.clock, kKind).unsqueeze(-1);
  const Tensor lines = times * omega_.to(at::kDouble) + phi_.to(at::kDouble);
  const Tensor rows = at::cat({lines.slice(-1, 0, 1), lines.slice(-1, 1).sin()}, -1);
  return fusion_->forward(x, rows.to(accumulate_type(x.scalar_type())));
}

Tensor Time2Vec::frequencies(int64_t length) const {
  (void)length;
  return omega_.detach().slice(0, 1).to(at::kDouble).abs() / config_.clock.unit;
}

void Time2Vec::reset(const Initialiser& init, const std::string& path) {
  init.uniform(omega_, parameter_name(path, "omega"), -std::log(span_), -std::log(config_.scales.step));
  omega_.exp_();
  omega_.slice(0, 0, 1).fill_(1.0 / span_);
  init.uniform(phi_, parameter_name(path, "phi"), -std::numbers::pi, std::numbers::pi);
  phi_.slice(0, 0, 1).zero_();
}

}  // namespace ordo
