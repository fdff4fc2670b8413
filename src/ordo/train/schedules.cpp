// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/schedules.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"

namespace ordo {

namespace {
constexpr NamedValue kDeclines[] = {{"linear", static_cast<int>(Decline::linear)},
                                    {"sqrt", static_cast<int>(Decline::sqrt)}};
constexpr std::string_view kWarmupHelp = "updates (or epochs, tokens) over which the rate rises from 0";

int64_t warmup_steps(const Quantity& warmup, const ScheduleFacts& facts) {
  return horizon_steps(warmup, {facts.steps_per_epoch, facts.tokens_per_step});
}

// For schedules that end at the last step: their warm-up has to end before.
int64_t warmup_within(const Quantity& warmup, const ScheduleFacts& facts) {
  const int64_t steps = warmup_steps(warmup, facts);
  const std::string given =
      warmup.unit == "steps" ? "" : fmt::format(" ({} {})", number_text(warmup.value), warmup.unit);
  require<ConfigError>(steps <= facts.steps,
                       "train.schedule.warmup is {} steps{}, longer than the run of {} (train.steps): shorten the "
                       "warm-up or lengthen the run",
                       steps, given, facts.steps);
  return steps;
}

double rise(int64_t step, int64_t warmup) { return static_cast<double>(step) / static_cast<double>(warmup); }

// 0 at the end of the warm-up, 1 at the last step.
double progress_after(int64_t step, int64_t warmup, int64_t steps) {
  if (step >= steps) return 1.0;
  return static_cast<double>(step - warmup) / static_cast<double>(steps - warmup);
}
}  // namespace

int64_t horizon_steps(const Quantity& horizon, const HorizonFacts& facts) {
  if (horizon.value <= 0.0) return 0;
  double steps = horizon.value;
  require<ConfigError>(horizon.unit != "epochs" || std::isfinite(facts.steps_per_epoch),
                       "{} epochs cannot be turned into steps here: how many batches an epoch has is not known (data "
                       "that is streamed or made without end); give steps or tokens",
                       number_text(horizon.value));
  if (horizon.unit == "epochs") steps = std::round(horizon.value * facts.steps_per_epoch);
  if (horizon.unit == "tokens") steps = std::ceil(horizon.value / facts.tokens_per_step);
  require<ConfigError>(std::isfinite(steps) && steps < 9e15,
                       "{} {} cannot be turned into steps here: an epoch has {} steps, a step {} tokens",
                       number_text(horizon.value), horizon.unit, number_text(facts.steps_per_epoch),
                       number_text(facts.tokens_per_step));
  return std::max<int64_t>(1, std::llround(steps));
}

void fields(Fields& f, ConstantSchedule::Config& c) { f("warmup", c.warmup, kWarmupHelp, kHorizonUnits, at_least(0)); }
ConstantSchedule::ConstantSchedule(const Config& config, const ScheduleFacts& facts)
    : warmup_(warmup_steps(config.warmup, facts)) {}
double ConstantSchedule::factor(int64_t step) const { return step < warmup_ ? rise(step, warmup_) : 1.0; }

void fields(Fields& f, LinearSchedule::Config& c) {
  f("warmup", c.warmup, kWarmupHelp, kHorizonUnits, at_least(0));
  f("final", c.final, "share of the rate at the last step", within(0.0, 1.0));
}
LinearSchedule::LinearSchedule(const Config& config, const ScheduleFacts& facts)
    : warmup_(warmup_within(config.warmup, facts)), steps_(facts.steps), final_(config.final) {}
double LinearSchedule::factor(int64_t step) const {
  if (step < warmup_) return rise(step, warmup_);
  return 1.0 + (final_ - 1.0) * progress_after(step, warmup_, steps_);
}

void fields(Fields& f, CosineSchedule::Config& c) {
  f("warmup", c.warmup, kWarmupHelp, kHorizonUnits, at_least(0));
  f("final", c.final, "share of the rate at the last step", within(0.0, 1.0));
}
CosineSchedule::CosineSchedule(const Config& config, const ScheduleFacts& facts)
    : warmup_(warmup_within(config.warmup, facts)), steps_(facts.steps), final_(config.final) {}
double CosineSchedule::factor(int64_t step) const {
  if (step < warmup_) return rise(step, warmup_);
  const double half = 0.5 * (1.0 + std::cos(std::numbers::pi * progress_after(step, warmup_, steps_)));
  return final_ + (1.0 - final_) * half;
}

void fields(Fields& f, InverseSqrtSchedule::Config& c) {
  f("warmup", c.warmup, kWarmupHelp, kHorizonUnits, at_least(0));
  f("scale_by_dim", c.scale_by_dim,
    "times (dim x warmup)^-0.5, as Vaswani et al. 2017; lr is then a multiplier, 1 in the paper");
}
InverseSqrtSchedule::InverseSqrtSchedule(const Config& config, const ScheduleFacts& facts)
    : warmup_(static_cast<double>(std::max<int64_t>(1, warmup_steps(config.warmup, facts)))),
      peak_(config.scale_by_dim ? 1.0 / std::sqrt(static_cast<double>(facts.dim) * warmup_) : 1.0) {}
double InverseSqrtSchedule::factor(int64_t step) const {
  const auto s = static_cast<double>(std::max<int64_t>(1, step));
  return peak_ * std::min(s / warmup_, std::sqrt(warmup_ / s));
}

void fields(Fields& f, WsdSchedule::Config& c) {
  f("warmup", c.warmup, kWarmupHelp, kHorizonUnits, at_least(0));
  f("decay", c.decay, "share of the run, at its end, over which the rate falls", within(0.0, 1.0));
  f("final", c.final, "share of the rate at the last step", within(0.0, 1.0));
  f("shape", c.shape, "of the fall: a line, or 1 - sqrt", kDeclines);
}
WsdSchedule::WsdSchedule(const Config& config, const ScheduleFacts& facts)
    : warmup_(warmup_within(config.warmup, facts)),
      steps_(facts.steps),
      decay_steps_(std::min(std::round(config.decay * static_cast<double>(facts.steps)),
                            static_cast<double>(facts.steps - warmup_))),
      final_(config.final),
      shape_(config.shape) {}
double WsdSchedule::factor(int64_t step) const {
  if (step < warmup_) return rise(step, warmup_);
  const double left = std::max(0.0, static_cast<double>(steps_ - step));
  if (left >= decay_steps_) return 1.0;
  const double fallen = 1.0 - left / decay_steps_;
  return 1.0 + (final_ - 1.0) * (shape_ == Decline::sqrt ? std::sqrt(fallen) : fallen);
}

}  // namespace ordo
