// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <nlohmann/json.hpp>

#include "ordo/core/errors.h"
#include "ordo/train/schedule.h"
#include "support/thrown.h"

namespace ordo::test {

TEST_CASE("scaler: an overflow halves the scale, a window of good updates doubles it", "[unit]") {
  LossScaler scaler({.initial = 1024.0, .window = 3}, true);
  scaler.update(true);
  CHECK(scaler.scale() == 512.0);
  scaler.update(false);
  scaler.update(false);
  CHECK(scaler.scale() == 512.0);
  scaler.update(false);
  CHECK(scaler.scale() == 1024.0);
}

TEST_CASE("scaler: an overflow starts the window anew", "[unit]") {
  LossScaler scaler({.initial = 8.0, .window = 2}, true);
  scaler.update(false);
  scaler.update(true);
  scaler.update(false);
  CHECK(scaler.scale() == 4.0);
  scaler.update(false);
  CHECK(scaler.scale() == 8.0);
}

TEST_CASE("scaler: state in the middle of a window goes through text", "[unit]") {
  LossScaler one({.initial = 8.0, .window = 3}, true), two({.initial = 64.0, .window = 3}, true);
  one.update(false);
  one.update(false);
  two.restore(parse_json(json_line(one.state()), "a test"));
  two.update(false);
  CHECK(two.scale() == 16.0);
}

TEST_CASE("scaler: a window that a resume made shorter ends at once", "[unit]") {
  LossScaler one({.initial = 8.0, .window = 9}, true), two({.initial = 8.0, .window = 2}, true);
  for (int i = 0; i < 5; ++i) one.update(false);
  two.restore(one.state());
  two.update(false);
  CHECK(two.scale() == 16.0);
}

TEST_CASE("scaler: falling below the floor stops with what overflowed and what to do", "[unit]") {
  LossScaler scaler({.initial = 2.0, .floor = 1.0}, true);
  scaler.update(true);
  const std::string why = thrown<NumericError>([&] { scaler.update(true, "the gradient of x is not finite"); });
  CHECK(contains(why, "the gradient of x is not finite"));
  CHECK(contains(why, "train.precision: bf16"));
}

TEST_CASE("scaler: the scale never grows to infinity", "[unit]") {
  LossScaler scaler({.initial = 3e38, .window = 1}, true);
  scaler.update(false);
  CHECK(scaler.scale() == 3e38);
}

TEST_CASE("scaler: without fp16 it is one and stays so", "[unit]") {
  LossScaler scaler({}, false);
  scaler.update(true);
  CHECK(scaler.scale() == 1.0);
}

}  // namespace ordo::test
