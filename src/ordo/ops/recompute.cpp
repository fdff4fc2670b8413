// SPDX-License-Identifier: Apache-2.0
#include "ordo/ops/recompute.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "ordo/core/errors.h"
#include "ordo/ops/autocast.h"

namespace ordo {

namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Replay : torch::CustomClassHolder {
  Segment run;
  AutocastState autocast;
};

struct Recompute : torch::autograd::Function<Recompute> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, at::TensorList reads,
                        const c10::intrusive_ptr<Replay>& replay) {
    variable_list saved{x};
    saved.insert(saved.end(), reads.begin(), reads.end());
    ctx->save_for_backward(saved);
    ctx->saved_data["replay"] = c10::IValue::make_capsule(replay);
    return replay->run(
        x);  // casts made here have no graph; autocast's cache holds only those that have (a test sees to it)
  }

  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto replay = c10::static_intrusive_pointer_cast<Replay>(ctx->saved_data["replay"].toCapsule());
    const Tensor x = saved[0].detach().requires_grad_(ctx->needs_input_grad(0));
    Tensor y;
    {
      const at::AutoGradMode with_graph(true);
      const AutocastScope scope(x.device().type(), replay->autocast);
      y = replay->run(x);
    }
    variable_list wanted;
    std::vector<size_t> places;  // of each wanted tensor among the inputs
    for (size_t i = 0; i < saved.size(); ++i) {
      const Tensor& input = i == 0 ? x : saved[i];
      if (!input.requires_grad()) continue;
      wanted.push_back(input);
      places.push_back(i);
    }
    variable_list result(saved.size() + 1);  // and nothing for `replay`
    if (wanted.empty() || !y.requires_grad()) return result;
    const auto found = torch::autograd::grad({y}, wanted, {grads[0]}, /*retain_graph=*/std::nullopt,
                                             /*create_graph=*/false, /*allow_unused=*/true);
    for (size_t i = 0; i < found.size(); ++i) result[places[i]] = found[i];
    return result;
  }
};

// autograd would hand the same gradient to each copy of a tensor that is listed twice.
std::vector<Tensor> each_once(const std::vector<Tensor>& reads) {
  std::vector<Tensor> once;
  for (const Tensor& read : reads) {
    if (!read.defined()) continue;
    const bool known = std::any_of(once.begin(), once.end(), [&](const Tensor& other) { return other.is_same(read); });
    if (!known) once.push_back(read);
  }
  return once;
}

}  // namespace

Tensor recompute(Segment run, const Tensor& x, std::vector<Tensor> reads) {
  if (!at::GradMode::is_enabled()) return run(x);
  const auto replay = c10::make_intrusive<Replay>();
  replay->run = std::move(run);
  replay->autocast = autocast_state(x.device().type());
  const std::vector<Tensor> once = each_once(reads);
  return Recompute::apply(x, at::TensorList(once), replay);
}

}  // namespace ordo
