// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <cmath>

#include "ordo/tasks/ngram_model.h"

namespace ordo::test {
namespace {

TokenSequence documents_of(const std::vector<std::vector<int64_t>>& documents, int64_t vocab_size) {
  TokenSequence all;
  for (const auto& ids : documents) all.add(TokenStore::of("made", ids, vocab_size), 0, std::ssize(ids));
  return all;
}

}  // namespace

TEST_CASE("counted models: losses by hand, pairs within documents alone", "[unit]") {
  // c(0) = 3, c(1) = 2, c(2) = 0 of 5 tokens; pairs 01 twice, 10 once: none between the two documents.
  const NgramModel model(documents_of({{0, 1, 0}, {0, 1}}, 3), 3);
  const double zero = 4.0 / 8, one = 3.0 / 8, two = 1.0 / 8;
  const NgramLosses losses = model.losses(documents_of({{0, 1, 2}, {1}, {2, 0}}, 3));
  CHECK(losses.unigram == Approx(-(std::log(one) + std::log(two) + std::log(zero)) / 3));
  const double one_after_zero = (2 + 1 * one) / (2 + 1), two_after_one = (0 + 1 * two) / (1 + 1);
  CHECK(losses.bigram == Approx(-(std::log(one_after_zero) + std::log(two_after_one) + std::log(zero)) / 3));
}

TEST_CASE("counted models: probabilities sum to one behind every token", "[unit]") {
  const NgramModel model(documents_of({{0, 1, 1, 2, 0, 3, 1}}, 5), 5);
  for (int64_t before = 0; before < 5; ++before) {
    double unigram = 0.0, bigram = 0.0;
    for (int64_t token = 0; token < 5; ++token) {
      const NgramLosses one = model.losses(documents_of({{before, token}}, 5));
      unigram += std::exp(-one.unigram);
      bigram += std::exp(-one.bigram);
    }
    CHECK(unigram == Approx(1.0));
    CHECK(bigram == Approx(1.0));
  }
}

}  // namespace ordo::test
