// SPDX-License-Identifier: Apache-2.0
// Learning-rate schedules: a factor of the optimiser's lr as a pure function of the update; and the loss scale of fp16.
#pragma once
#include <cstdint>
#include <memory>

#include "ordo/config/catalog.h"
#include "ordo/core/json.h"

namespace ordo {

// What turns a horizon into steps.
struct HorizonFacts {
  double steps_per_epoch = 0.0, tokens_per_step = 0.0;
};
// `2000 steps`, `5 epochs`, `1e8 tokens` as a number of steps, at least 1 unless the quantity is 0. Epochs are rounded
// to the nearest step, tokens up.
int64_t horizon_steps(const Quantity& horizon, const HorizonFacts& facts);

struct ScheduleFacts {
  int64_t steps = 0;                                    // of the whole run
  int64_t dim = 0;                                      // model width (inverse square root)
  double steps_per_epoch = 0.0, tokens_per_step = 0.0;  // to resolve horizons such as `warmup: 1 epochs`
};

class Schedule {
 public:
  virtual ~Schedule() = default;
  virtual double factor(int64_t step) const = 0;  // of the update that makes step `step` (1-based)
};

using ScheduleCatalog = Catalog<Schedule, ScheduleFacts>;
const ScheduleCatalog& schedules();  // constant, linear, cosine, inverse_sqrt, wsd
template <>
const Kinds& kinds_of<Schedule>();

// Loss scaling for fp16 (Micikevicius et al. 2018).
struct ScalerConfig {
  double initial = 65536.0, growth = 2.0, backoff = 0.5, floor = 1.0;
  int64_t window = 2000;  // good steps in a row before the scale grows
};
void fields(Fields& f, ScalerConfig& c);

class LossScaler {
 public:
  LossScaler(const ScalerConfig& config, bool enabled);
  double scale() const { return enabled_ ? scale_ : 1.0; }
  bool enabled() const { return enabled_; }
  // Throws NumericError when the scale would fall below its floor; `what` overflowed, in words, is part of its message.
  void update(bool overflowed, std::string_view what = {});
  Json state() const;
  void restore(const Json& state);

 private:
  ScalerConfig config_;
  bool enabled_;
  double scale_;
  int64_t good_steps_ = 0;
};

}  // namespace ordo
