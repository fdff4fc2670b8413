// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/classes.h"

#include "metrics/stored.h"
#include "ordo/core/errors.h"

namespace ordo::test {

namespace {

std::vector<std::string> class_names(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back("c" + std::to_string(i));
  return names;
}

ClassScores classified(const Json& c, std::optional<int64_t> background = {}) {
  ClassScores scores({.classes = class_names(c.at("classes")), .background = background});
  for (size_t i = 0; i < c.at("truth").size(); ++i) scores.add(c.at("predicted").at(i), c.at("truth").at(i));
  return scores;
}

void check_values(const std::map<std::string, double>& found, const Json& expected) {
  for (const auto& [name, value] : expected.items()) {
    INFO(name << ": expected " << value << ", found " << found.at(name));
    CHECK(same(found.at(name), value));
  }
}

}  // namespace

TEST_CASE("classes: accuracy, Matthews, precision, recall and F1 are scikit-learn's", "[golden]") {
  for (const Json& c : stored("classes", "classes")) {
    INFO(c.dump());
    const ClassScores scores = classified(c);
    check_values(values_of(scores), c.at("scores"));
    check_values(values_of(scores, numbers(c.at("weights"))), c.at("weighted"));
    CHECK(scores.confusion() == c.at("confusion").get<std::vector<int64_t>>());
    for (size_t k = 0; k < c.at("classes").get<size_t>(); ++k) {
      for (const std::string name : {"precision", "recall", "f1"}) {
        CHECK(same(values_of(scores).at(name + "/c" + std::to_string(k)), c.at("each").at(name).at(k)));
      }
    }
  }
}

TEST_CASE("classes: averages may leave out the class that means nothing", "[golden]") {
  for (const Json& c : stored("classes", "classes")) {
    const auto found = values_of(classified(c, 0));
    if (c.at("without_background").is_null()) {
      CHECK(std::isnan(found.at("f1_macro")));
    } else {
      check_values(found, c.at("without_background"));
    }
  }
}

TEST_CASE("classes: what cannot be is refused", "[unit]") {
  CHECK_THROWS_AS(ClassScores({}), ConfigError);
  CHECK_THROWS_AS(ClassScores({.classes = {"a", "a"}}), ConfigError);
  CHECK_THROWS_AS(ClassScores({.classes = {"a", "b"}, .background = 2}), ConfigError);
  ClassScores scores({.classes = {"a", "b"}});
  CHECK_THROWS_AS(scores.add(2, 0), DataError);
  CHECK_THROWS_AS(scores.add(0, -1), DataError);
}

}  // namespace ordo::test
