// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "ordo/config/config.h"
#include "ordo/positions/calendar.h"
#include "support/goldens.h"
#include "support/positions.h"
#include "support/times.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

using Told = Calendar::Feature;
using Apart = Calendar::Frequency;

// Shows `count` features themselves: as wide as they are many, the linear layer an identity.
std::shared_ptr<Calendar> bare_calendar(const Calendar::Config& config, int64_t count) {
  PositionFacts facts = small_facts();
  facts.dim = count;
  auto made = std::make_shared<Calendar>(config, facts);
  const at::NoGradGuard plain;
  made->named_parameters()["project.weight"].copy_(at::eye(count));
  made->named_parameters()["project.bias"].zero_();
  return made;
}
Tensor told_of(Calendar& calendar, const Positions& at, int64_t count) {
  return calendar.input(at::zeros({1, at.length(), count}), at)[0].detach();
}
// One feature of one moment, back on its own scale, from 0.
double unscaled(Told feature, double seconds, double largest) {
  const auto calendar = bare_calendar({.features = {feature}}, 1);
  return (told_of(*calendar, stamped({seconds}), 1).item<double>() + 0.5) * largest;
}
Apart frequency_of(const std::string& name) {
  if (name == "1h") return Apart::hour;
  if (name == "1D") return Apart::day;
  FAIL("unknown frequency " << name);
  return Apart::hour;
}

}  // namespace

TEST_CASE("calendar: features are those of another implementation, of stamps and of steps", "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "time_features")) {
    INFO(golden.id());
    const Tensor seconds = golden.tensor("unix_seconds").to(at::kDouble), expected = golden.tensor("features");
    const int64_t count = expected.size(1);
    const auto calendar = bare_calendar({.frequency = frequency_of(golden.param<std::string>("freq", "")),
                                         .start = golden.param<std::string>("start", "")},
                                        count);
    const auto length = seconds.size(0);
    Positions at = consecutive(0, length, at::kCPU);
    CHECK(close(told_of(*calendar, at, count), expected, golden.tolerance("features")));
    at.coords = seconds.view({1, length, 1});
    CHECK(close(told_of(*calendar, at, count), expected, golden.tolerance("features")));
  }
}

TEST_CASE("calendar: moments by hand", "[unit]") {
  constexpr double kMoment = 1709251199.0;  // Thursday, 2024-02-29 23:59:59
  CHECK(unscaled(Told::second, kMoment, 59.0) == Approx(59.0));
  CHECK(unscaled(Told::minute, kMoment, 59.0) == Approx(59.0));
  CHECK(unscaled(Told::hour, kMoment, 23.0) == Approx(23.0));
  CHECK(unscaled(Told::day_of_week, kMoment, 6.0) == Approx(3.0));
  CHECK(unscaled(Told::day_of_month, kMoment, 30.0) == Approx(28.0));
  CHECK(unscaled(Told::day_of_year, kMoment, 365.0) == Approx(59.0));
  CHECK(unscaled(Told::month, kMoment, 11.0) == Approx(1.0));
  CHECK(unscaled(Told::week_of_year, kMoment, 52.0) == Approx(8.0));
  CHECK(unscaled(Told::day_of_year, 4107542399.0, 365.0) == Approx(58.0));  // 2100-02-28: no leap year
  CHECK(unscaled(Told::day_of_year, 978220800.0, 365.0) == Approx(365.0));  // 2000-12-31: a leap year
  CHECK(unscaled(Told::week_of_year, 1609459200.0, 52.0) == Approx(52.0));  // 2021-01-01 lies in week 53 of 2020
  CHECK(unscaled(Told::hour, -1.0, 23.0) == Approx(23.0));                  // 1969-12-31
  CHECK(unscaled(Told::month, -1.0, 11.0) == Approx(11.0));
}

TEST_CASE("calendar: each frequency tells what may change between two tokens", "[unit]") {
  const auto count = [](Apart frequency) {
    Calendar calendar({.frequency = frequency, .step = 1.0}, small_facts());
    return calendar.named_parameters()["project.weight"].size(1);
  };
  CHECK(count(Apart::second) == 6);
  CHECK(count(Apart::minute) == 5);
  CHECK(count(Apart::hour) == 4);
  CHECK(count(Apart::day) == 3);
  CHECK(count(Apart::week) == 2);
  CHECK(count(Apart::month) == 1);
}

TEST_CASE("calendar: the linear layer learns", "[unit]") {
  const auto calendar = bare_calendar({.start = "2016-07-01 13:00"}, 4);  // no feature is 0 on that day
  const Tensor out = calendar->input(noise({1, 6, 4}, 1), consecutive(0, 6, at::kCPU));
  (out * noise(out.sizes(), 2)).sum().backward();
  CHECK(calendar->named_parameters()["project.weight"].grad().abs().min().item<double>() > 0.0);
}

TEST_CASE("calendar: a start that is no moment is refused", "[unit]") {
  const auto says = [](const std::string& start) {
    Calendar::Config read;
    try {
      load_config_text("start: '" + start + "'", walk_of(read), {.name = "c.yaml"});
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (const char* good : {"2016-07-01", "2016-07-01 13:00", "2016-07-01T13:00:30"}) CHECK(says(good).empty());
  for (const char* bad : {"", "2016-7-1", "2016-02-30", "2016-07-01 24:00", "01.07.2016", "2016-07-01 13"})
    CHECK_THAT(says(bad), Catch::StartsWith("c.yaml:1:") && Catch::Contains("no such moment"));
  CHECK_THROWS_WITH(Calendar({.start = "soon"}, small_facts()), Catch::StartsWith("calendar: start 'soon'"));
}

TEST_CASE("calendar: months have no step of their own", "[unit]") {
  CHECK_THROWS_WITH(Calendar({.frequency = Apart::month}, small_facts()), Catch::Contains("give step"));
}

}  // namespace ordo::test
