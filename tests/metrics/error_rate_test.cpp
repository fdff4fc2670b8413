// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/error_rate.h"

#include "metrics/stored.h"

namespace ordo::test {

TEST_CASE("error rate: words and characters are jiwer's", "[golden]") {
  for (const Json& corpus : stored("texts")) {
    check_corpus(corpus, "wer", ErrorRate(ErrorUnit::words));
    check_corpus(corpus, "cer", ErrorRate(ErrorUnit::characters));
    check_corpus(corpus, "exact_match", ExactMatch());
  }
}

TEST_CASE("error rate: without a word to hear, what was heard counts as it is", "[unit]") {
  ErrorRate rate(ErrorUnit::words);
  rate.add("so many words", std::vector<std::string>{""});
  CHECK(values_of(rate).at("wer") == 3.0);
  rate.add("a b", std::vector<std::string>{"a c"});
  CHECK(values_of(rate).at("wer") == 2.0);
  CHECK(example_row(rate, 1).at("word_edits") == 1.0);
}

}  // namespace ordo::test
