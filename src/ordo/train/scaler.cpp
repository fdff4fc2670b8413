// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/train/schedule.h"

namespace ordo {

void fields(Fields& f, ScalerConfig& c) {
  f("initial", c.initial, "first loss scale (fp16 only)", above(0.0));
  f("growth", c.growth, "the scale's factor after `window` good updates", {.low = 1.0});
  f("backoff", c.backoff, "the scale's factor after an overflow",
    {.low = 0.0, .high = 1.0, .low_open = true, .high_open = true});
  f("floor", c.floor, "the run stops when the scale would fall below this", above(0.0));
  f("window", c.window, "good updates in a row before the scale grows", at_least(1));
}

LossScaler::LossScaler(const ScalerConfig& config, bool enabled)
    : config_(config), enabled_(enabled), scale_(config.initial) {}

void LossScaler::update(bool overflowed, std::string_view what) {
  if (!enabled_) return;
  if (overflowed) {
    const double lower = scale_ * config_.backoff;
    require<NumericError>(lower >= config_.floor,
                          "gradients are still not finite at a loss scale of {}, and train.scaler.floor is {}{}{}: the "
                          "model itself overflows "
                          "fp16. Lower train.optimizer.lr, set train.clip, or use train.precision: bf16",
                          number_text(scale_), number_text(config_.floor), what.empty() ? "" : "; ", what);
    scale_ = lower;
    good_steps_ = 0;
  } else if (++good_steps_ >= config_.window) {  // a resume may have made the window shorter
    const double higher = scale_ * config_.growth;
    if (higher <= std::numeric_limits<float>::max()) scale_ = higher;
    good_steps_ = 0;
  }
}

Json LossScaler::state() const { return Json{{"scale", scale_}, {"good_steps", good_steps_}}; }

void LossScaler::restore(const Json& state) {
  scale_ = state.at("scale").get<double>();
  good_steps_ = state.at("good_steps").get<int64_t>();
}

}  // namespace ordo
