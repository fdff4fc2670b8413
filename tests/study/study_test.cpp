// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <nlohmann/json.hpp>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "sample_study.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

std::vector<std::string> level_names(const Factor& factor) {
  std::vector<std::string> names;
  for (const auto& level : factor.levels) names.push_back(level.name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("study: factors, levels, questions and the opening comment are read", "[unit]") {
  const SampleFolder folder;
  const StudyConfig study = folder.load(std::string(kSampleStudy));
  CHECK(study.name == "study");
  CHECK(study.expected == "Which encoding is best?");
  CHECK(study.base == folder.scratch() / "base.yaml");
  REQUIRE(study.vary.size() == 1);
  CHECK(level_names(study.vary[0]) == Names{"none", "rope", "alibi"});
  CHECK(study.vary[0].levels[1].settings[0].path == "model.position");
  CHECK(study.vary[0].levels[1].settings[0].value == "{kind: rope}");
  CHECK(study.compare.factor == "encoding");
  CHECK(study.compare.length == 16);
  CHECK_FALSE(study.compare.area);
  REQUIRE(study.claims.size() == 1);
  CHECK(study.claims[0].factor == "encoding");
  CHECK(study.claims[0].metric == "loss");
}

TEST_CASE("study: the short form makes level names from its values, the shortest that are unique", "[unit]") {
  const SampleFolder folder;
  const auto names = [&](const std::string& values) {
    const auto study = folder.load("base: base.yaml\nvary: {" + values + "}\nseeds: [1]\n");
    return level_names(study.vary.at(0));
  };
  CHECK(names("train.optimizer.lr: [1e-3, 0.01]") == Names{"1e-3", "0.01"});
  CHECK(names("model.position: [rope, {kind: alibi}, [sinusoidal, rope]]") ==
        Names{"rope", "alibi", "sinusoidal+rope"});
  CHECK(names("model.position: [{kind: rope, theta: 500}, {kind: rope, theta: 10000, layout: half}]") ==
        Names{"rope theta=500", "rope theta=10000 layout=half"});
  CHECK(names("model.attention: [{heads: 2}, {heads: 4}]") == Names{"heads=2", "heads=4"});
  CHECK(names("model.bias: [true, false]") == Names{"true", "false"});
}

TEST_CASE("study: a level may set another base, and paths in it are those of the study file", "[unit]") {
  const SampleFolder folder;
  folder.write("include: ../base.yaml\ntrain: {length: 8}\n", "tasks/short.yaml");
  folder.write(std::string(8000, 'a') + "bcdefgh", "corpus.txt");
  std::string text(kSampleBase);
  const std::string_view data = "{generate: {kind: chase, sentences: 20, held_out: 5}}";
  folder.write(text.replace(text.find(data), data.size(), "{train: gone.txt, validation_fraction: 0.1}"),
               "tasks/text.yaml");
  const Plan plan = folder.plan(
      "vary:\n  task:\n    short: {base: tasks/short.yaml}\n    text: {base: tasks/text.yaml, task.data.train: "
      "corpus.txt}\nseeds: [1]\n");
  REQUIRE(plan.runs.size() == 2);
  CHECK(plan.runs[0].config.train.length == 8);
  CHECK(plan.runs[0].lengths == std::vector<int64_t>{8});
  CHECK(contains(resolved_yaml(plan.runs[1].config), (folder.scratch() / "corpus.txt").string()));
}

TEST_CASE("study: an exclamation mark takes all levels but that one", "[unit]") {
  const SampleFolder folder;
  const auto study =
      folder.load(study_and("  - {name: seen, level: \"!none\", metric: accuracy, length: 16, at_least: 0.1}\n"
                            "set: [{when: {encoding: \"!rope\"}, train.clip: 2}]\n"));
  CHECK(study.claims[1].level == Names{"rope", "alibi"});
  CHECK(study.set[0].when.levels[0].second == Names{"none", "alibi"});
}

TEST_CASE("study: the command line sets keys of the study, and keys of all its runs", "[unit]") {
  const SampleFolder folder;
  const Plan plan = folder.plan(std::string(kSampleStudy), {"seeds=[7]", "train.steps=2", "compare.against=rope"});
  CHECK(plan.runs.size() == 3);
  CHECK(plan.study.seeds == std::vector<int64_t>{7});
  CHECK(plan.study.compare.against == "rope");
  for (const auto& run : plan.runs) CHECK(run.config.train.steps.value == 2);
  CHECK(contains(thrown<ConfigError>([&] { folder.load(std::string(kSampleStudy), {"train.stpes=2"}); }),
                 "command line: train.stpes=2: unknown key 'stpes' in train"));
}

TEST_CASE("study: all problems of a study are reported together, each at its place", "[unit]") {
  const SampleFolder folder;
  const std::string message = thrown<ConfigError>([&] {
    folder.load(
        "base: base.yaml\nvary:\n  encoding:\n    rope: {model.postion: rope}\n    alibi: {model.position: alibbi}\n"
        "seeds: [1, 1]\ncompare: {metirc: loss}\nskip: [{encodng: rope}]\n");
  });
  INFO(message);
  for (const auto* part :
       {"study.yaml:4:12: unknown key 'postion' in model", "did you mean 'position'?", "study.yaml:5:29", "alibbi",
        "study.yaml:6:12: the seed 1 is there twice", "study.yaml:7:11: unknown key 'metirc' in compare",
        "study.yaml:8:9: there is no factor 'encodng'"})
    CHECK(contains(message, part));
}

TEST_CASE("study: written out it holds every default, and reads back to the same study", "[unit]") {
  const SampleFolder folder;
  const StudyConfig study = folder.load(std::string(kSampleStudy));
  const std::string text = study_yaml(study);
  INFO(text);
  CHECK(contains(text, "correction: holm"));
  CHECK(contains(text, "model.position: "));
  const StudyConfig again = folder.load(text);
  CHECK(study_yaml(again) == text);
}

TEST_CASE("study: a training config is told from a study", "[unit]") {
  const SampleFolder folder;
  CHECK(contains(thrown<ConfigError>([&] { load_study(folder.scratch() / "base.yaml", {}); }),
                 "is a training config, not a study"));
}

TEST_CASE("study: its keys have pages in the manual and a schema", "[unit]") {
  StudyConfig study;
  CHECK(contains(manual(walk_of(study), "claims"), "at_least"));
  CHECK(contains(manual(walk_of(study), ""), "FACTOR: {LEVEL: {KEY: value"));
  const Json schema = schema_json(walk_of(study), "study");
  CHECK(schema.at("properties").at("claims").dump().find("at_most") != std::string::npos);
  CHECK(schema.at("properties").contains("vary"));
}

TEST_CASE("study: lengths may be an area, instances a number, budgets have units", "[unit]") {
  const SampleFolder folder;
  const auto study = folder.load(
      "base: base.yaml\nvary: {model.position: [rope, none]}\nseeds: [1]\ninstances: 3\nevaluate: {lengths: [16, 32]}\n"
      "compare: {length: area}\nbudget: {run: 1e3 tokens, study: 5 min}\n");
  CHECK(study.compare.area);
  CHECK_FALSE(study.compare.length);
  CHECK(study.instances == Instances::crossed);
  CHECK(study.instance_count == 3);
  CHECK(study.budget.run == Quantity{1000, "tokens"});
  CHECK(study.budget.study == Quantity{5, "min"});
}

TEST_CASE("study: a claim about a scaling needs an encoding that takes it", "[unit]") {
  const SampleFolder folder;
  const auto with = [&](const std::string& claim) {
    return study_with("{lengths: [16, 32]}", "{lengths: [16, 32], scalings: [{kind: yarn, factor: 4}]}") +
           "  - {name: scaled, " + claim + ", length: 16}\n";
  };
  const std::string ranked = "order: [yarn, none], factor: scaling, where: {encoding: ", bounded = "level: [";
  CHECK_NOTHROW(folder.load(with(ranked + "rope}")));
  CHECK(
      contains(thrown<ConfigError>([&] { folder.load(with(ranked + "alibi}")); }), "no run is of the levels of claim"));
  CHECK_NOTHROW(folder.load(with(bounded + "rope], at_most: 3, where: {scaling: yarn}")));
  CHECK(
      contains(thrown<ConfigError>([&] { folder.load(with(bounded + "alibi], at_most: 3, where: {scaling: yarn}")); }),
               "no run is of the levels of claim"));
}

}  // namespace ordo::test
