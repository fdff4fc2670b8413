// SPDX-License-Identifier: Apache-2.0
#include "ordo/statistics/hierarchy.h"

#include <cmath>

#include "ordo/core/errors.h"
#include "statistics/stored.h"

namespace ordo::test {

namespace {

Hierarchy hierarchy_of(const Json& c) {
  Hierarchy data{.items_of = c.at("items_of") == "seed" ? ItemsOf::seed : ItemsOf::instance};
  for (const Json& run : c.at("runs"))
    data.runs.push_back({run.at("seed"), run.at("instance"), numbers(run.at("items"))});
  return data;
}

}  // namespace

TEST_CASE("hierarchy: shares of variance are those of projections on each source", "[golden]") {
  for (const Json& c : stored("hierarchy")) {
    INFO(c.at("items_of") << ", " << c.at("runs").size() << " runs");
    const VarianceShares shares = variance_shares(hierarchy_of(c));
    const Json& expected = c.at("shares");
    CHECK(shares.seed == nearly(expected.at("seed")));
    CHECK(shares.instance == nearly(expected.at("instance")));
    CHECK(shares.item == nearly(expected.at("item")));
    CHECK(shares.rest == nearly(expected.at("rest")));
    CHECK(shares.variance == nearly(expected.at("variance")));
    CHECK(shares.seed + shares.instance + shares.item + shares.rest == Approx(1.0));
  }
}

TEST_CASE("hierarchy: resamples spread as all of them do, enumerated", "[golden]") {
  constexpr int64_t kDraws = 40000;
  size_t compared = 0;
  for (const Json& c : stored("hierarchy")) {
    const HierarchicalBootstrap found = hierarchical_bootstrap(hierarchy_of(c), 0.95, kDraws);
    CHECK(found.mean == nearly(c.at("mean")));
    CHECK(found.interval.kind == "hierarchical");
    CHECK(found.interval.contains(found.mean));
    if (!c.contains("resamples")) continue;
    const Json& all = c.at("resamples");
    const double spread = all.at("standard_error");
    CHECK(found.standard_error == Approx(spread).epsilon(4.0 / std::sqrt(2.0 * kDraws)));
    CHECK(found.interval.low == Approx(all.at("low").get<double>()).margin(0.05 * spread));
    CHECK(found.interval.high == Approx(all.at("high").get<double>()).margin(0.05 * spread));
    ++compared;
  }
  CHECK(compared >= 4);
}

TEST_CASE("hierarchy: the order of the runs does not matter", "[unit]") {
  Hierarchy data{.runs = {{1, 0, {1, 0}}, {2, 0, {1, 1}}, {3, 0, {0, 0}}}};
  const HierarchicalBootstrap before = hierarchical_bootstrap(data);
  std::swap(data.runs[0], data.runs[2]);
  CHECK(hierarchical_bootstrap(data).interval.low == before.interval.low);
  CHECK(hierarchical_bootstrap(data).interval.high == before.interval.high);
}

TEST_CASE("hierarchy: twins stay together", "[unit]") {
  // One of each pair right: pairs are all alike, single items are not.
  const Hierarchy data{.runs = {{1, 0, {1, 0, 0, 1}}, {2, 0, {0, 1, 1, 0}}}, .twins = 2};
  CHECK(variance_shares(data).variance == 0.0);
  CHECK(variance_shares(data).item == 0.0);
  CHECK_FALSE(hierarchical_bootstrap(data).interval.exists());
  CHECK(hierarchical_bootstrap(data).mean == 0.5);
  CHECK(variance_shares({.runs = data.runs}).item == 1.0);
}

TEST_CASE("hierarchy: one source alone has all of the variance", "[unit]") {
  const Hierarchy seeds{.runs = {{1, 0, {1, 1, 1}}, {2, 0, {0, 0, 0}}, {3, 0, {1, 1, 1}}}};
  CHECK(variance_shares(seeds).seed == 1.0);
  Hierarchy items{.runs = {{1, 7, {1, 0, 1}}, {2, 7, {1, 0, 1}}}, .items_of = ItemsOf::instance};
  CHECK(variance_shares(items).item == Approx(1.0));
  Hierarchy instances{.runs = {{1, 7, {1, 1}}, {1, 8, {0, 0}}, {2, 7, {1, 1}}, {2, 8, {0, 0}}},
                      .items_of = ItemsOf::instance};
  CHECK(variance_shares(instances).instance == Approx(1.0));
}

TEST_CASE("hierarchy: runs that are not balanced, or hold what is no number, have no answer", "[unit]") {
  const std::vector<ScoredRun> good{{1, 1, {1, 0}}, {1, 2, {1, 1}}, {2, 1, {0, 0}}, {2, 2, {0, 1}}};
  const auto refused = [](std::vector<ScoredRun> runs, ItemsOf of, int64_t twins = 1) {
    const HierarchicalBootstrap found =
        hierarchical_bootstrap({.runs = std::move(runs), .twins = twins, .items_of = of});
    return std::isnan(found.shares.seed) && std::isnan(found.mean) && !found.interval.exists();
  };
  CHECK_FALSE(refused(good, ItemsOf::instance));
  CHECK(refused({}, ItemsOf::seed));
  CHECK(refused({good[0]}, ItemsOf::seed));
  CHECK(refused(good, ItemsOf::seed));  // a seed twice
  CHECK(refused({good[0], good[1], good[2]}, ItemsOf::instance));
  CHECK(refused({good[0], good[1], good[2], good[3], good[0]}, ItemsOf::instance));
  CHECK(refused({good[0], good[0], good[2], good[3]}, ItemsOf::instance));
  CHECK(refused(good, ItemsOf::instance, 3));
  CHECK(refused(good, ItemsOf::instance, 0));
  CHECK(refused({{1, 0, {1, 0}}, {2, 0, {1}}}, ItemsOf::seed));
  CHECK(refused({{1, 0, {}}, {2, 0, {}}}, ItemsOf::seed));
  CHECK(refused({{1, 0, {1, 0}}, {2, 0, {1, std::nan("")}}}, ItemsOf::seed));
  CHECK_THROWS_AS(hierarchical_bootstrap({.runs = good}, 0.0), Error);
  CHECK_THROWS_AS(hierarchical_bootstrap({.runs = good}, 0.95, 0), Error);
}

}  // namespace ordo::test
