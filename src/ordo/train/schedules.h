// SPDX-License-Identifier: Apache-2.0
// The schedules of the catalogue. All start with a linear warm-up: update s of W has the factor s / W.
#pragma once
#include "ordo/train/schedule.h"

namespace ordo {

class ConstantSchedule final : public Schedule {
 public:
  struct Config {
    Quantity warmup{0, "steps"};
  };
  static constexpr std::string_view kKind = "constant", kSummary = "warm-up, then the full rate";
  ConstantSchedule(const Config& config, const ScheduleFacts& facts);
  double factor(int64_t step) const override;

 private:
  int64_t warmup_;
};
void fields(Fields& f, ConstantSchedule::Config& c);

// After the warm-up a straight line to `final` at the last step.
class LinearSchedule final : public Schedule {
 public:
  struct Config {
    Quantity warmup{0, "steps"};
    double final = 0.0;
  };
  static constexpr std::string_view kKind = "linear", kSummary = "warm-up, then straight down to the final share";
  LinearSchedule(const Config& config, const ScheduleFacts& facts);
  double factor(int64_t step) const override;

 private:
  int64_t warmup_, steps_;
  double final_;
};
void fields(Fields& f, LinearSchedule::Config& c);

// After the warm-up half a cosine to `final` at the last step (Loshchilov & Hutter 2017, without restarts).
class CosineSchedule final : public Schedule {
 public:
  struct Config {
    Quantity warmup{0, "steps"};
    double final = 0.1;
  };
  static constexpr std::string_view kKind = "cosine", kSummary = "warm-up, then half a cosine down to the final share";
  CosineSchedule(const Config& config, const ScheduleFacts& facts);
  double factor(int64_t step) const override;

 private:
  int64_t warmup_, steps_;
  double final_;
};
void fields(Fields& f, CosineSchedule::Config& c);

// min(s / W, sqrt(W / s)): 1 at the end of the warm-up. With scale_by_dim as in Vaswani et al. 2017, dim^-0.5
// min(s^-0.5, s W^-1.5); lr is then a multiplier, 1 in the paper. A run may end within the warm-up.
class InverseSqrtSchedule final : public Schedule {
 public:
  struct Config {
    Quantity warmup{4000, "steps"};
    bool scale_by_dim = false;
  };
  static constexpr std::string_view kKind = "inverse_sqrt",
                                    kSummary = "warm-up, then one over the square root of the step";
  InverseSqrtSchedule(const Config& config, const ScheduleFacts& facts);
  double factor(int64_t step) const override;

 private:
  double warmup_, peak_;
};
void fields(Fields& f, InverseSqrtSchedule::Config& c);

enum class Decline { linear, sqrt };

// Warm-up, stable, decay (Hu et al. 2024): the full rate until the last share of the run, then down: along a line, or
// as 1 - sqrt (Hägele et al. 2024).
class WsdSchedule final : public Schedule {
 public:
  struct Config {
    Quantity warmup{0, "steps"};
    double decay = 0.2, final = 0.0;
    Decline shape = Decline::linear;
  };
  static constexpr std::string_view kKind = "wsd", kSummary = "warm-up, a long plateau, a short decay at the end";
  WsdSchedule(const Config& config, const ScheduleFacts& facts);
  double factor(int64_t step) const override;

 private:
  int64_t warmup_, steps_;
  double decay_steps_, final_;
  Decline shape_;
};
void fields(Fields& f, WsdSchedule::Config& c);

}  // namespace ordo
