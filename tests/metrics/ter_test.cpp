// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/ter.h"

#include "metrics/stored.h"

namespace ordo::test {

TEST_CASE("ter: edits and moves are sacreBLEU's, of corpora and of sentences", "[golden]") {
  for (const Json& corpus : stored("texts")) {
    check_corpus(corpus, "ter", Ter(), "ter");
    check_corpus(corpus, "ter case", Ter(/*case_sensitive=*/true));
  }
}

TEST_CASE("ter: a run of words that moved is one edit", "[unit]") {
  Ter ter;
  ter.add("c d e a b", std::vector<std::string>{"a b c d e"});
  CHECK(example_row(ter, 0).at("edits") == 1.0);
  CHECK(example_row(ter, 0).at("ter") == 20.0);
}

}  // namespace ordo::test
