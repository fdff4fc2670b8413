// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/ops/recompute.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>

#include <memory>
#include <vector>

#include "ordo/ops/autocast.h"
#include "ordo/ops/draw.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

// A residual block with dropout, whose passes are counted.
struct Step {
  Tensor in, out;
  uint64_t site;
  std::shared_ptr<int> passes = std::make_shared<int>(0);

  explicit Step(uint64_t key, int64_t width = 16)
      : in(at::zeros({2 * width, width})), out(at::zeros({width, 2 * width})), site(key) {
    draw_normal(in, 0.3, mix(key, 1));
    draw_normal(out, 0.3, mix(key, 2));
    in.requires_grad_(true);
    out.requires_grad_(true);
  }
  Tensor operator()(const Tensor& x) const {
    ++*passes;
    return x + ordo::dropout(at::linear(at::gelu(at::linear(x, in)), out), 0.3, site);
  }
  std::vector<Tensor> reads() const { return {in, out}; }
};

Tensor some_input(uint64_t key, bool wants_gradient = true) {
  Tensor x = at::zeros({5, 16});
  draw_normal(x, 1.0, key);
  return x.requires_grad_(wants_gradient);
}

// The gradients of two micro-batches through three steps, the middle one used twice.
std::vector<Tensor> gradients(bool recomputed, bool input_gradient) {
  const std::vector<Step> steps{Step(1), Step(2), Step(3)};
  const auto through = [&](const Step& step, const Tensor& x) {
    return recomputed ? recompute(step, x, step.reads()) : step(x);
  };
  std::vector<Tensor> result;
  for (uint64_t micro = 0; micro < 2; ++micro) {
    const Tensor x = some_input(10 + micro, input_gradient);
    const Tensor y = through(steps[2], through(steps[1], through(steps[1], through(steps[0], x))));
    y.square().sum().backward();
    if (input_gradient) result.push_back(x.grad());
    result.push_back(y.detach());
  }
  for (const Step& step : steps) {
    result.push_back(step.in.grad());
    result.push_back(step.out.grad());
  }
  return result;
}

void check_same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) CHECK(same_bytes(a[i], b[i]));
}

}  // namespace

TEST_CASE("recompute: values and gradients are those of the plain run, to the bit", "[unit]") {
  check_same(gradients(true, true), gradients(false, true));
}

TEST_CASE("recompute: parameters learn although the input wants no gradient", "[unit]") {
  check_same(gradients(true, false), gradients(false, false));
}

TEST_CASE("recompute: the same under bf16 autocast", "[unit]") {
  const auto run = [](bool recomputed) {
    const Step step(5);
    const Tensor x = some_input(6);
    Tensor y;
    {
      const AutocastScope scope(at::kCPU, {true, c10::ScalarType::BFloat16, true});
      y = recomputed ? recompute(step, x, step.reads()) : step(x);
    }
    y.square().sum().backward();
    return std::vector<Tensor>{y.detach(), x.grad(), step.in.grad(), step.out.grad()};
  };
  check_same(run(true), run(false));
}

TEST_CASE("recompute: a weight's cast made without a graph is not given to the layers outside", "[unit]") {
  const Step step(5);
  const Tensor x = some_input(6);
  {
    const AutocastScope scope(at::kCPU, {true, c10::ScalarType::BFloat16, true});
    recompute(step, x, step.reads());
    step(x).sum().backward();  // shares the cache of the scope
  }
  CHECK(step.in.grad().defined());
}

TEST_CASE("recompute: forward runs the segment once, backward once more", "[unit]") {
  const Step step(7);
  const Tensor y = recompute(step, some_input(8), step.reads());
  CHECK(*step.passes == 1);
  y.sum().backward();
  CHECK(*step.passes == 2);
}

TEST_CASE("recompute: without gradients the segment just runs", "[unit]") {
  const Step step(7);
  const at::NoGradGuard no_grad;
  const Tensor x = some_input(8), y = recompute(step, x, step.reads());
  CHECK_FALSE(y.requires_grad());
  CHECK(same_bytes(y, step(x)));
}

TEST_CASE("recompute: segments nest", "[unit]") {
  const Step inner(1), outer(2);
  const auto run = [&](bool recomputed) {
    inner.in.mutable_grad() = outer.in.mutable_grad() = Tensor();
    const Segment both = [&](const Tensor& x) {
      return outer(recomputed ? recompute(inner, x, inner.reads()) : inner(x));
    };
    std::vector<Tensor> all = inner.reads();
    for (const Tensor& read : outer.reads()) all.push_back(read);
    const Tensor x = some_input(3);
    (recomputed ? recompute(both, x, all) : both(x)).square().sum().backward();
    return std::vector<Tensor>{x.grad(), inner.in.grad().clone(), outer.in.grad().clone()};
  };
  check_same(run(true), run(false));
}

TEST_CASE("recompute: the closure outlives its maker", "[unit]") {
  Tensor y;
  const Tensor x = some_input(4);
  {
    const Step step(9);
    y = recompute(step, x, step.reads());
  }
  y.sum().backward();
  CHECK(x.grad().ne(0.0).any().item<bool>());
}

TEST_CASE("recompute: a tensor listed twice, or not read at all, changes nothing", "[unit]") {
  const Step step(9), other(10);
  const Tensor x = some_input(4);
  recompute(step, x, {step.in, step.out, step.in, other.in, Tensor()}).square().sum().backward();
  const Tensor found = step.in.grad().clone();
  step.in.mutable_grad() = Tensor();
  step(x).square().sum().backward();
  CHECK(same_bytes(found, step.in.grad()));
  CHECK_FALSE(other.in.grad().defined());
}

TEST_CASE("recompute: tensors with a history of their own get their gradient", "[unit]") {
  const auto run = [](bool recomputed) {
    const Tensor table = some_input(1), x = some_input(2), shared = table.exp();
    const Segment add = [shared](const Tensor& t) { return t * shared; };
    Tensor y = x;
    for (int i = 0; i < 2; ++i) y = recomputed ? recompute(add, y, {shared}) : add(y);
    y.sum().backward();
    return std::vector<Tensor>{x.grad(), table.grad()};
  };
  check_same(run(true), run(false));
}

TEST_CASE("recompute: a weight changed before backward is noticed", "[unit]") {
  const Step step(9);
  const Tensor y = recompute(step, some_input(4), step.reads());
  {
    const at::NoGradGuard no_grad;
    step.in.mul_(2.0);
  }
  CHECK_THROWS_WITH(y.sum().backward(), Catch::Contains("modified by an inplace operation"));
}

}  // namespace ordo::test
