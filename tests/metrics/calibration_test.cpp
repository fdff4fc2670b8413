// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/calibration.h"

#include "metrics/stored.h"
#include "ordo/core/errors.h"

namespace ordo::test {

TEST_CASE("calibration: the expected error is numpy's, also on the edges of bins", "[golden]") {
  for (const Json& c : stored("classes", "calibration")) {
    Calibration calibration(c.at("bins"));
    for (size_t i = 0; i < c.at("right").size(); ++i) {
      calibration.add(c.at("confidence").at(i), c.at("right").at(i) == 1);
    }
    CHECK(same(values_of(calibration).at("calibration_error"), c.at("calibration_error")));
  }
}

TEST_CASE("calibration: bins tell how right their confidence is", "[unit]") {
  Calibration calibration(2);
  for (const bool right : {true, false, true, true}) calibration.add(0.75, right);
  calibration.add(0.5, false);
  const std::vector<ReliabilityBin> bins = calibration.reliability();
  REQUIRE(bins.size() == 2);
  CHECK(bins[0].examples == 1);
  CHECK(bins[0].confidence == 0.5);
  CHECK(bins[1].examples == 4);
  CHECK(bins[1].accuracy == 0.75);
  CHECK(values_of(calibration).at("calibration_error") == Approx(0.5 / 5));
  CHECK(std::isnan(Calibration(3).reliability()[0].accuracy));
}

TEST_CASE("calibration: only probabilities, and at least one bin", "[unit]") {
  CHECK_THROWS_AS(Calibration(0), ConfigError);
  CHECK_THROWS_AS(Calibration().add(1.5, true), NumericError);
  CHECK_THROWS_AS(Calibration().add(std::nan(""), true), NumericError);
}

}  // namespace ordo::test
