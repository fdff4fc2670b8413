// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/rouge.h"

#include "metrics/stored.h"

namespace ordo::test {

namespace {

void check_rouge(const Json& corpus, const std::string& name, const RougeConfig& config) {
  Rouge rouge(config);
  for (const Json& example : corpus.at("examples")) rouge.add(hypothesis_of(example), references_of(example));
  INFO(name << " of " << corpus.at("examples").dump());
  const std::vector<double> ones(static_cast<size_t>(rouge.examples()), 1.0), found = rouge.values(ones);
  for (size_t i = 0; i < found.size(); ++i) CHECK(same(found[i], corpus.at("rouge").at(name).at(i)));
}

}  // namespace

TEST_CASE("rouge: L and Lsum are rouge-score's", "[golden]") {
  for (const Json& corpus : stored("texts")) {
    check_rouge(corpus, "rouge_l", {});
    check_rouge(corpus, "rouge_lsum", {.unit = RougeUnit::lines});
    check_rouge(corpus, "rouge_l_zh", {.tokenisation = Tokenisation::chinese});
    check_rouge(corpus, "rouge_lsum_char", {.unit = RougeUnit::lines, .tokenisation = Tokenisation::characters});
  }
}

TEST_CASE("rouge: the original's words are Latin, and the signature says so", "[unit]") {
  Rouge latin, chinese({.tokenisation = Tokenisation::chinese});
  for (Rouge* const rouge : {&latin, &chinese}) rouge->add("今天天气好", std::vector<std::string>{"今天天气很好"});
  CHECK(latin.example(0).front() == 0.0);
  CHECK(chinese.example(0).front() == Approx(2.0 * 5 / (5 + 6)));
  CHECK(latin.signature().find("tok:rouge") != std::string::npos);
  CHECK(chinese.signature().find("tok:zh") != std::string::npos);
}

}  // namespace ordo::test
