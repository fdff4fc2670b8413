// SPDX-License-Identifier: Apache-2.0
// What may be said of a pair, and what must not be.
#include "support/catch.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "made_study.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

const std::vector<double> kHalf{0.5, 0.5, 0.5};

MadeStudy three_seeds() {
  MadeStudy study("accuracy", {"none", "rope"}, 3);
  study.plan.study.compare.against = "none";
  return study;
}

MadeStudy eight_seeds(const std::vector<double>& none, const std::vector<double>& rope) {
  MadeStudy study("accuracy", {"none", "rope"}, 8);
  study.plan.study.compare.against = "none";
  study.give("none", none).give("rope", rope);
  return study;
}

bool has_note(const Summary& summary, const std::string& part) {
  return std::any_of(summary.notes.begin(), summary.notes.end(), [&](const auto& n) { return contains(n, part); });
}

}  // namespace

TEST_CASE("summary: three seeds that do not overlap are separated, never better", "[unit]") {
  auto study = three_seeds();
  study.give("none", {0.50, 0.52, 0.49}).give("rope", {0.97, 0.99, 0.98});
  const Pair pair = study.pair("rope");
  CHECK(pair.verdict == "separated");
  CHECK(pair.p == 0.25);
  CHECK(pair.p_smallest == 0.25);
  CHECK(pair.wins == 3);
  CHECK(pair.b == "none");
  CHECK(has_note(study.summary(), "3 seeds: p cannot fall below 0.25"));
  CHECK(contains(study.summary().headline, "rope is separated from none, better in every seed"));
  CHECK_FALSE(contains(study.summary().headline, "rope is better"));
}

TEST_CASE("summary: with seeds enough and a corrected p below 0.05 a level is better, its rival worse", "[unit]") {
  const std::vector<double> low{0.50, 0.52, 0.49, 0.51, 0.50, 0.53, 0.48, 0.5};
  const std::vector<double> high{0.97, 0.99, 0.98, 0.96, 0.97, 0.98, 0.99, 0.95};
  CHECK(eight_seeds(low, high).pair("rope").verdict == "better");
  CHECK(eight_seeds(high, low).pair("rope").verdict == "worse");
  CHECK(eight_seeds(low, high).pair("rope").p == 2.0 / 256.0);
  CHECK(contains(eight_seeds(low, high).summary().headline, "rope is better than none"));
  CHECK(contains(eight_seeds(low, high).summary().headline, "8 seeds, Holm-corrected p at most 0.0079"));
}

TEST_CASE("summary: of a loss the smaller one is better", "[unit]") {
  MadeStudy study("loss", {"rope", "none"}, 6);
  study.plan.study.compare.against = "none";
  study.give("rope", {1.93, 1.94, 1.92, 1.93, 1.95, 1.91}).give("none", {2.34, 2.35, 2.33, 2.34, 2.36, 2.33});
  const Pair pair = study.pair("rope");
  CHECK(pair.difference < 0.0);
  CHECK(pair.wins == 6);
  CHECK(pair.verdict == "better");
}

TEST_CASE("summary: a difference whose interval contains 0 names no winner and says why", "[unit]") {
  auto study = three_seeds();
  study.give("none", {0.50, 0.52, 0.49}).give("rope", {0.51, 0.49, 0.52});
  const Pair pair = study.pair("rope");
  CHECK(pair.verdict == "not told apart");
  CHECK(contains(pair.why, "contains 0"));
  CHECK(contains(study.summary().headline, "rope is not told apart from none"));
}

TEST_CASE("summary: seeds that do not overlap but differ wildly are not told apart", "[unit]") {
  auto study = three_seeds();
  study.give("none", {0.40, 0.41, 0.42}).give("rope", {0.43, 0.60, 0.58});
  const Pair pair = study.pair("rope");
  CHECK(pair.interval.contains(0.0));
  CHECK(pair.verdict == "not told apart");
  CHECK(contains(pair.why, "every seed of rope is better than every seed of none, but"));
}

TEST_CASE("summary: a difference smaller than the smallest that matters names no winner", "[unit]") {
  auto study = eight_seeds({0.900, 0.902, 0.899, 0.901, 0.900, 0.903, 0.898, 0.9},
                           {0.911, 0.912, 0.910, 0.911, 0.910, 0.913, 0.909, 0.91});
  CHECK(study.pair("rope").verdict == "better");
  study.plan.study.compare.smallest_difference = 0.02;
  CHECK(study.pair("rope").verdict == "not told apart");
  CHECK(contains(study.pair("rope").why, "smallest difference that matters (0.02)"));
}

TEST_CASE("summary: seeds enough for one comparison are too few for five after Holm", "[unit]") {
  MadeStudy study("accuracy", {"none", "a", "b", "c", "d", "e"}, 6);
  study.plan.study.compare.against = "none";
  study.give("none", {0.50, 0.51, 0.49, 0.50, 0.52, 0.48});
  for (const char* level : {"a", "b", "c", "d", "e"}) study.give(level, {0.97, 0.99, 0.96, 0.97, 0.98, 0.95});
  CHECK(study.pair("a").p == 0.03125);
  CHECK(study.pair("a").p_adjusted == 5 * 0.03125);
  CHECK(study.pair("a").verdict == "separated");
  CHECK(has_note(study.summary(), "after Holm over 5 comparisons 8 seeds are needed"));
  study.plan.study.compare.correction = Correction::benjamini_hochberg;
  CHECK(study.pair("a").verdict == "better");
}

TEST_CASE("summary: one seed gives no interval, no test and no winner", "[unit]") {
  MadeStudy study("accuracy", {"none", "rope"}, 1);
  study.plan.study.compare.against = "none";
  study.give("none", {0.5}).give("rope", {1.0});
  CHECK_FALSE(study.cell("rope").interval.exists());
  CHECK(study.pair("rope").verdict == "not told apart");
  CHECK(contains(study.pair("rope").why, "1 seed"));
  CHECK(has_note(study.summary(), "1 seed: no interval"));
}

TEST_CASE("summary: identical arms are not told apart", "[unit]") {
  auto study = three_seeds();
  study.give("none", {0.8, 0.9, 0.7}).give("rope", {0.8, 0.9, 0.7});
  const Pair pair = study.pair("rope");
  CHECK(pair.difference == 0.0);
  CHECK(pair.wins == 0);
  CHECK(pair.p == 1.0);
  CHECK(pair.verdict == "not told apart");
}

TEST_CASE("summary: without any spread over the seeds the items decide, twins counted once", "[unit]") {
  auto study = three_seeds();
  study.give("none", kHalf).give("rope", {1.0, 1.0, 1.0});
  std::vector<double> half;
  for (int pair = 0; pair < 20; ++pair) half.insert(half.end(), {1.0, 0.0});
  study.items("none", half, 2).items("rope", std::vector<double>(40, 1.0), 2);
  const Cell none = study.cell("none"), rope = study.cell("rope");
  CHECK(none.sd == 0.0);
  CHECK(none.interval.kind == "exact");
  const Interval expected = exact_interval(30.0, 60);  // 20 pairs of each of three seeds
  CHECK(none.interval.low == expected.low);
  CHECK(none.interval.high == expected.high);
  CHECK(rope.interval.low == exact_interval(60.0, 60).low);
  CHECK(study.pair("rope").verdict == "separated");
  CHECK(study.pair("rope").interval.kind == "exact");
  CHECK(contains(study.summary().headline, "none is at chance (0.5000 or less in every run)"));
}

TEST_CASE("summary: items that all seeds share are counted once", "[unit]") {
  auto study = three_seeds();
  study.plan.study.instances = Instances::fixed;
  study.give("none", kHalf).items("none", {1.0, 0.0, 1.0, 0.0});
  CHECK(study.cell("none").interval.high == exact_interval(2.0, 4).high);
}

TEST_CASE("summary: runs that name one instance share its items, whatever the study says", "[unit]") {
  auto study = three_seeds();
  study.give("none", kHalf).items("none", {1.0, 0.0, 1.0, 0.0});
  for (auto& row : study.results.rows) row.instance = 7;
  CHECK(study.cell("none").interval.high == exact_interval(2.0, 4).high);
}

TEST_CASE("summary: where some seeds learn and some do not, runs are counted instead of averaged", "[unit]") {
  MadeStudy study("accuracy", {"none", "rope"}, 5);
  study.plan.study.compare.against = "none";
  study.plan.study.compare.solved = 0.95;
  study.give("none", {0.50, 0.51, 0.49, 0.5, 0.5}).give("rope", {0.99, 0.98, 0.52, 0.99, 0.97});
  const Cell cell = study.cell("rope");
  CHECK(cell.two_modes);
  CHECK_FALSE(cell.interval.exists());
  CHECK(cell.solved == 4);
  CHECK(cell.runs == 5);
  CHECK(cell.solved_interval.low == exact_interval(4.0, 5).low);
  CHECK(study.pair("rope").verdict == "separated");
  CHECK_FALSE(study.pair("rope").interval.exists());
  CHECK(contains(study.pair("rope").why, "no interval of the mean is honest"));
}

TEST_CASE("summary: losses are of two modes when they are far apart, not when they are small", "[unit]") {
  MadeStudy study("loss", {"none", "rope"}, 3);
  study.give("none", {2.0, 2.01, 3.3}).give("rope", {0.0003, 0.0004, 0.0009});
  CHECK(study.cell("none").two_modes);
  CHECK_FALSE(study.cell("rope").two_modes);
}

TEST_CASE("summary: a diverged run is unsolved, ranks last, and its mean is given with and without it", "[unit]") {
  auto study = three_seeds();
  study.give("none", {0.50, 0.52, 0.49}).give("rope", {0.97, 0.99, 0.98});
  study.diverge("none", 2);
  const Cell cell = study.cell("none");
  CHECK(cell.diverged == 1);
  CHECK(cell.runs == 3);
  CHECK(cell.n == 2);
  CHECK(std::abs(cell.mean - 0.495) < 1e-12);
  CHECK(std::abs(*cell.mean_with_diverged - 0.33) < 1e-12);
  CHECK(study.summary().complete);
  const Pair pair = study.pair("rope");
  CHECK(pair.wins == 3);
  CHECK_FALSE(pair.interval.exists());
  CHECK(pair.verdict == "separated");
  study.diverge("rope", 1);
  CHECK(study.pair("rope").verdict == "not told apart");
  CHECK(contains(study.pair("rope").why, "1 run of rope and 1 run of none diverged"));
}

TEST_CASE("summary: a diverged loss has no mean with it", "[unit]") {
  MadeStudy study("loss", {"none", "rope"}, 3);
  study.give("none", {2.3, 2.4, 2.5}).give("rope", {1.9, 2.0, 2.1});
  study.diverge("rope", 3);
  CHECK_FALSE(study.cell("rope").mean_with_diverged);
  CHECK(summary_json(study.summary()).dump().find("\"mean_with_diverged\":null") != std::string::npos);
}

TEST_CASE("summary: a metric that is not a number counts as a diverged run", "[unit]") {
  auto study = three_seeds();
  study.give("none", {0.50, std::numeric_limits<double>::quiet_NaN(), 0.49}).give("rope", {0.97, 0.99, 0.98});
  CHECK(study.cell("none").diverged == 1);
  CHECK(study.cell("none").values == std::vector<double>{0.50, 0.49});
  CHECK_FALSE(study.pair("rope").interval.exists());
}

TEST_CASE("summary: arms are paired by the seeds that both have, and that is said", "[unit]") {
  auto study = three_seeds();
  study.give("none", {0.50, 0.52, 0.49}).give("rope", {0.97, 0.99, 0.98});
  study.lose("none", 2);
  const Pair pair = study.pair("rope");
  CHECK(pair.seeds == std::vector<int64_t>{1, 3});
  CHECK(std::abs(pair.difference - 0.48) < 1e-12);
  CHECK(contains(pair.why, "paired by the 2 seeds that both have, 1 run left out"));
  const Summary summary = study.summary();
  CHECK_FALSE(summary.complete);
  CHECK(summary.headline.starts_with("incomplete: 1 of 6 runs is missing; "));
  CHECK(study.cell("none").missing == 1);
}

TEST_CASE("summary: a failed run is told with its reason and makes the study incomplete", "[unit]") {
  auto study = three_seeds();
  study.give("none", {0.50, 0.52, 0.49}).give("rope", {0.97, 0.99, 0.98});
  study.lose("rope", 3);
  study.run("rope", 3).status = RunStatus::failed;
  study.run("rope", 3).why = "out of memory";
  CHECK(study.summary().failed == std::vector<std::string>{"runs/rope-seed3: out of memory"});
  CHECK(study.summary().headline.starts_with("incomplete: 1 of 6 runs failed; "));
}

TEST_CASE("summary: a study without any result says so and nothing else", "[unit]") {
  const Summary summary = three_seeds().summary();
  CHECK(summary.headline == "incomplete: 6 of 6 runs are missing.");
  CHECK(summary.notes.empty());
  CHECK(summary.pairs.front().verdict == "not told apart");
}

TEST_CASE("summary: arms that have no seed in common are not compared", "[unit]") {
  auto study = three_seeds();
  study.give("none", {0.50}).row("rope", 2).metrics["accuracy"] = 0.9;
  study.row("rope", 2).status = study.run("rope", 2).status = RunStatus::done;
  CHECK(study.pair("rope").n == 0);
  CHECK(contains(study.pair("rope").why, "rope and none have no seed in common"));
  CHECK(contains(study.summary().headline, "rope has no seed in common with none yet"));
}

TEST_CASE("summary: a scaling that an encoding does not take is no missing run", "[unit]") {
  MadeStudy study("loss", {"rope", "alibi"}, 3);
  study.give("rope", {2.36, 2.40, 2.30}).give("alibi", {2.0, 2.1, 2.2});
  auto scaled = study.row("rope", 1);
  scaled.scaling = "yarn";
  study.results.rows.push_back(scaled);
  study.plan.study.compare.factor = "scaling";
  study.plan.study.compare.against = "none";
  const Summary summary = study.summary();
  REQUIRE(summary.pairs.size() == 1);
  CHECK(summary.pairs[0].where == Combination{{"encoding", "rope"}});
  for (const auto& cell : summary.cells) CHECK(cell.refused.empty());
}

TEST_CASE("summary: shares of variance are told where something varies", "[unit]") {
  auto study = three_seeds();
  study.give("none", kHalf).items("none", {1.0, 0.0, 1.0, 0.0}, 2);
  study.give("rope", {0.5, 0.75, 0.75});
  study.row("rope", 1).item_accuracy = {1.0, 0.0, 1.0, 0.0};
  study.row("rope", 2).item_accuracy = {1.0, 0.0, 1.0, 1.0};
  study.row("rope", 3).item_accuracy = {1.0, 1.0, 1.0, 0.0};
  const auto variance = study.summary().variance;
  REQUIRE(variance.size() == 1);
  CHECK(variance[0].levels == Combination{{"encoding", "rope"}});
  CHECK(variance[0].shares.seed + variance[0].shares.item == Approx(1.0));
}

TEST_CASE("summary: a length that a model refuses has no value, no area, and a reason", "[unit]") {
  MadeStudy study("accuracy", {"none", "learned"}, 3, {16, 32});
  for (const int64_t length : {16, 32}) study.give("none", {0.5, 0.6, 0.4}, length);
  study.give("learned", {0.9, 0.8, 0.95});
  for (const int64_t seed : {1, 2, 3}) {
    study.row("learned", seed, 32).status = RunStatus::done;
    study.row("learned", seed, 32).refused = "its table has 16 places";
  }
  CHECK(study.cell("learned", 32).n == 0);
  CHECK(study.cell("learned", 32).refused == "its table has 16 places");
  CHECK(study.cell("learned", 0).refused == "length 32: its table has 16 places");
  CHECK(study.cell("none", 0).n == 3);
  CHECK(study.summary().complete);
  CHECK(has_note(study.summary(), "learned at length 32: its table has 16 places"));
}

TEST_CASE("summary: the area under a curve weighs lengths by their logarithm", "[unit]") {
  MadeStudy study("accuracy", {"rope"}, 2, {16, 32, 128});
  study.give("rope", {1.0, 1.0}, 16).give("rope", {0.8, 0.6}, 32).give("rope", {0.2, 0.0}, 128);
  // (1 x 0.9 + 2 x 0.5) / 3 and (1 x 0.8 + 2 x 0.3) / 3
  const Cell area = study.cell("rope", 0);
  CHECK(std::abs(area.values[0] - 1.9 / 3) < 1e-12);
  CHECK(std::abs(area.values[1] - 1.4 / 3) < 1e-12);
  study.plan.study.compare.solved = 0.7;
  const LengthCurve curve = study.summary().curves.at(0);
  CHECK(curve.lengths == std::vector<int64_t>{16, 32, 128});
  CHECK(curve.first_failing == 128);
  CHECK(std::abs(curve.area - 3.3 / 6) < 1e-12);
}

TEST_CASE("summary: the area may be what is compared", "[unit]") {
  MadeStudy study("accuracy", {"none", "rope"}, 3, {16, 32});
  study.plan.study.compare.area = true;
  study.plan.study.compare.against = "none";
  study.give("none", {0.5, 0.52, 0.48}, 16).give("none", {0.3, 0.32, 0.28}, 32);
  study.give("rope", {0.9, 0.92, 0.91}, 16).give("rope", {0.9, 0.91, 0.92}, 32);
  CHECK(study.pair("rope").length == 0);
  CHECK(study.pair("rope").verdict == "separated");
  CHECK(contains(study.summary().headline, "accuracy over all lengths"));
}

TEST_CASE("summary: all against all are as many comparisons as there are pairs", "[unit]") {
  MadeStudy study("loss", {"rope", "learned", "none"}, 3);
  study.give("rope", {1.93, 1.94, 1.92}).give("learned", {2.20, 2.21, 2.19}).give("none", {2.34, 2.35, 2.33});
  const Summary summary = study.summary();
  CHECK(summary.family == 3);
  CHECK(summary.pairs.size() == 3);
  CHECK(contains(summary.headline, "rope is separated from and in every seed better than every other level"));
}

TEST_CASE("summary: each combination of the other factors is compared for itself", "[unit]") {
  MadeStudy study("accuracy", {}, 0);
  study.plan.study.compare.against = "none";
  study.plan.study.vary.push_back({.name = "task"});
  for (const char* encoding : {"none", "rope"})
    for (const char* task : {"copy", "sort"})
      for (const int64_t seed : {1, 2, 3}) study.add_run({{"encoding", encoding}, {"task", task}}, seed, {16});
  for (auto& row : study.results.rows) {
    row.status = RunStatus::done;
    row.metrics["accuracy"] = (row.levels[0].second == "rope" ? 0.9 : 0.5) + 0.01 * static_cast<double>(row.seed);
  }
  for (auto& run : study.results.runs) run.status = RunStatus::done;
  const Summary summary = study.summary();
  CHECK(summary.pairs.size() == 2);
  CHECK(summary.pairs[0].where == Combination{{"task", "copy"}});
  CHECK(contains(summary.headline, "copy: rope"));
  CHECK(contains(summary.headline, "sort: rope"));
  CHECK_FALSE(summary.ranks);  // six blocks
}

TEST_CASE("summary: a rank table comes with ten blocks", "[unit]") {
  MadeStudy study("accuracy", {"none", "rope"}, 10);
  study.give("none", std::vector<double>(10, 0.5));
  study.give("rope", {0.9, 0.91, 0.92, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.4});
  const auto ranks = study.summary().ranks;
  REQUIRE(ranks);
  CHECK(ranks->table.blocks == 10);
  CHECK(std::abs(ranks->table.ranks[1] - 1.1) < 1e-12);
}

TEST_CASE("summary: scalings on the same weights are compared as levels of a factor of their own", "[unit]") {
  MadeStudy study("loss", {"rope"}, 3);
  study.give("rope", {2.36, 2.40, 2.30});
  auto rows = study.results.rows;
  for (auto& row : rows) {
    row.scaling = "yarn";
    row.metrics["loss"] -= 0.34;
  }
  study.results.rows.insert(study.results.rows.end(), rows.begin(), rows.end());
  study.plan.study.compare.factor = "scaling";
  study.plan.study.compare.against = "none";
  const Pair pair = study.pair("yarn");
  CHECK(pair.b == "none");
  CHECK(std::abs(pair.difference + 0.34) < 1e-12);
  CHECK(pair.wins == 3);
}

TEST_CASE("summary: instances of a seed are averaged before seeds are counted", "[unit]") {
  MadeStudy study("accuracy", {"rope"}, 2);
  study.give("rope", {0.8, 0.6});
  for (auto& row : study.results.rows) row.instance = 1;
  auto rows = study.results.rows;
  for (auto& row : rows) {
    row.instance = 2;
    row.metrics["accuracy"] += 0.1;
  }
  study.results.rows.insert(study.results.rows.end(), rows.begin(), rows.end());
  study.plan.study.instances = Instances::crossed;
  const Cell cell = study.cell("rope");
  CHECK(cell.values.size() == 4);
  CHECK(cell.n == 2);
  CHECK(std::abs(cell.sd - 0.2 / std::sqrt(2.0)) < 1e-12);
}

TEST_CASE("summary: runs of a seed that began or were fed differently are named", "[unit]") {
  auto study = three_seeds();
  study.give("none", {0.5, 0.5, 0.5}).give("rope", {0.9, 0.9, 0.9});
  for (auto& run : study.results.runs) {
    run.first_weights = "w" + std::to_string(run.seed);
    run.data_order = "d" + std::to_string(run.seed);
  }
  study.run("rope", 1).unpaired_parameters = 64;
  const PairingProof whole = study.summary().pairing;
  CHECK(whole.groups == 3);
  CHECK(whole.weights_equal == 3);
  CHECK(whole.order_equal == 3);
  CHECK(whole.unpaired == std::vector<std::pair<std::string, int64_t>>{{"rope", 64}});
  study.run("rope", 2).data_order = "other";
  const Summary broken = study.summary();
  CHECK(broken.pairing.order_equal == 2);
  CHECK(has_note(broken, "not paired: seed 2: the order of the data of runs/rope-seed2 differs"));
}

TEST_CASE("summary: an arm goes on with the trial of the best mean, and waits for all of them", "[unit]") {
  MadeStudy study("accuracy", {"rope"}, 1);
  study.plan.study.tune = TuneConfig{.per = {"encoding"}, .metric = "accuracy", .seeds = {101, 102}};
  for (const auto& [trial, value] : std::vector<std::pair<std::string, double>>{{"lr=0.1", 0.7}, {"lr=0.2", 0.8}})
    for (const int64_t seed : {101, 102}) {
      const std::string folder = "tune/" + trial + std::to_string(seed);
      study.plan.trials.push_back({.folder = folder, .levels = {{"encoding", "rope"}}, .seed = seed, .trial = trial});
      study.results.trials.push_back({.run = folder, .seed = seed, .status = RunStatus::done});
      study.results.trial_rows.push_back(
          {.seed = seed, .run = folder, .length = 16, .metrics = {{"accuracy", value}}, .status = RunStatus::done});
    }
  auto trials = study.summary().tune;
  REQUIRE(trials.size() == 2);
  CHECK_FALSE(trials[0].chosen);
  CHECK(trials[1].chosen);
  study.results.trials.back().status = RunStatus::diverged;
  study.results.trial_rows.back().status = RunStatus::diverged;
  trials = study.summary().tune;
  CHECK(trials[0].chosen);  // a whole trial before one that lost a run
  study.results.trials.back().status = RunStatus::missing;
  trials = study.summary().tune;
  CHECK_FALSE(trials[0].chosen);
  CHECK_FALSE(trials[1].chosen);
}

TEST_CASE("summary: its JSON has the promised keys and is the same every time", "[unit]") {
  auto study = three_seeds();
  study.give("none", {0.50, 0.52, 0.49}).give("rope", {0.97, 0.99, 0.98});
  const Json json = summary_json(study.summary());
  CHECK(json_text(json) == json_text(summary_json(study.summary())));
  CHECK(json.at("runs") == 6);
  CHECK(json.at("failed").empty());
  const Json& cell = json.at("cells").at(1);
  CHECK(cell.at("factors").at("encoding") == "rope");
  CHECK(cell.at("interval").at("kind") == "t");
  CHECK(cell.at("solved") == Json::array({0, 3}));
  CHECK(json.at("pairs").at(0).at("wins") == Json::array({3, 3}));
  const auto costs = json_text(json).find("\"cost\"");
  CHECK(json_text(json).find("seconds\"") > costs);
}

}  // namespace ordo::test
