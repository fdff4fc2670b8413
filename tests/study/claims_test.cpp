// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "made_study.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

MadeStudy bounded(Rule rule, const std::vector<double>& values) {
  MadeStudy study("accuracy", {"rope"}, static_cast<int64_t>(values.size()));
  study.give("rope", values);
  study.claim({.name = "seen", .level = {"rope"}, .at_least = 0.95, .rule = rule});
  return study;
}

MadeStudy ordered(Rule rule, const std::vector<double>& rope, const std::vector<double>& none) {
  MadeStudy study("loss", {"rope", "none"}, static_cast<int64_t>(rope.size()));
  study.give("rope", rope).give("none", none);
  study.claim({.name = "first", .order = {"rope", "none"}, .rule = rule});
  return study;
}

MadeStudy grown(const Change& change, const std::vector<double>& near, const std::vector<double>& far) {
  MadeStudy study("loss", {"rope"}, static_cast<int64_t>(near.size()), {64, 256});
  study.give("rope", near, 64).give("rope", far, 256);
  study.claim({.name = "steady", .level = {"rope"}, .at_most = 0.05, .change = change});
  return study;
}

}  // namespace

TEST_CASE("claims: a bound on every run holds if each run meets it", "[unit]") {
  CHECK(bounded(Rule::every_run, {0.95, 0.97, 1.0}).verdict().verdict == "holds");
  const auto fails = bounded(Rule::every_run, {0.94, 0.97, 1.0}).verdict();
  CHECK(fails.verdict == "fails");
  CHECK(fails.why == "rope 0.9400, 0.9700, 1.0000");
  CHECK(fails.text == "accuracy at the first length: rope at least 0.95, in every run");
}

TEST_CASE("claims: a missing run leaves a bound on every run undecided unless another fails it", "[unit]") {
  auto study = bounded(Rule::every_run, {0.96, 0.97, 1.0});
  study.lose("rope", 2);
  CHECK(study.verdict().verdict == "undecided");
  CHECK(contains(study.verdict().why, "1 run missing"));
  study.row("rope", 1).metrics["accuracy"] = 0.5;
  CHECK(study.verdict().verdict == "fails");
}

TEST_CASE("claims: a diverged run meets no bound", "[unit]") {
  auto study = bounded(Rule::every_run, {0.96, 0.97, 1.0});
  study.diverge("rope", 2);
  CHECK(study.verdict().verdict == "fails");
  CHECK(contains(study.verdict().why, "diverged"));
  study.plan.study.claims[0].rule = Rule::intervals;
  CHECK(study.verdict().verdict == "undecided");
  study.plan.study.claims[0].rule = Rule::mean;
  CHECK(study.verdict().verdict == "undecided");
}

TEST_CASE("claims: a bound by intervals is undecided while it lies inside", "[unit]") {
  CHECK(bounded(Rule::intervals, {0.98, 0.985, 0.99}).verdict().verdict == "holds");
  CHECK(bounded(Rule::intervals, {0.90, 0.905, 0.91}).verdict().verdict == "fails");
  CHECK(bounded(Rule::intervals, {0.90, 0.95, 0.99}).verdict().verdict == "undecided");
  const auto one = bounded(Rule::intervals, {0.99}).verdict();
  CHECK(one.verdict == "undecided");
  CHECK(contains(one.why, "1 seed: no interval"));
}

TEST_CASE("claims: a bound by the mean asks for nothing else", "[unit]") {
  CHECK(bounded(Rule::mean, {0.90, 0.96, 1.0}).verdict().verdict == "holds");
  CHECK(bounded(Rule::mean, {0.90, 0.94, 1.0}).verdict().verdict == "fails");
}

TEST_CASE("claims: both bounds must be met", "[unit]") {
  auto study = bounded(Rule::mean, {0.97, 0.98});
  study.plan.study.claims[0].at_most = 0.97;
  CHECK(study.verdict().verdict == "fails");
  CHECK(contains(study.verdict().text, "at least 0.95 and at most 0.97"));
}

TEST_CASE("claims: of several levels each must meet the bound", "[unit]") {
  MadeStudy study("accuracy", {"rope", "alibi"}, 3);
  study.give("rope", {0.99, 0.98, 0.97}).give("alibi", {0.99, 0.98, 0.2});
  study.claim({.name = "seen", .level = {"rope", "alibi"}, .at_least = 0.95, .rule = Rule::every_run});
  const auto verdict = study.verdict();
  CHECK(verdict.verdict == "fails");
  CHECK(verdict.why == "alibi 0.9900, 0.9800, 0.2000");
  CHECK(verdict.measured.size() == 2);
}

TEST_CASE("claims: an order by intervals needs them apart", "[unit]") {
  CHECK(ordered(Rule::intervals, {1.93, 1.94, 1.92}, {2.34, 2.35, 2.33}).verdict().verdict == "holds");
  CHECK(ordered(Rule::intervals, {2.34, 2.35, 2.33}, {1.93, 1.94, 1.92}).verdict().verdict == "fails");
  CHECK(ordered(Rule::intervals, {1.9, 2.0, 2.1}, {2.0, 2.1, 2.2}).verdict().verdict == "undecided");
}

TEST_CASE("claims: an order in every seed compares a seed with itself", "[unit]") {
  CHECK(ordered(Rule::every_run, {1.9, 2.0, 2.1}, {1.95, 2.05, 2.15}).verdict().verdict == "holds");
  CHECK(ordered(Rule::every_run, {1.9, 2.0, 2.1}, {1.95, 2.05, 2.05}).verdict().verdict == "fails");
  CHECK(ordered(Rule::every_run, {1.9, 2.0}, {1.9, 2.05}).verdict().verdict == "fails");  // a draw is no lead
  auto diverged = ordered(Rule::every_run, {1.9, 2.0, 2.1}, {1.95, 2.05, 2.15});
  diverged.diverge("none", 2);
  CHECK(diverged.verdict().verdict == "holds");
  diverged.diverge("rope", 1);
  CHECK(diverged.verdict().verdict == "fails");
}

TEST_CASE("claims: an order in every seed compares an instance with itself", "[unit]") {
  auto study = ordered(Rule::every_run, {1.9, 2.0}, {1.95, 2.05});
  auto rows = study.results.rows;
  for (auto& row : study.results.rows) row.instance = 1;
  for (auto& row : rows) {  // of harder examples
    row.instance = 2;
    row.metrics["loss"] += 1.0;
  }
  study.results.rows.insert(study.results.rows.end(), rows.begin(), rows.end());
  CHECK(study.verdict().verdict == "holds");
  study.results.rows.back().metrics["loss"] = 2.9;
  CHECK(study.verdict().verdict == "fails");
}

TEST_CASE("claims: a level without any run leaves a claim undecided unless the others make it fail", "[unit]") {
  MadeStudy study("accuracy", {"rope", "none"}, 3);
  study.give("rope", {0.97, 0.99, 0.98}).give("none", {0.50, 0.52, 0.49});
  const auto verdict = [&](const std::vector<std::string>& order, const std::vector<std::string>& level) {
    study.plan.study.claims.clear();
    study.claim({.name = "asked", .order = order, .level = level, .at_least = 0.9, .rule = Rule::every_run});
    return study.verdict();
  };
  for (const auto& order : std::vector<std::vector<std::string>>{
           {"rope", "alibi"}, {"rope", "alibi", "none"}, {"none", "alibi", "rope"}, {"rope", "none", "alibi"}}) {
    CHECK(verdict(order, {}).verdict == "undecided");
    CHECK(verdict(order, {}).why == "no run of alibi here");
  }
  CHECK(verdict({"none", "rope", "alibi"}, {}).verdict == "fails");
  CHECK(verdict({}, {"rope", "alibi"}).verdict == "undecided");
  CHECK(verdict({}, {"none", "alibi"}).verdict == "fails");
}

TEST_CASE("claims: an order by the means", "[unit]") {
  CHECK(ordered(Rule::mean, {1.9, 2.0, 2.1}, {2.0, 2.0, 2.1}).verdict().verdict == "holds");
  CHECK(ordered(Rule::mean, {2.0, 2.0, 2.1}, {1.9, 2.0, 2.1}).verdict().verdict == "fails");
}

TEST_CASE("claims: a change between two lengths is judged run by run", "[unit]") {
  const Change absolute{.from = 64, .to = 256};
  CHECK(grown(absolute, {2.0, 2.1, 2.2}, {2.01, 2.12, 2.21}).verdict().verdict == "holds");
  CHECK(grown(absolute, {2.0, 2.1, 2.2}, {2.41, 2.52, 2.61}).verdict().verdict == "fails");
  CHECK(grown(absolute, {2.0, 2.1, 2.2}, {2.01, 2.22, 2.21}).verdict().verdict == "undecided");
  const auto change = grown(absolute, {2.0, 2.1, 2.2}, {2.01, 2.12, 2.21}).verdict();
  CHECK(change.measured.at(0).values.at(1) == Approx(0.02));
  CHECK(contains(change.text, "change of loss from length 64 to 256: rope at most 0.05"));
}

TEST_CASE("claims: a change that is the same in every seed is judged by the items", "[unit]") {
  MadeStudy study("accuracy", {"rope"}, 3, {16, 32});
  study.give("rope", {1.0, 1.0, 1.0}, 16).give("rope", {1.0, 1.0, 1.0}, 32);
  study.claim({.name = "steady", .level = {"rope"}, .at_least = -0.05, .change = Change{.from = 16, .to = 32}});
  CHECK(study.verdict().verdict == "undecided");
  CHECK(contains(study.verdict().why, "no items to judge by"));
  study.items("rope", std::vector<double>(200, 1.0));
  CHECK(study.verdict().measured.at(0).interval.kind == "exact");
  CHECK(study.verdict().verdict == "holds");
}

TEST_CASE("claims: a relative change is a share of where it began", "[unit]") {
  const Change relative{.from = 64, .to = 256, .relative = true};
  const auto verdict = grown(relative, {2.0, 2.1, 2.2}, {2.06, 2.17, 2.26}).verdict();
  CHECK(verdict.measured.at(0).values.at(0) == Approx(0.03));
  CHECK(verdict.verdict == "holds");
}

TEST_CASE("claims: asked as trained unless they name a scaling", "[unit]") {
  MadeStudy study("loss", {"rope"}, 3);
  study.give("rope", {2.36, 2.40, 2.30});
  auto rows = study.results.rows;
  for (auto& row : rows) {
    row.scaling = "yarn";
    row.metrics["loss"] = 2.0 + 0.01 * static_cast<double>(row.seed);
  }
  study.results.rows.insert(study.results.rows.end(), rows.begin(), rows.end());
  study.claim({.name = "low", .level = {"rope"}, .at_most = 2.2, .rule = Rule::every_run});
  CHECK(study.verdict().verdict == "fails");
  study.plan.study.claims[0].where.levels = {{"scaling", {"yarn"}}};
  CHECK(study.verdict().verdict == "holds");
  study.plan.study.claims[0] = {
      .name = "helps", .metric = "loss", .factor = "scaling", .order = {"yarn", "none"}, .rule = Rule::intervals};
  CHECK(study.verdict().verdict == "holds");
}

TEST_CASE("claims: one that holds on one task and fails on another fails, and says where", "[unit]") {
  MadeStudy study("accuracy", {}, 0);
  for (const char* task : {"copy", "sort"})
    for (const int64_t seed : {1, 2}) study.add_run({{"encoding", "rope"}, {"task", task}}, seed, {16});
  for (auto& row : study.results.rows) {
    row.status = RunStatus::done;
    row.metrics["accuracy"] = row.levels[1].second == "copy" ? 1.0 : 0.3;
  }
  study.claim({.name = "seen", .level = {"rope"}, .at_least = 0.95, .rule = Rule::every_run});
  CHECK(study.verdict().verdict == "fails");
  CHECK(study.verdict().why == "sort: rope 0.3000, 0.3000");
  study.plan.study.claims[0].where.levels = {{"task", {"copy"}}};
  CHECK(study.verdict().verdict == "holds");
}

TEST_CASE("claims: one that speaks of no run is undecided", "[unit]") {
  auto study = bounded(Rule::mean, {0.97, 0.98});
  study.plan.study.claims[0].level = {"alibi"};
  CHECK(study.verdict().verdict == "undecided");
}

TEST_CASE("claims: the headline tells which hold", "[unit]") {
  auto study = bounded(Rule::every_run, {0.96, 0.97, 1.0});
  CHECK(contains(study.summary().headline, "; the claim seen holds."));
  study.claim({.name = "perfect", .level = {"rope"}, .at_least = 1.0, .rule = Rule::every_run});
  CHECK(contains(study.summary().headline, "of the claims seen holds, perfect fails."));
}

}  // namespace ordo::test
