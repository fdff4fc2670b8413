// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/multi_label.h"

#include "metrics/stored.h"
#include "ordo/core/errors.h"

namespace ordo::test {

TEST_CASE("multi-label: accuracies, averages and areas are scikit-learn's", "[golden]") {
  for (const Json& c : stored("classes", "multi_label")) {
    INFO(c.dump());
    MultiLabelConfig config;
    for (size_t k = 0; k < c.at("labels").get<size_t>(); ++k) config.labels.push_back("l" + std::to_string(k));
    MultiLabelScores scores(config);
    for (size_t i = 0; i < c.at("truth").size(); ++i) {
      scores.add(numbers(c.at("scores").at(i)), c.at("truth").at(i).get<std::vector<int64_t>>());
    }
    const auto found = values_of(scores);
    for (const auto& [name, value] : c.at("values").items()) {
      INFO(name << ": expected " << value << ", found " << found.at(name));
      CHECK(same(found.at(name), value));
    }
    for (size_t k = 0; k < c.at("areas").size(); ++k) {
      CHECK(same(found.at("auc/l" + std::to_string(k)), c.at("areas").at(k)));
    }
  }
}

TEST_CASE("multi-label: an example's row counts its labels", "[unit]") {
  MultiLabelScores scores({.labels = {"a", "b", "c"}});
  scores.add(std::vector{0.9, 0.5, 0.1}, std::vector<int64_t>{0, 2});
  const Json row = example_row(scores, 0);
  CHECK(row.at("predicted") == 2.0);
  CHECK(row.at("actual") == 2.0);
  CHECK(row.at("hits") == 1.0);
  CHECK(row.at("right") == 0.0);
  CHECK(values_of(scores).at("hamming_loss") == Approx(2.0 / 3));
}

TEST_CASE("multi-label: what does not fit is refused and leaves no trace", "[unit]") {
  MultiLabelScores scores({.labels = {"a", "b"}});
  CHECK_THROWS_AS(scores.add(std::vector{0.9}, {}), DataError);
  CHECK_THROWS_AS(scores.add(std::vector{0.9, 0.1}, std::vector<int64_t>{2}), DataError);
  CHECK_THROWS_AS(scores.add(std::vector{0.9, std::nan("")}, {}), NumericError);
  CHECK(scores.examples() == 0);
  CHECK_THROWS_AS(MultiLabelScores({}), ConfigError);
  CHECK_THROWS_AS(MultiLabelScores({.labels = {"a", "a"}}), ConfigError);
}

}  // namespace ordo::test
