// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/ops/fused_loss.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

#include <vector>

#include "ordo/core/hash.h"
#include "ordo/ops/autocast.h"
#include "ordo/ops/draw.h"
#include "support/devices.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

// Hidden states, an output layer and targets, some of which are ignored.
struct LossCase {
  Tensor hidden, weight, bias, targets;

  LossCase(int64_t N, int64_t D, int64_t V, at::ScalarType type, bool with_bias, bool ignore_some) {
    hidden = at::zeros({N, D}, type);
    weight = at::zeros({V, D}, type);
    draw_normal(hidden, 1.0, 1);
    draw_normal(weight, 0.5, 2);
    if (with_bias) draw_normal(bias = at::zeros({V}, type), 0.5, 3);
    targets = at::zeros({N}, at::kLong);
    KeyedSequence draw(4);
    for (int64_t i = 0; i < N; ++i)
      targets.mutable_data_ptr<int64_t>()[i] =
          ignore_some && i % 3 == 1 ? kIgnore : static_cast<int64_t>(draw.below(static_cast<uint64_t>(V)));
    for (const Tensor& t : leaves()) t.requires_grad_(true);
  }
  std::vector<Tensor> leaves() const {
    return bias.defined() ? std::vector<Tensor>{hidden, weight, bias} : std::vector<Tensor>{hidden, weight};
  }
};

struct Outcome {
  Tensor loss;
  std::vector<Tensor> gradients;
};
using LossFunction = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const LossOptions&);
Outcome outcome(LossFunction loss, const LossCase& c, const LossOptions& options) {
  const Tensor value = loss(c.hidden, c.weight, c.bias, c.targets, options);
  value.backward();
  Outcome o{value.detach(), {}};
  for (const Tensor& leaf : c.leaves()) {
    o.gradients.push_back(leaf.grad());
    leaf.mutable_grad() = Tensor();
  }
  return o;
}

std::vector<LossOptions> all_options() {
  return {{},
          {.smoothing = 0.1},
          {.z_loss = 1e-3},
          {.softcap = 4.0},
          {.scale = 1.0 / 37},
          {.chunk = 7},
          {.smoothing = 0.2, .z_loss = 1e-2, .softcap = 6.0, .chunk = 11, .scale = 3.0}};
}

constexpr double kSameLoss = 5e-7;  // relative, fp32

void check_equal_to_plain(const LossCase& c, const LossOptions& options, double loss_error, double gradient_error) {
  const Outcome fused = outcome(fused_loss, c, options), plain = outcome(plain_loss, c, options);
  CHECK(fused.loss.scalar_type() == plain.loss.scalar_type());
  const double a = fused.loss.item<double>(), b = plain.loss.item<double>();
  INFO("loss " << a << " and " << b << ", smoothing " << options.smoothing << ", z " << options.z_loss << ", chunk "
               << options.chunk);
  CHECK(std::abs(a - b) <= loss_error * std::abs(b));
  for (size_t i = 0; i < fused.gradients.size(); ++i)
    CHECK(close_gradient(fused.gradients[i], plain.gradients[i], gradient_error));
}

}  // namespace

TEST_CASE("fused loss: equals the plain one in fp32 for every option", "[unit]") {
  for (const bool with_bias : {false, true})
    for (const bool ignore_some : {false, true}) {
      const LossCase c(50, 24, 301, at::kFloat, with_bias, ignore_some);
      for (const LossOptions& options : all_options()) check_equal_to_plain(c, options, kSameLoss, 5e-6);
    }
}

TEST_CASE("fused loss: equals the plain one in fp64 for every option", "[unit]") {
  for (const bool with_bias : {false, true})
    for (const bool ignore_some : {false, true}) {
      const LossCase c(50, 24, 301, at::kDouble, with_bias, ignore_some);
      for (const LossOptions& options : all_options()) check_equal_to_plain(c, options, 1e-13, 1e-12);
    }
}

TEST_CASE("fused loss: equals the plain one at a vocabulary of many chunks", "[unit]") {
  check_equal_to_plain(LossCase(600, 16, 5003, at::kFloat, false, true), {}, kSameLoss, 5e-6);
}

TEST_CASE("fused loss: under bf16 autocast it is as near to fp32 as the plain one", "[unit]") {
  const LossCase c(64, 32, 501, at::kFloat, true, true);
  const LossOptions options{.smoothing = 0.1, .scale = 0.02};
  const auto error = [&](LossFunction loss) {
    const Outcome exact = outcome(plain_loss, c, options);
    const AutocastScope scope(at::kCPU, {true, c10::ScalarType::BFloat16, true});
    const Outcome low = outcome(loss, c, options);
    CHECK(low.loss.scalar_type() == at::kFloat);
    double worst = std::abs(low.loss.item<double>() / exact.loss.item<double>() - 1.0);
    for (size_t i = 0; i < low.gradients.size(); ++i) {
      CHECK(low.gradients[i].scalar_type() == at::kFloat);
      worst = std::max(
          worst, ((low.gradients[i] - exact.gradients[i]).abs().max() / exact.gradients[i].abs().max()).item<double>());
    }
    return worst;
  };
  CHECK(error(fused_loss) <= 1.2 * error(plain_loss));
}

TEST_CASE("fused loss: fp16 keeps small gradients although the scale is tiny", "[unit]") {
  const LossCase c(32, 16, 200, at::kFloat, false, false);
  const Outcome exact = outcome(plain_loss, c, {.scale = 1e-6});
  const AutocastScope scope(at::kCPU, {true, c10::ScalarType::Half, true});
  const Outcome low = outcome(fused_loss, c, {.scale = 1e-6});
  for (size_t i = 0; i < 2; ++i) CHECK(close_gradient(low.gradients[i], exact.gradients[i], 1e-2));
}

TEST_CASE("fused loss: pure bf16 weights get bf16 gradients and an fp32 loss", "[unit]") {
  const LossCase c(32, 16, 200, at::kBFloat16, true, false);
  const Outcome fused = outcome(fused_loss, c, {}), plain = outcome(plain_loss, c, {});
  CHECK(fused.loss.scalar_type() == at::kFloat);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(fused.gradients[i].scalar_type() == at::kBFloat16);
    CHECK(close_gradient(fused.gradients[i], plain.gradients[i], 2e-2));
  }
}

TEST_CASE("fused loss: gradients agree with differences in fp64", "[unit]") {
  const LossOptions options{.smoothing = 0.1, .z_loss = 1e-2, .softcap = 5.0, .chunk = 4, .scale = 0.3};
  const LossCase c(6, 5, 9, at::kDouble, true, true);
  const Outcome fused = outcome(fused_loss, c, options);
  const at::NoGradGuard no_grad;
  const auto loss = [&] { return fused_loss(c.hidden, c.weight, c.bias, c.targets, options).item<double>(); };
  const double step = 1e-6;
  for (size_t leaf = 0; leaf < 3; ++leaf) {
    auto* values = c.leaves()[leaf].mutable_data_ptr<double>();
    for (int64_t i = 0; i < c.leaves()[leaf].numel(); ++i) {
      const double before = values[i];
      values[i] = before + step;
      const double above = loss();
      values[i] = before - step;
      const double below = loss();
      values[i] = before;
      CHECK(std::abs((above - below) / (2.0 * step) - fused.gradients[leaf].view({-1})[i].item<double>()) < 1e-8);
    }
  }
}

TEST_CASE("fused loss: a factor on the loss reaches every gradient", "[unit]") {
  const LossCase c(20, 8, 30, at::kFloat, true, true);
  const Outcome once = outcome(fused_loss, c, {});
  (fused_loss(c.hidden, c.weight, c.bias, c.targets, {}) * 128.0).backward();
  for (size_t i = 0; i < 3; ++i) CHECK(same_bytes(c.leaves()[i].grad(), once.gradients[i] * 128.0));
}

TEST_CASE("fused loss: what wants no gradient gets none", "[unit]") {
  const LossCase c(20, 8, 30, at::kFloat, true, false);
  const Outcome all = outcome(fused_loss, c, {});
  for (size_t only = 0; only < 3; ++only) {
    for (size_t i = 0; i < 3; ++i) c.leaves()[i].requires_grad_(i == only);
    fused_loss(c.hidden, c.weight, c.bias, c.targets, {}).backward();
    for (size_t i = 0; i < 3; ++i) CHECK(c.leaves()[i].grad().defined() == (i == only));
    CHECK(same_bytes(c.leaves()[only].grad(), all.gradients[only]));
    c.leaves()[only].mutable_grad() = Tensor();
  }
}

TEST_CASE("fused loss: its gradients are given away, so that a parameter keeps them without a copy", "[unit]") {
  const LossCase c(20, 8, 30, at::kFloat, false, false);
  const Tensor loss = fused_loss(c.hidden, c.weight, c.bias, c.targets, {});
  const auto gradients = torch::autograd::grad({loss}, {c.hidden, c.weight}, {}, /*retain_graph=*/true);
  for (const Tensor& gradient : gradients) CHECK(gradient.use_count() == 1);
  CHECK_THROWS_WITH(loss.backward(), Catch::Contains("second time"));
}

TEST_CASE("fused loss: two micro-batches add up in a tied weight", "[unit]") {
  const LossCase c(20, 8, 30, at::kFloat, false, true);
  const auto run = [&](LossFunction loss) {
    for (int micro = 0; micro < 2; ++micro)
      loss(c.weight.slice(0, 0, 20) * 2.0 + c.hidden, c.weight, c.bias, c.targets, {}).backward();
    const Tensor gradient = c.weight.grad();
    c.weight.mutable_grad() = Tensor();
    return gradient;
  };
  CHECK(close_gradient(run(fused_loss), run(plain_loss), 5e-6));
}

TEST_CASE("fused loss: no target, or none that counts, is a loss of zero", "[unit]") {
  for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    LossCase c(6, 8, 30, type, true, false);
    c.targets.fill_(kIgnore);
    const Outcome ignored = outcome(fused_loss, c, {.z_loss = 0.1});
    CHECK(ignored.loss.item<double>() == 0.0);
    for (const Tensor& gradient : ignored.gradients) CHECK(gradient.eq(0.0).all().item<bool>());
    const Outcome empty = outcome(fused_loss, LossCase(0, 8, 30, type, true, false), {});
    CHECK(empty.loss.item<double>() == 0.0);
    CHECK(empty.gradients[1].eq(0.0).all().item<bool>());
  }
}

TEST_CASE("fused loss: a target outside the vocabulary is told", "[unit]") {
  for (const int64_t wrong : {int64_t{-1}, int64_t{30}}) {
    const LossCase c(6, 8, 30, at::kFloat, false, false);
    c.targets[3] = wrong;
    CHECK_THROWS_WITH(fused_loss(c.hidden, c.weight, c.bias, c.targets, {}),
                      Catch::Contains(std::to_string(wrong)) && Catch::Contains("vocabulary of 30"));
  }
}

TEST_CASE("fused loss: shapes and types that do not fit are told", "[unit]") {
  const LossCase c(6, 8, 30, at::kFloat, false, false);
  CHECK_THROWS_WITH(fused_loss(c.hidden, c.weight.slice(1, 0, 7), c.bias, c.targets, {}),
                    Catch::Contains("[30, 7]") && Catch::Contains("[V, 8]"));
  CHECK_THROWS_WITH(fused_loss(c.hidden, c.weight, c.bias, c.targets.slice(0, 1), {}), Catch::Contains("[5]"));
  CHECK_THROWS_WITH(fused_loss(c.hidden.to(at::kDouble), c.weight, c.bias, c.targets, {}),
                    Catch::Contains("fp64") && Catch::Contains("fp32"));
}

TEST_CASE("fused loss: one thread or two make no difference", "[unit]") {
  const LossCase c(300, 16, 1000, at::kFloat, true, true);
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const Outcome one = outcome(fused_loss, c, {.softcap = 8.0});
  at::set_num_threads(2);
  const Outcome two = outcome(fused_loss, c, {.softcap = 8.0});
  at::set_num_threads(before);
  CHECK(same_bytes(one.loss, two.loss));
}

TEST_CASE("token losses: sum to the fused loss, and ignored tokens have none", "[unit]") {
  for (const auto type : {at::kFloat, at::kDouble})
    for (const LossOptions& options : all_options()) {
      const LossCase c(50, 16, 101, type, true, true);
      const Tensor each = token_losses(c.hidden, c.weight, c.bias, c.targets, options);
      const double sum = each.sum(at::kDouble).item<double>(),
                   fused = fused_loss(c.hidden, c.weight, c.bias, c.targets, options).item<double>();
      CHECK(std::abs(sum - fused) <= kSameLoss * std::abs(fused));
      CHECK(each.masked_select(c.targets.eq(kIgnore)).eq(0.0).all().item<bool>());
      CHECK_FALSE(each.requires_grad());
    }
}

TEST_CASE("token losses: tell which targets are the likeliest token", "[unit]") {
  const LossCase c(50, 16, 7, at::kFloat, true, true);
  Tensor correct;
  token_losses(c.hidden, c.weight, c.bias, c.targets, {.chunk = 13}, &correct);
  const at::NoGradGuard no_grad;
  CHECK(same_bytes(correct, at::argmax(at::linear(c.hidden, c.weight, c.bias), 1).eq(c.targets)));
  CHECK(correct.any().item<bool>());
}

TEST_CASE("fused loss: the GPU agrees with the CPU", "[gpu]") {
  const auto gpu = require_gpu();
  if (!gpu) return;
  for (const LossOptions& options : all_options()) {
    const LossCase host(50, 24, 301, at::kFloat, true, true);
    LossCase device = host;
    device.hidden = host.hidden.detach().to(*gpu).requires_grad_(true);
    device.weight = host.weight.detach().to(*gpu).requires_grad_(true);
    device.bias = host.bias.detach().to(*gpu).requires_grad_(true);
    device.targets = host.targets.to(*gpu);
    const Outcome a = outcome(fused_loss, host, options), b = outcome(fused_loss, device, options);
    CHECK(close(b.loss, a.loss, Tolerance::fp32));
    for (size_t i = 0; i < 3; ++i) CHECK(close_gradient(b.gradients[i], a.gradients[i], 1e-5));
  }
}

}  // namespace ordo::test
