// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/bleu.h"

#include "metrics/stored.h"
#include "ordo/core/errors.h"

namespace ordo::test {

TEST_CASE("bleu: scores and signatures are sacreBLEU's under every setting", "[golden]") {
  for (const Json& corpus : stored("texts")) {
    check_corpus(corpus, "bleu 13a", Bleu(), "bleu");
    check_corpus(corpus, "bleu char", Bleu({.tokenisation = Tokenisation::characters}));
    check_corpus(corpus, "bleu zh", Bleu({.tokenisation = Tokenisation::chinese}));
    check_corpus(corpus, "bleu none", Bleu({.tokenisation = Tokenisation::none}));
    check_corpus(corpus, "bleu lower", Bleu({.lower_case = true}));
    check_corpus(corpus, "bleu floor", Bleu({.smoothing = BleuSmoothing::floor}));
    check_corpus(corpus, "bleu floor-0.02", Bleu({.smoothing = BleuSmoothing::floor, .smoothing_value = 0.02}));
    check_corpus(corpus, "bleu add-k", Bleu({.smoothing = BleuSmoothing::add_k}));
    check_corpus(corpus, "bleu add-k-0.5", Bleu({.smoothing = BleuSmoothing::add_k, .smoothing_value = 0.5}));
    check_corpus(corpus, "bleu unsmoothed", Bleu({.smoothing = BleuSmoothing::none}));
  }
}

TEST_CASE("bleu: an example's row tells what it adds", "[unit]") {
  Bleu bleu;
  const std::vector<std::string> references{"the cat sat on the mat", "a cat"};
  bleu.add("the cat on the mat", references);
  const Json row = example_row(bleu, 0);
  CHECK(row.at("hypothesis_words") == 5.0);
  CHECK(row.at("reference_words") == 6.0);
  CHECK(row.at("matches_1") == 5.0);
  CHECK(row.at("matches_2") == 3.0);
  CHECK(row.at("matches_4") == 0.0);
}

TEST_CASE("bleu: a smoothing value of nothing is refused", "[unit]") {
  CHECK_THROWS_AS(Bleu({.smoothing = BleuSmoothing::floor, .smoothing_value = 0.0}), ConfigError);
}

}  // namespace ordo::test
