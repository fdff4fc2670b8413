// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>

#include <cmath>

#include "ordo/positions/alibi.h"
#include "ordo/positions/time_decay.h"
#include "support/positions.h"
#include "support/times.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {
using Decay = TimeDecay::Variant;
std::shared_ptr<TimeDecay> decay(const TimeDecay::Config& config) {
  auto made = std::make_shared<TimeDecay>(config, small_facts());
  initialise(*made, 1, {}, 2);
  return made;
}
AttentionPass decay_pass(const Positions& q, const Positions& k) { return {.q = q, .k = k, .mask = {.causal = true}}; }
}  // namespace

TEST_CASE("time_decay: on the index it starts as alibi", "[unit]") {
  const AttentionPass pass = decay_pass(consecutive(3, 4, at::kCPU), consecutive(0, 7, at::kCPU));
  Alibi alibi({.direction = Alibi::Direction::symmetric}, small_facts());
  CHECK(close(dense_bias(*decay({})->scores(pass), pass), dense_bias(*alibi.scores(pass), pass), Tolerance::fp32));
}

TEST_CASE("time_decay: stamps are what counts, in units", "[unit]") {
  const auto encoding = decay({.unit = 60.0, .shared = true});
  const at::NoGradGuard plain;
  encoding->named_parameters()["rate"].fill_(std::log(std::exp(0.5) - 1.0));  // softplus gives 0.5
  const AttentionPass pass = decay_pass(stamped({1.7e9 + 90.0}), stamped({1.7e9, 1.7e9 + 60.0, 1.7e9 + 90.0}));
  const Tensor bias = dense_bias(*encoding->scores(pass), pass)[0][2][0];
  CHECK(bias[0].item<double>() == Approx(-0.75));
  CHECK(bias[1].item<double>() == Approx(-0.25));
  CHECK(bias[2].item<double>() == 0.0);
}

TEST_CASE("time_decay: log is the logarithm of one step more", "[unit]") {
  const auto encoding = decay({.variant = Decay::log});
  const at::NoGradGuard plain;
  encoding->named_parameters()["rate"].fill_(std::log(std::exp(2.0) - 1.0));
  encoding->named_parameters()["power"].fill_(std::log(std::exp(3.0) - 1.0));
  const AttentionPass pass = decay_pass(consecutive(5, 1, at::kCPU), consecutive(0, 6, at::kCPU));
  CHECK(dense_bias(*encoding->scores(pass), pass)[0][0][0][1].item<double>() == Approx(-3.0 * std::log(9.0)));
}

TEST_CASE("time_decay: the form by offset equals the tiles, and is not there for stamps", "[unit]") {
  for (const Decay variant : {Decay::linear, Decay::log}) {
    const auto encoding = decay({.variant = variant});
    const AttentionPass pass = decay_pass(consecutive(2, 3, at::kCPU), consecutive(0, 5, at::kCPU));
    const auto bias = encoding->scores(pass);
    const Tensor vector = bias->by_offset().value(), dense = dense_bias(*bias, pass)[0];
    for (int64_t row = 0; row < 3; ++row)
      CHECK(close(vector.slice(1, 2 - row, 7 - row), dense.select(1, row), Tolerance::fp32));
    CHECK(same_bytes(bias->tile({1, 3, 2, 4}, {}, {}).contiguous(),
                     dense.slice(1, 1, 3).slice(2, 2, 4).unsqueeze(0).contiguous()));
    const AttentionPass timed = decay_pass(stamped({1, 2, 3}), stamped({1, 2, 3}));
    CHECK_FALSE(encoding->scores(timed)->by_offset().has_value());
  }
}

TEST_CASE("time_decay: each layer learns its own rate and power, or all share one", "[unit]") {
  for (const bool shared : {true, false}) {
    const auto encoding = decay({.variant = Decay::log, .shared = shared});
    AttentionPass pass = decay_pass(consecutive(0, 4, at::kCPU), consecutive(0, 4, at::kCPU));
    pass.layer = 1;
    dense_bias(*encoding->scores(pass), pass).sum().backward();
    for (const char* name : {"rate", "power"}) {
      const Tensor gradient = encoding->named_parameters()[name].grad().view({-1, 4});
      CHECK(gradient.size(0) == (shared ? 1 : 2));
      CHECK(gradient[gradient.size(0) - 1].abs().min().item<double>() > 0.0);
      if (!shared) CHECK(gradient[0].abs().max().item<double>() == 0.0);
    }
  }
}

TEST_CASE("time_decay: stamps on one side alone are refused", "[unit]") {
  const AttentionPass pass = decay_pass(stamped({1, 2}), consecutive(0, 2, at::kCPU));
  CHECK_THROWS_WITH(decay({})->scores(pass), Catch::Contains("both have time stamps"));
}

}  // namespace ordo::test
