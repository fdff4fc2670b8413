// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/update.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "ordo/core/text.h"
#include "ordo/train/weights.h"

namespace ordo {

namespace {
constexpr double kNormEps = 1e-6;  // as usual in clipping: keeps the divisor above 1 by a hair
constexpr size_t kExamplesNamed = 4;

// The 2-norm over all tensors together; each tensor's own is taken in its type (at least fp32), their squares are added
// in fp64.
double global_norm(const std::vector<Tensor>& tensors) {
  if (tensors.empty()) return 0.0;
  return at::stack(at::_foreach_norm(tensors, 2)).to(at::kDouble).norm().item<double>();
}

std::string examples_text(const Batch& batch) {
  if (batch.examples.empty()) return "examples without names";
  const size_t n = std::min(batch.examples.size(), kExamplesNamed);
  const std::string more = n < batch.examples.size() ? fmt::format("; and {} more", batch.examples.size() - n) : "";
  return join(std::span(batch.examples).first(n), "; ") + more;
}

std::string all_examples_text(const std::vector<Batch>& batches) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < batches.size(); ++i)
    parts.push_back(batches.size() == 1 ? examples_text(batches[i])
                                        : fmt::format("micro-batch {}: {}", i + 1, examples_text(batches[i])));
  return join(parts, " | ");
}

double total_of(const std::vector<Tensor>& losses) { return at::stack(losses).to(at::kDouble).sum().item<double>(); }
}  // namespace

std::vector<Tensor> backward(const Task& task, Model& model, const std::vector<Batch>& batches,
                             const BackwardOptions& options) {
  double weight = 0.0;
  for (const auto& b : batches) weight += b.weight;
  // An update whose targets are all ignored has a loss and gradients of zero.
  const LossOptions loss_options{
      .smoothing = options.smoothing, .z_loss = options.z_loss, .scale = weight > 0.0 ? 1.0 / weight : 0.0};
  std::vector<Tensor> losses;
  for (const auto& b : batches) {
    Tensor loss;
    {
      const AutocastScope autocast(b.targets.device().type(), autocast_of(options.precision));
      loss = task.loss(model, b, loss_options).sum;
    }
    losses.push_back(loss.detach());
    (options.loss_scale == 1.0 ? loss : loss * options.loss_scale).backward();
  }
  return losses;
}

Updater::Updater(const RunConfig& config, const Model& model, const ScheduleFacts& facts)
    : options_{.precision = config.train.precision,
               .smoothing = config.train.label_smoothing,
               .z_loss = config.train.z_loss},
      clip_(config.train.clip),
      ema_decay_(config.train.ema),
      parameters_(parameters_of(model)),
      optimizer_(optimizers().build(config.train.optimizer, {parameters_})),
      schedule_(schedules().build(config.train.schedule, facts)),
      scaler_(config.train.scaler, config.train.precision == Precision::fp16) {
  restart_ema();
}

void Updater::restart_ema() {
  if (ema_decay_ > 0.0) ema_.emplace(parameters_, ema_decay_);
}

UpdateReport Updater::update(const Task& task, Model& model, const std::vector<Batch>& batches, int64_t done) {
  UpdateReport report{.lr = optimizer_->base_lr() * schedule_->factor(done + 1), .loss_scale = scaler_.scale()};
  options_.loss_scale = scaler_.scale();
  const auto losses = backward(task, model, batches, options_);
  report.loss = total_of(losses);
  const bool overflow = unscale() || !std::isfinite(report.loss);
  report.grad_norm = gradient_norm();
  std::string what;
  if (overflow || !std::isfinite(report.grad_norm)) {
    const auto weights = bad_weights();
    // No scale mends weights that are not finite, so with them it is no overflow.
    report.overflowed = scaler_.enabled() && overflow && !weights;
    what = weights ? *weights : what_is_nonfinite(batches, losses);
    if (!report.overflowed) report.nonfinite = what;
  } else {
    move(report);
  }
  clear_gradients();
  if (report.nonfinite.empty()) scaler_.update(report.overflowed, what);
  return report;
}

void Updater::move(UpdateReport& report) {
  const double divisor = clip_ > 0.0 ? std::max(1.0, (report.grad_norm + kNormEps) / clip_) : 1.0;
  optimizer_->update({.lr = report.lr, .gradient_divisor = divisor});
  report.moved = true;
  std::vector<Tensor> values;
  for (const auto& p : parameters_) values.push_back(p.value.detach());
  if (!std::isfinite(global_norm(values))) {
    NamedTensors named;
    for (const auto& p : parameters_) named.emplace_back(p.name, p.value);
    report.nonfinite = fmt::format(
        "the update made {} not finite (the gradients were finite: the optimiser's state or the learning rate is at "
        "fault)",
        first_nonfinite(named).value_or("weights"));
    report.broken = true;
    return;
  }
  if (ema_) ema_->update();
}

bool Updater::unscale() const {
  if (!scaler_.enabled()) return false;
  std::vector<Tensor> gradients;
  for (const auto& p : parameters_)
    if (p.value.grad().defined()) gradients.push_back(p.value.grad());
  if (gradients.empty()) return false;
  const auto options = gradients.front().options().dtype(at::kFloat);
  Tensor found = at::zeros({1}, options);
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, found, at::full({}, 1.0 / scaler_.scale(), options));
  return found.item<float>() != 0.0F;
}

double Updater::gradient_norm() const {
  std::vector<Tensor> gradients;
  for (const auto& p : parameters_)
    if (p.value.grad().defined()) gradients.push_back(p.value.grad());
  return global_norm(gradients);
}

std::optional<std::string> Updater::bad_weights() const {
  NamedTensors weights;
  for (const auto& p : parameters_) weights.emplace_back(p.name, p.value.detach());
  const auto bad = first_nonfinite(weights);
  if (!bad) return std::nullopt;
  return fmt::format("the weights {} were not finite before this step", *bad);
}

std::string Updater::what_is_nonfinite(const std::vector<Batch>& batches, const std::vector<Tensor>& losses) const {
  NamedTensors gradients;
  for (const auto& p : parameters_)
    if (p.value.grad().defined()) gradients.emplace_back(p.name, p.value.grad());
  for (size_t i = 0; i < losses.size(); ++i) {
    const double loss = losses[i].item<double>();
    if (!std::isfinite(loss))
      return fmt::format("the loss of micro-batch {} of {} is {} ({})", i + 1, losses.size(), loss,
                         examples_text(batches[i]));
  }
  const auto bad = first_nonfinite(gradients);
  return fmt::format("the gradient of {} is not finite ({})", bad.value_or("all weights together"),
                     all_examples_text(batches));
}

void Updater::clear_gradients() const {
  for (const auto& p : parameters_) p.value.mutable_grad().reset();
}

}  // namespace ordo
