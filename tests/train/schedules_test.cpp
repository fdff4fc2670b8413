// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "ordo/config/config.h"
#include "ordo/core/errors.h"
#include "ordo/train/schedules.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {
struct Point {
  int64_t step;
  double factor;
};

std::shared_ptr<Schedule> schedule_from(const std::string& yaml, const ScheduleFacts& facts) {
  Choice<Schedule> choice{"constant"};
  load_config_text("schedule: " + yaml, [&](Fields& f) { f("schedule", choice, ""); }, {});
  return schedules().build(choice, facts);
}

void gives(const std::string& yaml, const std::vector<Point>& points,
           const ScheduleFacts& facts = {.steps = 100, .dim = 64, .steps_per_epoch = 20.0, .tokens_per_step = 50.0}) {
  const auto schedule = schedule_from(yaml, facts);
  for (const auto& p : points) {
    CAPTURE(yaml, p.step);
    CHECK(schedule->factor(p.step) == Approx(p.factor).epsilon(1e-12));
  }
}
}  // namespace

TEST_CASE("schedules: a table of factors", "[unit]") {
  gives("constant", {{1, 1.0}, {100, 1.0}});
  gives("{kind: constant, warmup: 10}", {{1, 0.1}, {5, 0.5}, {10, 1.0}, {11, 1.0}});
  gives("linear", {{1, 0.99}, {50, 0.5}, {100, 0.0}});
  gives("{kind: linear, warmup: 20, final: 0.5}", {{10, 0.5}, {20, 1.0}, {60, 0.75}, {100, 0.5}});
  gives("cosine", {{50, 0.55}, {100, 0.1}});
  gives("{kind: cosine, warmup: 20, final: 0.2}", {{1, 0.05},
                                                   {20, 1.0},
                                                   {40, 0.2 + 0.8 * 0.5 * (1 + std::cos(std::numbers::pi / 4))},
                                                   {60, 0.6},
                                                   {100, 0.2},
                                                   {120, 0.2}});
  gives("{kind: inverse_sqrt, warmup: 16}", {{4, 0.25}, {16, 1.0}, {64, 0.5}});
  gives("{kind: inverse_sqrt, warmup: 16, scale_by_dim: true}",
        {{4, std::pow(64, -0.5) * 4 * std::pow(16, -1.5)}, {64, std::pow(64, -0.5) * std::pow(64, -0.5)}});
  gives("{kind: wsd, warmup: 10, decay: 0.2}", {{5, 0.5}, {10, 1.0}, {80, 1.0}, {90, 0.5}, {100, 0.0}});
  gives("{kind: wsd, decay: 0.2, shape: sqrt, final: 0.1}", {{80, 1.0}, {85, 1.0 - 0.9 * 0.5}, {100, 0.1}});
  gives("{kind: wsd, decay: 0}", {{1, 1.0}, {100, 1.0}});
}

TEST_CASE("schedules: a warm-up may be given in epochs or tokens", "[unit]") {
  gives("{kind: constant, warmup: 0.5 epochs}", {{5, 0.5}, {10, 1.0}});
  gives("{kind: constant, warmup: 500 tokens}", {{5, 0.5}, {10, 1.0}});
}

TEST_CASE("schedules: no factor is negative, above one or not finite, at the edges of short runs", "[unit]") {
  for (const auto& info : schedules().kinds())
    for (const int64_t steps : {1, 2, 7}) {
      const auto schedule =
          schedules().build(info.kind, {.steps = steps, .dim = 8, .steps_per_epoch = 3.0, .tokens_per_step = 4.0});
      for (int64_t s = 1; s <= steps; ++s) {
        CAPTURE(info.kind, steps, s);
        CHECK(schedule->factor(s) >= 0.0);
        CHECK(schedule->factor(s) <= 1.0);
      }
    }
}

TEST_CASE("schedules: a warm-up longer than the run is refused", "[unit]") {
  const std::string why = thrown<ConfigError>([] { schedule_from("{kind: cosine, warmup: 200}", {.steps = 100}); });
  CHECK(contains(why, "train.schedule.warmup is 200 steps"));
  CHECK(contains(why, "train.steps"));
}

TEST_CASE("horizons: steps, epochs and tokens become steps, and never zero unless they are", "[unit]") {
  const HorizonFacts facts{.steps_per_epoch = 2.5, .tokens_per_step = 64.0};
  CHECK(horizon_steps({7, "steps"}, facts) == 7);
  CHECK(horizon_steps({2, "epochs"}, facts) == 5);
  const HorizonFacts endless{.steps_per_epoch = std::numeric_limits<double>::infinity(), .tokens_per_step = 64.0};
  CHECK(contains(thrown<ConfigError>([&] { horizon_steps({2, "epochs"}, endless); }), "give steps or tokens"));
  CHECK(horizon_steps({0.01, "epochs"}, facts) == 1);
  CHECK(horizon_steps({65, "tokens"}, facts) == 2);
  CHECK(horizon_steps({0, "tokens"}, facts) == 0);
}

}  // namespace ordo::test
