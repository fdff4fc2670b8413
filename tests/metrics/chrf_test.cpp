// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/chrf.h"

#include "metrics/stored.h"
#include "ordo/core/errors.h"

namespace ordo::test {

TEST_CASE("chrf: chrF and chrF++ are sacreBLEU's, of corpora and of sentences", "[golden]") {
  for (const Json& corpus : stored("texts")) {
    check_corpus(corpus, "chrf", Chrf(), "chrf");
    check_corpus(corpus, "chrf++", Chrf({.word_order = 2}));
    check_corpus(corpus, "chrf1 lower", Chrf({.character_order = 4, .beta = 1.0, .lower_case = true}));
  }
}

TEST_CASE("chrf: the name tells the variant", "[unit]") {
  CHECK(Chrf().names().front() == "chrf");
  CHECK(Chrf({.word_order = 2}).names().front() == "chrf++");
  CHECK(Chrf({.beta = 3.0}).names().front() == "chrf3");
  CHECK_THROWS_AS(Chrf({.character_order = 0}), ConfigError);
  CHECK_THROWS_AS(Chrf({.beta = 0.0}), ConfigError);
}

}  // namespace ordo::test
