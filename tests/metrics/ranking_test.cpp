// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/ranking.h"

#include "metrics/stored.h"
#include "ordo/core/errors.h"

namespace ordo::test {

TEST_CASE("ranking: the area under the ROC curve is scikit-learn's, ties and weights included", "[golden]") {
  for (const Json& c : stored("classes", "areas")) {
    INFO(c.dump());
    RocArea area;
    for (size_t i = 0; i < c.at("truth").size(); ++i) area.add(c.at("scores").at(i), c.at("truth").at(i) == 1);
    CHECK(same(values_of(area).at("auc"), c.at("auc")));
    CHECK(same(values_of(area, numbers(c.at("weights"))).at("auc"), c.at("weighted")));
    double of_positives = 0.0, positives = 0.0;
    for (int64_t i = 0; i < area.examples(); ++i) {
      const Json row = example_row(area, i);
      of_positives += row.at("positive").get<double>() * row.at("auc_placement").get<double>();
      positives += row.at("positive").get<double>();
    }
    CHECK(same(of_positives / positives, c.at("auc")));
  }
}

TEST_CASE("ranking: any growing function of the scores leaves the area as it is", "[unit]") {
  RocArea plain, cubed;
  for (int i = 0; i < 40; ++i) {
    const double score = (i * 7 % 13) - 6.0;
    plain.add(score, i % 3 == 0);
    cubed.add(score * score * score, i % 3 == 0);
  }
  CHECK(values_of(plain) == values_of(cubed));
}

TEST_CASE("ranking: a score that is no number is refused", "[unit]") {
  CHECK_THROWS_AS(RocArea().add(std::nan(""), true), NumericError);
}

}  // namespace ordo::test
