// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/likelihood.h"

#include <numbers>

#include "metrics/stored.h"
#include "ordo/core/errors.h"

namespace ordo::test {

TEST_CASE("likelihood: a fair coin a character is one bit, and a perplexity of two a token", "[unit]") {
  Likelihood likelihood;
  likelihood.add(3.0 * std::numbers::ln2, 3, 3, 6);
  likelihood.add(5.0 * std::numbers::ln2, 5, 5, 10);
  const auto found = values_of(likelihood);
  CHECK(found.at("loss") == Approx(std::numbers::ln2));
  CHECK(found.at("perplexity") == Approx(2.0));
  CHECK(found.at("bits_per_character") == Approx(1.0));
  CHECK(found.at("bits_per_byte") == Approx(0.5));
}

TEST_CASE("likelihood: without a size there are no bits per character", "[unit]") {
  Likelihood likelihood;
  likelihood.add(1.0, 2);
  CHECK(std::isnan(values_of(likelihood).at("bits_per_character")));
  CHECK(values_of(likelihood).at("loss") == 0.5);
  CHECK_THROWS_AS(likelihood.add(std::nan(""), 1), NumericError);
}

}  // namespace ordo::test
