// SPDX-License-Identifier: Apache-2.0
// summary.json against numbers that numpy and scipy computed from the same results (tests/goldens/study/make.py).
#include "support/catch.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "made_study.h"

namespace ordo::test {
namespace {

Json stored_study(const std::string& name) {
  const fs::path file = fs::path(ORDO_SOURCE_DIR) / "tests/goldens/study" / (name + ".json");
  return parse_json(read_file(file), file.string());
}

ClaimConfig stored_claim(const Json& stored) {
  ClaimConfig claim{.name = stored.at("name")};
  if (stored.contains("length")) claim.length = stored.at("length").get<int64_t>();
  if (stored.contains("order")) claim.order = stored.at("order").get<std::vector<std::string>>();
  if (stored.contains("level")) claim.level = stored.at("level").get<std::vector<std::string>>();
  if (stored.contains("at_most")) claim.at_most = stored.at("at_most").get<double>();
  if (stored.contains("from"))
    claim.change = Change{.from = stored.at("from").get<int64_t>(), .to = stored.at("to").get<int64_t>()};
  claim.rule = stored.at("rule") == "every_run" ? Rule::every_run : Rule::intervals;
  return claim;
}

MadeStudy study_of(const Json& stored) {
  MadeStudy study(stored.at("metric"), stored.at("levels").get<std::vector<std::string>>(), stored.at("seeds"),
                  stored.at("lengths").get<std::vector<int64_t>>());
  CompareConfig& compare = study.plan.study.compare;
  compare.against = stored.at("against");
  compare.correction = stored.at("correction") == "holm" ? Correction::holm : Correction::benjamini_hochberg;
  compare.solved = stored.at("solved");
  for (const Json& one : stored.at("rows")) {
    ResultRow& row = study.row(one.at("level"), one.at("seed"), one.at("length"));
    row.metrics[compare.metric] = one.at("value");
    row.status = study.run(one.at("level"), one.at("seed")).status = RunStatus::done;
    if (one.contains("items")) row.item_accuracy = one.at("items").get<std::vector<double>>();
    row.twins = one.value("twins", int64_t{1});
  }
  if (stored.contains("claims"))
    for (const Json& claim : stored.at("claims")) study.claim(stored_claim(claim.at("claim")));
  return study;
}

// Every number, list and word that was stored stands in what was made, to 1e-6. Returns how many numbers that were.
int check_same(const Json& made, const Json& stored, const std::string& place) {
  int numbers = 0;
  INFO(place);
  if (stored.is_number()) {
    REQUIRE(made.is_number());
    CHECK(made.get<double>() == Approx(stored.get<double>()).epsilon(0).margin(1e-6));
    return 1;
  }
  if (stored.is_array()) {
    REQUIRE(made.size() == stored.size());
    for (size_t i = 0; i < stored.size(); ++i)
      numbers += check_same(made[i], stored[i], place + "." + std::to_string(i));
  } else if (stored.is_object()) {
    for (const auto& [key, value] : stored.items()) {
      INFO(key);
      if (key == "level") continue;
      REQUIRE(made.contains(key));
      numbers += check_same(made.at(key), value, place + "." + key);
    }
  } else {
    CHECK(made == stored);
  }
  return numbers;
}

// What stands in a list of the summary for a level at a length.
const Json& found_in(const Json& list, const Json& level, const Json& length) {
  for (const Json& one : list)
    if (one.at("factors").at("encoding") == level && one.at("length") == length) return one;
  FAIL("no cell of " << level << " at " << length);
  return list;
}

int check_study(const std::string& name) {
  const Json stored = stored_study(name);
  const Json made = summary_json(study_of(stored).summary());
  int numbers = 0;
  for (const Json& cell : stored.at("cells"))
    numbers += check_same(found_in(made.at("cells"), cell.at("level"), cell.at("length")), cell,
                          cell.at("level").get<std::string>());
  for (const Json& pair : stored.at("pairs")) {
    const auto same = [&](const Json& one) { return one.at("a") == pair.at("a") && one.at("b") == pair.at("b"); };
    const auto found = std::find_if(made.at("pairs").begin(), made.at("pairs").end(), same);
    REQUIRE(found != made.at("pairs").end());
    numbers += check_same(*found, pair, pair.at("a").get<std::string>());
  }
  for (size_t i = 0; i < stored.at("claims").size(); ++i) {
    const Json& claim = stored.at("claims")[i];
    CHECK(made.at("claims")[i].at("verdict") == claim.at("verdict"));
    numbers += check_same(made.at("claims")[i].at("measured"), claim.at("measured"), claim.at("claim").at("name"));
  }
  for (const Json& shares : stored.at("variance"))
    numbers +=
        check_same(found_in(made.at("variance"), shares.at("level"), stored.at("lengths")[0]), shares, "variance");
  return numbers;
}

}  // namespace

TEST_CASE("summary: cells, pairs, claims and shares of variance of accuracies are scipy's", "[golden]") {
  CHECK(check_study("accuracy") > 150);
}

TEST_CASE("summary: cells, pairs and claims of losses are scipy's", "[golden]") { CHECK(check_study("loss") > 100); }

TEST_CASE("summary: hierarchical intervals agree with independent draws to their standard error", "[golden]") {
  const Json stored = stored_study("hierarchical");
  MadeStudy study = study_of(stored);
  study.plan.study.compare.interval = IntervalKind::hierarchical;
  const Interval interval = study.pair("rope").interval;
  CHECK(interval.kind == "hierarchical");
  CHECK(std::abs(interval.low - stored.at("low").get<double>()) < 4 * stored.at("standard_error")[0].get<double>());
  CHECK(std::abs(interval.high - stored.at("high").get<double>()) < 4 * stored.at("standard_error")[1].get<double>());
}

}  // namespace ordo::test
