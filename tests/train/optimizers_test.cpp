// SPDX-License-Identifier: Apache-2.0
// Each optimiser against its paper's formula, written out number by number in fp64.
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/diag.h>
#include <ATen/ops/linalg_svd.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <functional>
#include <map>

#include "ordo/checkpoint/weights.h"
#include "ordo/config/config.h"
#include "ordo/core/hash.h"
#include "ordo/train/muon.h"
#include "support/thrown.h"
#include "support/tolerance.h"

namespace ordo::test {
namespace {
using Numbers = std::vector<double>;
constexpr int kSteps = 4;
constexpr double kDivisor = 2.0;  // clipping folded in; exact in fp32

Numbers drawn(uint64_t key, int64_t n) {
  KeyedSequence draw(key);
  Numbers v;
  for (int64_t i = 0; i < n; ++i) v.push_back(draw.unit() - 0.5);
  return v;
}
Numbers numbers_of(const Tensor& t) {
  const Tensor flat = t.detach().contiguous();
  return Numbers(flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel());
}
Tensor tensor_of(const Numbers& v, at::IntArrayRef shape) { return at::tensor(v, at::kDouble).reshape(shape); }

// A matrix that decays and a bias that does not.
struct Sample {
  Sample() : names{"decoder.blocks.0.attention.q.weight", "decoder.blocks.0.attention.q.bias"}, shapes{{3, 2}, {3}} {
    for (size_t i = 0; i < 2; ++i) {
      Tensor value = tensor_of(drawn(10 + i, i == 0 ? 6 : 3), shapes[i]).requires_grad_();
      parameters.push_back({names[i], value, role_of(names[i], value)});
    }
  }
  void gradients(int step) {
    for (size_t i = 0; i < 2; ++i)
      parameters[i].value.mutable_grad() = tensor_of(gradient(step, i), shapes[i]) * kDivisor;
  }
  static Numbers gradient(int step, size_t i) { return drawn(mix(static_cast<uint64_t>(step), i), i == 0 ? 6 : 3); }
  std::vector<std::string> names;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<Parameter> parameters;
};

std::shared_ptr<Optimizer> optimizer_from(const std::string& yaml, const std::vector<Parameter>& parameters) {
  struct Holder {
    Choice<Optimizer> optimizer{"adamw"};
  } holder;
  load_config_text("optimizer: " + yaml, [&](Fields& f) { f("optimizer", holder.optimizer, ""); }, {});
  return optimizers().build(holder.optimizer, {parameters});
}

// One parameter's values after each update by the formula: w, gradient, step (from 1), whether it decays, state kept
// between calls.
using Formula =
    std::function<void(Numbers& w, const Numbers& g, int t, bool decays, std::map<std::string, Numbers>& state)>;

void follows(const std::string& yaml, double lr, const Formula& formula) {
  Sample sample;
  const auto optimizer = optimizer_from(yaml, sample.parameters);
  std::vector<Numbers> expected;
  std::vector<std::map<std::string, Numbers>> state(2);
  for (const auto& p : sample.parameters) expected.push_back(numbers_of(p.value));
  for (int t = 1; t <= kSteps; ++t) {
    sample.gradients(t);
    optimizer->update({.lr = lr, .gradient_divisor = kDivisor});
    for (size_t i = 0; i < 2; ++i) formula(expected[i], Sample::gradient(t, i), t, /*decays=*/i == 0, state[i]);
  }
  for (size_t i = 0; i < 2; ++i)
    CHECK(close(sample.parameters[i].value, tensor_of(expected[i], sample.shapes[i]), Tolerance::fp64));
}

Numbers& kept(std::map<std::string, Numbers>& state, const std::string& name, size_t n) {
  auto& v = state[name];
  if (v.empty()) v.assign(n, 0.0);
  return v;
}

// m and v of Adam, and its move for element i.
double adam_move(std::map<std::string, Numbers>& state, size_t n, size_t i, double g, int t, double b1, double b2,
                 double eps) {
  auto& m = kept(state, "m", n);
  auto& v = kept(state, "v", n);
  m[i] = b1 * m[i] + (1 - b1) * g;
  v[i] = b2 * v[i] + (1 - b2) * g * g;
  return m[i] / (1 - std::pow(b1, t)) / (std::sqrt(v[i] / (1 - std::pow(b2, t))) + eps);
}
}  // namespace

TEST_CASE("adamw: the moments' ratio, and weights that shrink by lr times decay", "[unit]") {
  follows("{kind: adamw, betas: [0.8, 0.95], eps: 1e-6, weight_decay: 0.3}", 0.01,
          [](Numbers& w, const Numbers& g, int t, bool decays, auto& state) {
            for (size_t i = 0; i < w.size(); ++i) {
              const double move = adam_move(state, w.size(), i, g[i], t, 0.8, 0.95, 1e-6);
              w[i] = w[i] * (1 - (decays ? 0.01 * 0.3 : 0.0)) - 0.01 * move;
            }
          });
}

TEST_CASE("adam: weight decay goes through the moments", "[unit]") {
  follows("{kind: adam, betas: [0.8, 0.95], eps: 1e-6, weight_decay: 0.3}", 0.01,
          [](Numbers& w, const Numbers& g, int t, bool decays, auto& state) {
            for (size_t i = 0; i < w.size(); ++i)
              w[i] -= 0.01 * adam_move(state, w.size(), i, g[i] + (decays ? 0.3 * w[i] : 0.0), t, 0.8, 0.95, 1e-6);
          });
}

TEST_CASE("sgd: plain, with momentum, and Nesterov's look ahead", "[unit]") {
  const auto formula = [](double momentum, bool nesterov) {
    return [=](Numbers& w, const Numbers& g, int, bool decays, auto& state) {
      auto& m = kept(state, "m", w.size());
      for (size_t i = 0; i < w.size(); ++i) {
        const double full = g[i] + (decays ? 0.3 * w[i] : 0.0);
        m[i] = momentum * m[i] + full;
        w[i] -= 0.01 * (nesterov ? full + momentum * m[i] : m[i]);
      }
    };
  };
  follows("{kind: sgd, momentum: 0, weight_decay: 0.3}", 0.01, formula(0.0, false));
  follows("{kind: sgd, momentum: 0.9, weight_decay: 0.3}", 0.01, formula(0.9, false));
  follows("{kind: sgd, momentum: 0.9, weight_decay: 0.3, nesterov: true}", 0.01, formula(0.9, true));
}

TEST_CASE("lion: the sign of momentum and gradient, mixed", "[unit]") {
  follows("{kind: lion, betas: [0.9, 0.98], weight_decay: 0.3}", 0.01,
          [](Numbers& w, const Numbers& g, int, bool decays, auto& state) {
            auto& m = kept(state, "m", w.size());
            for (size_t i = 0; i < w.size(); ++i) {
              const double mixed = 0.9 * m[i] + 0.1 * g[i];
              w[i] = w[i] * (1 - (decays ? 0.01 * 0.3 : 0.0)) - 0.01 * (mixed > 0 ? 1.0 : -1.0);
              m[i] = 0.98 * m[i] + 0.02 * g[i];
            }
          });
}

TEST_CASE(
    "adafactor: rows and columns stand for the second moment, updates are clipped and scaled by the weights' size",
    "[unit]") {
  follows("{kind: adafactor, clip_threshold: 0.9, weight_decay: 0.3}", 0.01,
          [](Numbers& w, const Numbers& g, int t, bool matrix, auto& state) {
            const double beta = 1 - std::pow(t, -0.8);
            Numbers u(w.size());
            if (matrix) {  // 3 rows, 2 columns
              auto& rows = kept(state, "rows", 3);
              auto& columns = kept(state, "columns", 2);
              for (size_t r = 0; r < 3; ++r)
                rows[r] = beta * rows[r] +
                          (1 - beta) * ((g[2 * r] * g[2 * r] + 1e-30) + (g[2 * r + 1] * g[2 * r + 1] + 1e-30)) / 2;
              for (size_t c = 0; c < 2; ++c) {
                double sum = 0;
                for (size_t r = 0; r < 3; ++r) sum += g[2 * r + c] * g[2 * r + c] + 1e-30;
                columns[c] = beta * columns[c] + (1 - beta) * sum / 3;
              }
              const double mean = (rows[0] + rows[1] + rows[2]) / 3;
              for (size_t r = 0; r < 3; ++r)
                for (size_t c = 0; c < 2; ++c) u[2 * r + c] = g[2 * r + c] / std::sqrt(rows[r] * columns[c] / mean);
            } else {
              auto& v = kept(state, "v", w.size());
              for (size_t i = 0; i < w.size(); ++i) {
                v[i] = beta * v[i] + (1 - beta) * (g[i] * g[i] + 1e-30);
                u[i] = g[i] / std::sqrt(v[i]);
              }
            }
            const auto rms = [](const Numbers& x) {
              double sum = 0;
              for (const double a : x) sum += a * a;
              return std::sqrt(sum / static_cast<double>(x.size()));
            };
            const double size = std::max(1e-3, rms(w)), clip = std::max(1.0, rms(u) / 0.9);
            for (size_t i = 0; i < w.size(); ++i)
              w[i] = w[i] * (1 - (matrix ? 0.01 * 0.3 : 0.0)) - 0.01 * size / clip * u[i];
          });
}

TEST_CASE("muon: the Newton-Schulz iteration acts on singular values alone", "[unit]") {
  for (const auto& shape : {std::vector<int64_t>{3, 5}, std::vector<int64_t>{5, 3}}) {
    const Tensor g = tensor_of(drawn(3, 15), shape);
    const auto [u, s, vh] = at::linalg_svd(g, /*full_matrices=*/false);
    Numbers values = numbers_of(s);
    double norm = 0;
    for (const double v : values) norm += v * v;
    for (double& v : values) {
      v /= std::sqrt(norm) + 1e-7;
      for (int i = 0; i < 5; ++i) v = 3.4445 * v - 4.7750 * std::pow(v, 3) + 2.0315 * std::pow(v, 5);
    }
    const Tensor expected = at::matmul(at::matmul(u, at::diag(at::tensor(values, at::kDouble))), vh);
    CHECK(close(Muon::orthogonal(g, 5), expected, Tolerance::fp64));
  }
}

TEST_CASE("muon: matrices move along the orthogonalised momentum, the rest by AdamW at its own rate", "[unit]") {
  Sample sample;
  const auto optimizer = optimizer_from(
      "{kind: muon, lr: 0.02, momentum: 0.9, weight_decay: 0.3, adamw_lr: 0.004, adamw_betas: [0.8, 0.95], adamw_eps: "
      "1e-6}",
      sample.parameters);
  Tensor w = sample.parameters[0].value.detach().clone(), m = at::zeros_like(w);
  Numbers bias = numbers_of(sample.parameters[1].value);
  std::map<std::string, Numbers> state;
  for (int t = 1; t <= kSteps; ++t) {
    sample.gradients(t);
    optimizer->update({.lr = 0.01, .gradient_divisor = kDivisor});  // half of lr: a schedule at work
    const Tensor g = tensor_of(Sample::gradient(t, 0), {3, 2});
    m = 0.9 * m + 0.1 * g;
    w = w * (1 - 0.01 * 0.3) - 0.01 * std::sqrt(3.0 / 2.0) * Muon::orthogonal(0.1 * g + 0.9 * m, 5);
    const Numbers gb = Sample::gradient(t, 1);
    for (size_t i = 0; i < 3; ++i) bias[i] -= 0.002 * adam_move(state, 3, i, gb[i], t, 0.8, 0.95, 1e-6);
  }
  CHECK(close(sample.parameters[0].value, w, Tolerance::fp64));
  CHECK(close(sample.parameters[1].value, tensor_of(bias, {3}), Tolerance::fp64));
}

TEST_CASE("optimisers: a state saved and restored goes on to the bit, and leaves parameters without a gradient alone",
          "[unit]") {
  for (const auto& info : optimizers().kinds()) {
    CAPTURE(info.kind);
    Sample straight, resumed;
    const auto one = optimizers().build(info.kind, {straight.parameters});
    for (int t = 1; t <= 2; ++t) {
      straight.gradients(t);
      one->update({.lr = one->base_lr()});
    }
    for (size_t i = 0; i < 2; ++i) resumed.parameters[i].value.set_data(straight.parameters[i].value.detach().clone());
    const auto two = optimizers().build(info.kind, {resumed.parameters});
    two->restore(copies_of(one->state()));
    for (auto* s : {&straight, &resumed}) {
      s->gradients(3);
      s->parameters[1].value.mutable_grad().reset();
    }
    const Tensor bias = resumed.parameters[1].value.detach().clone();
    one->update({.lr = one->base_lr()});
    two->update({.lr = two->base_lr()});
    CHECK(same_bytes(straight.parameters[0].value, resumed.parameters[0].value));
    CHECK(same_bytes(resumed.parameters[1].value, bias));
    CHECK_FALSE(one->state().empty());
    for (size_t i = 0; i < one->state().size(); ++i) CHECK(same_bytes(one->state()[i].second, two->state()[i].second));
  }
}

TEST_CASE("sgd: a resume may take momentum up or give it up, and an old push does not come back", "[unit]") {
  Sample sample;
  const auto pushed = optimizer_from("{kind: sgd, momentum: 0.9}", sample.parameters);
  sample.gradients(1);
  pushed->update({.lr = 0.01});
  const auto plain = optimizer_from("{kind: sgd, momentum: 0}", sample.parameters);
  plain->restore(copies_of(pushed->state()));
  sample.gradients(2);
  plain->update({.lr = 0.01});
  REQUIRE(plain->state().size() == 2);
  for (const auto& [name, buffer] : plain->state()) CHECK(buffer.abs().max().item<double>() == 0.0);
  CHECK_NOTHROW(pushed->restore(copies_of(plain->state())));
}

TEST_CASE("optimisers: the state of another one is refused", "[unit]") {
  Sample sample;
  const auto adamw = optimizers().build("adamw", {sample.parameters});
  const auto lion = optimizers().build("lion", {sample.parameters});
  CHECK_THROWS_AS(adamw->restore(lion->state()), CheckpointError);
}

TEST_CASE("optimisers: wrong settings are refused in words", "[unit]") {
  Sample sample;
  CHECK(contains(thrown<ConfigError>([&] { optimizer_from("{kind: adamw, betas: [0.9]}", sample.parameters); }),
                 "expected two numbers"));
  CHECK(contains(
      thrown<ConfigError>([&] { optimizer_from("{kind: sgd, momentum: 0, nesterov: true}", sample.parameters); }),
      "momentum is 0"));
}

TEST_CASE("roles: norms, biases and position tables do not decay, all else does", "[unit]") {
  const Tensor matrix = at::zeros({2, 2}), vector = at::zeros({2});
  CHECK(role_of("decoder.blocks.0.attention.q.weight", matrix) == ParameterRole::matrix);
  CHECK(role_of("embedding.weight", matrix) == ParameterRole::embedding);
  CHECK(role_of("head.weight", matrix) == ParameterRole::head);
  CHECK(role_of("decoder.position.weight", matrix) == ParameterRole::position);
  CHECK(role_of("decoder.blocks.0.cross_position.bias", matrix) == ParameterRole::position);
  CHECK(role_of("decoder.blocks.0.norm1.weight", vector) == ParameterRole::norm);
  CHECK(role_of("decoder.embedding_norm.weight", vector) == ParameterRole::norm);
  CHECK(role_of("decoder.norm.bias", vector) == ParameterRole::bias);
  CHECK(decays(ParameterRole::embedding, Decay::matrices));
  CHECK_FALSE(decays(ParameterRole::position, Decay::matrices));
  CHECK(decays(ParameterRole::norm, Decay::all));
}

}  // namespace ordo::test
