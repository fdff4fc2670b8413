// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/token_examples.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace ordo::test {

TEST_CASE("token examples: of two blocks an interval goes from the one alone to the other alone", "[unit]") {
  TokenExamples examples;
  examples.add({.nats = 1.0, .right = 1, .tokens = 1, .characters = 4});
  examples.add({.nats = 3.0, .right = 0, .tokens = 1, .characters = 4});
  examples.add({.nats = 8.0, .right = 2, .tokens = 2, .characters = 1});
  Evaluation made{.metrics = {{"loss", 3.0}, {"perplexity", 0.0}, {"accuracy", 0.75}, {"exact_match", 2.0 / 3.0}}};
  examples.add_intervals(std::vector<int64_t>{0, 0, 1}, made);
  const auto spans = [&](const char* name, double low, double high) {
    CAPTURE(name);
    CHECK(made.intervals.at(name).kind == "bootstrap");
    CHECK(made.intervals.at(name).low == Approx(low));
    CHECK(made.intervals.at(name).high == Approx(high));
  };
  spans("loss", 4.0 / 2.0, 8.0 / 2.0);
  spans("perplexity", std::exp(2.0), std::exp(4.0));
  spans("accuracy", 1.0 / 2.0, 2.0 / 2.0);
  spans("exact_match", 1.0 / 2.0, 1.0);
  CHECK(made.intervals.size() == 4);  // none of metrics that were not told
  CHECK(made.metrics.at("perplexity") == 0.0);
}

TEST_CASE("token examples: each alone is drawn alone, and one block has no interval", "[unit]") {
  TokenExamples examples;
  for (const double nats : {1.0, 3.0, 8.0}) examples.add({.nats = nats, .tokens = 1});
  Evaluation made{.metrics = {{"loss", 4.0}}};
  examples.add_intervals(blocks_of(3, 1), made);
  CHECK(made.intervals.at("loss").low == 1.0);
  CHECK(made.intervals.at("loss").high == 8.0);
  Evaluation together{.metrics = {{"loss", 4.0}}};
  examples.add_intervals(blocks_of(3, 3), together);
  CHECK(together.intervals.empty());
}

TEST_CASE("token examples: a loss that is no number leaves no interval and shows which example it is of", "[unit]") {
  TokenExamples examples;
  examples.add({.nats = 1.0, .right = 1, .tokens = 2});
  examples.add({.nats = std::nan(""), .tokens = 2});
  Evaluation made{.metrics = {{"loss", std::nan("")}, {"accuracy", 0.25}}};
  examples.add_intervals(blocks_of(2, 1), made);
  CHECK(made.intervals.empty());
  CHECK(examples.values(0, made.metrics) == Json{{"tokens", 2}, {"loss", 0.5}, {"accuracy", 0.5}});
  CHECK(examples.values(1, made.metrics) == Json{{"tokens", 2}, {"loss", nullptr}});
}

TEST_CASE("token examples: values are those of the example alone", "[unit]") {
  TokenExamples examples;
  examples.add({.nats = 2.0 * std::log(2.0), .right = 1, .tokens = 2, .characters = 4, .bytes = 8});
  const Json told =
      examples.values(0, {{"loss", 0.0}, {"perplexity", 0.0}, {"bits_per_character", 0.0}, {"bits_per_byte", 0.0}});
  CHECK(told.size() == 5);
  CHECK(told["loss"].get<double>() == Approx(std::log(2.0)));
  CHECK(told["perplexity"].get<double>() == Approx(2.0));
  CHECK(told["bits_per_character"].get<double>() == Approx(0.5));
  CHECK(told["bits_per_byte"].get<double>() == Approx(0.25));
}

}  // namespace ordo::test
