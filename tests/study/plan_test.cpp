// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <fmt/format.h>

#include <set>

#include "ordo/core/errors.h"
#include "ordo/core/files.h"
#include "ordo/core/text.h"
#include "ordo/study/control.h"
#include "sample_study.h"
#include "support/signal_files.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

std::vector<std::string> folders(const std::vector<PlannedRun>& runs) {
  std::vector<std::string> all;
  for (const auto& run : runs) all.push_back(run.folder);
  return all;
}
std::set<std::string> hashes(const std::vector<PlannedRun>& runs) {
  std::set<std::string> all;
  for (const auto& run : runs) all.insert(run.hash);
  return all;
}
std::string vary(const std::string& factors, const std::string& more = "") {
  return "base: base.yaml\nvary: {" + factors + "}\nseeds: [1]\n" + more;
}
using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("plan: the product of the levels times the seeds, factors slowest", "[unit]") {
  const SampleFolder folder;
  const Plan plan = folder.plan(
      "base: base.yaml\nvary:\n  encoding: {rope: {model.position: rope}, none: {model.position: none}}\n"
      "  train.optimizer.lr: [1e-3, 1e-2]\nseeds: [3, 5]\n");
  CHECK(folders(plan.runs) == Names{"runs/rope-lr1e-3-seed3", "runs/rope-lr1e-3-seed5", "runs/rope-lr1e-2-seed3",
                                    "runs/rope-lr1e-2-seed5", "runs/none-lr1e-3-seed3", "runs/none-lr1e-3-seed5",
                                    "runs/none-lr1e-2-seed3", "runs/none-lr1e-2-seed5"});
  CHECK(hashes(plan.runs).size() == 8);
  CHECK(plan.runs[2].config.seed() == 3);
  CHECK(plan.runs[2].config.name == "rope-lr1e-2-seed3");
  CHECK(plan.runs[2].levels == Combination{{"encoding", "rope"}, {"train.optimizer.lr", "1e-2"}});
  CHECK(plan.runs[2].settings.size() == 2);
  CHECK(plan.runs[2].split == "test");
}

TEST_CASE("plan: folders of runs are fit for files, readable and distinct", "[unit]") {
  const SampleFolder folder;
  const Plan plan =
      folder.plan(vary("factor: {a/b: {train.clip: 1}, \"a b\": {train.clip: 2}, A-B: {train.clip: 3}, "
                       "\"../x\": {train.clip: 4}, 中文: {train.clip: 5}, \"\\u00e9t\\u00e9\": {train.clip: 6}}"));
  CHECK(folders(plan.runs) == Names{"runs/a-b-seed1", "runs/a-b-seed1-2", "runs/A-B-seed1-3", "runs/x-seed1",
                                    "runs/中文-seed1", "runs/été-seed1"});
}

TEST_CASE("plan: the hash is that of what is trained and evaluated, wherever the folder lies", "[unit]") {
  const SampleFolder here, there;
  const auto hash = [](const SampleFolder& folder, const std::string& text, std::vector<std::string> overrides = {}) {
    return folder.plan(text, overrides).runs.front().hash;
  };
  const std::string text(kSampleStudy);
  const std::string first = hash(here, text);
  CHECK(hash(there, text) == first);
  CHECK(hash(here, text, {"device=cpu"}) == first);
  CHECK(hash(here, text, {"name=other"}) == first);
  CHECK(hash(here, text, {"train.steps=5"}) != first);
  CHECK(hash(here, text, {"evaluate.lengths=[16, 64]"}) != first);
  CHECK(hash(here, text, {"evaluate.stride=4"}) != first);
  CHECK(hash(here, text, {"seeds=[4]"}) != first);
}

TEST_CASE("plan: of a corpus the content counts, not the path", "[unit]") {
  const SampleFolder folder;
  std::string base(kSampleBase);
  const std::string_view data = "{generate: {kind: chase, sentences: 20, held_out: 5}}";
  base.replace(base.find(data), data.size(), "{train: corpus.txt, validation_fraction: 0.1}");
  folder.write(base, "base.yaml");
  const std::string corpus = std::string(4000, 'a') + std::string(400, 'b');
  folder.write(corpus, "corpus.txt");
  folder.write(corpus, "copy.txt");
  folder.write(corpus + "c", "longer.txt");
  const auto hash = [&](const std::string& file) {
    return folder.plan(std::string(kSampleStudy), {"task.data.train=" + (folder.scratch() / file).string()})
        .runs.front()
        .hash;
  };
  CHECK(hash("corpus.txt") == hash("copy.txt"));
  CHECK(hash("corpus.txt") != hash("longer.txt"));
  const std::string no_test = thrown<ConfigError>([&] {
    folder.plan(std::string(kSampleStudy), {"evaluate.split=test", "instances=2"});
  });
  CHECK(contains(no_test, "evaluate.split is test, which the task language_modeling does not have"));
  CHECK(contains(no_test, "instances: 2, but the task language_modeling draws no examples"));
  CHECK(contains(join(folder.plan(std::string(kSampleStudy)).notes, "\n"), "the data are the same for every seed"));
}

TEST_CASE("plan: skip and only leave combinations out and say why", "[unit]") {
  const SampleFolder folder;
  const Plan plan = folder.plan(study_and("skip: [{encoding: alibi, why: it is known}]\n"));
  CHECK(folders(plan.runs) == Names{"runs/none-seed1", "runs/none-seed2", "runs/rope-seed1", "runs/rope-seed2"});
  REQUIRE(plan.left_out.size() == 1);
  CHECK(plan.left_out[0].levels == Combination{{"encoding", "alibi"}});
  CHECK(plan.left_out[0].why == "it is known");
  CHECK(folder.plan(study_and("only: [{encoding: [rope, none]}]\n")).runs.size() == 4);
}

TEST_CASE("plan: conditional settings are laid over the levels, in their order", "[unit]") {
  const SampleFolder folder;
  const Plan plan = folder.plan(study_and(
      "set:\n  - {when: {encoding: [rope, alibi]}, train.clip: 2}\n  - {when: {encoding: alibi}, train.clip: 3}\n"));
  CHECK(plan.runs[0].config.train.clip == 1.0);
  CHECK(plan.runs[2].config.train.clip == 2.0);
  CHECK(plan.runs[4].config.train.clip == 3.0);
}

TEST_CASE("plan: evaluations while training are as the study says, else as in each run's config", "[unit]") {
  const SampleFolder folder;
  const Plan plan = folder.plan(study_with("{lengths: [16, 32]}", "{lengths: [16, 32], every: 2, batch_size: 5}"));
  CHECK(plan.runs[0].config.evaluate.every == Quantity{2, "steps"});
  CHECK(plan.runs[0].config.evaluate.batch_size == 5);
  CHECK(plan.runs[0].lengths == std::vector<int64_t>{16, 32});
  CHECK(folder.plan(std::string(kSampleStudy)).runs[0].config.evaluate.every.value == 0);
  CHECK(contains(thrown<ConfigError>([&] { folder.plan(study_and("set: [{evaluate.lengths: [8]}]\n")); }),
                 "set and the study's own evaluate.lengths both set evaluate.lengths"));
}

TEST_CASE("plan: a stride of the study takes the place of the base's, 0 too", "[unit]") {
  const SampleFolder folder;
  folder.write(std::string(kSampleBase) + "evaluate: {stride: 4}\n", "base.yaml");
  const auto stride = [&](const std::vector<std::string>& overrides) {
    return folder.plan(std::string(kSampleStudy), overrides).runs[0].config.evaluate.stride;
  };
  CHECK(stride({}) == 4);
  CHECK(stride({"evaluate.stride=2"}) == 2);
  CHECK(stride({"evaluate.stride=0"}) == 0);
}

TEST_CASE("plan: --only keeps the runs of a level or a seed", "[unit]") {
  const SampleFolder folder;
  CHECK(folders(folder.plan(std::string(kSampleStudy), {}, {"encoding=rope"}).runs) ==
        Names{"runs/rope-seed1", "runs/rope-seed2"});
  CHECK(folders(folder.plan(std::string(kSampleStudy), {}, {"encoding=!rope", "seed=2"}).runs) ==
        Names{"runs/none-seed2", "runs/alibi-seed2"});
  CHECK(contains(thrown<ConfigError>([&] { folder.plan(std::string(kSampleStudy), {}, {"encodign=rope"}); }),
                 "did you mean 'encoding'?"));
  CHECK(contains(thrown<ConfigError>([&] { folder.plan(std::string(kSampleStudy), {}, {"encoding=rpoe"}); }),
                 "did you mean 'rope'?"));
}

TEST_CASE("plan: words of --only that name one factor, or seeds, name them together", "[unit]") {
  const SampleFolder folder;
  const std::string text = study_with("seeds: [1, 2]", "seeds: [1, 2, 3]");
  const auto only = [&](const Names& words) { return folders(folder.plan(text, {}, words).runs); };
  CHECK(only({"encoding=rope", "seed=1", "encoding=none", "seed=3"}) ==
        Names{"runs/none-seed1", "runs/none-seed3", "runs/rope-seed1", "runs/rope-seed3"});
  CHECK(only({"seed=1,2", "encoding=!rope", "encoding=!none"}) == Names{"runs/alibi-seed1", "runs/alibi-seed2"});
  const std::string unknown = thrown<ConfigError>([&] { only({"seed=7"}); });
  CHECK(contains(unknown, "the study has no seed '7'"));
  CHECK(contains(unknown, "seeds: 1, 2, 3"));
  CHECK(contains(thrown<ConfigError>([&] { only({"encoding=!none", "encoding=rope"}); }), "not both"));
}

TEST_CASE("plan: instances are the seed's own, one for all, or crossed with the seeds", "[unit]") {
  const SampleFolder folder;
  CHECK_FALSE(folder.plan(std::string(kSampleStudy)).runs[0].config.instance);
  const Plan fixed = folder.plan(study_and("instances: fixed\n"));
  CHECK(fixed.runs.size() == 6);
  CHECK(fixed.runs[0].config.instance == fixed.runs[1].config.instance);
  CHECK(fixed.runs[0].config.instance.has_value());
  const Plan crossed = folder.plan(study_and("instances: 2\n"));
  REQUIRE(crossed.runs.size() == 12);
  CHECK(crossed.runs[1].folder == "runs/none-seed2-instance1");
  CHECK(crossed.runs[2].folder == "runs/none-seed1-instance2");
  CHECK(crossed.runs[2].config.instance == 2);
}

TEST_CASE("plan: settings that give identical models are refused, with what changes nothing", "[unit]") {
  const SampleFolder folder;
  const auto refusal = [&](const std::string& factors) {
    return thrown<ConfigError>([&] { folder.plan(vary(factors)); });
  };
  const std::string same = refusal("encoding: {a: {model.position: rope}, b: {model.position: {kind: rope}}}");
  INFO(same);
  CHECK(contains(same, "study.yaml:2:46: these settings give identical models: encoding a and encoding b"));
  CHECK(contains(refusal("train.log_every: [1, 2]"), "identical models: train.log_every 1 and train.log_every 2"));
  // Differs in the config, and in nothing that the model does.
  const std::string idle = refusal("model.max_length: [32, 64]");
  INFO(idle);
  CHECK(contains(idle, "identical models"));
  CHECK(contains(idle, "model.max_length changes nothing here"));
  CHECK(contains(refusal("model.feed_forward.hidden: [0, 64]"), "model.feed_forward.hidden changes nothing"));
}

TEST_CASE("plan: settings whose effect first weights hide are told apart all the same", "[unit]") {
  const SampleFolder folder;
  const auto count = [&](const std::string& factors) { return folder.plan(vary(factors)).runs.size(); };
  CHECK(count("model.position: [{kind: t5_bias, num_buckets: 4, max_distance: 8}, {kind: t5_bias, num_buckets: 4, "
              "max_distance: 16}]") == 2);
  CHECK(count("model.dropout: [0.1, 0.2]") == 2);
  CHECK(count("model.init.std: [0.02, 0.03]") == 2);
  CHECK(count("model.position: [{kind: rope, theta: 100}, {kind: rope, theta: 200}]") == 2);
  CHECK(count("model.drop_path: [0.1, 0.2]") == 2);
}

TEST_CASE("plan: every arm is tuned by the same trials on seeds of its own", "[unit]") {
  const SampleFolder folder;
  Plan plan = folder.plan(study_and(
      "tune: {keys: {train.optimizer.lr: [1e-3, 1e-2]}, per: [encoding], by: {metric: loss}, seeds: [101, 102]}\n"));
  REQUIRE(plan.trials.size() == 3 * 2 * 2);
  CHECK(plan.trials[0].folder == "tune/none-lr1e-3-seed101");
  CHECK(plan.trials[0].trial == "train.optimizer.lr=1e-3");
  CHECK(plan.trials[0].split == "validation");
  CHECK(hashes(plan.trials).size() == 12);
  CHECK(arm_of(*plan.study.tune, plan.trials[0].levels) == Combination{{"encoding", "none"}});
  const auto before = hashes(plan.runs);
  const Names names = folders(plan.runs);
  apply_tuning(plan, std::vector<Chosen>{{{{"encoding", "none"}}, "train.optimizer.lr=1e-2"},
                                         {{{"encoding", "rope"}}, "train.optimizer.lr=1e-3"},
                                         {{{"encoding", "alibi"}}, "train.optimizer.lr=1e-2"}});
  CHECK(folders(plan.runs) == names);
  CHECK(contains(resolved_yaml(plan.runs[0].config), "lr: 0.01"));
  CHECK(contains(resolved_yaml(plan.runs[2].config), "lr: 0.001"));
  CHECK(hashes(plan.runs) != before);
  CHECK_THROWS_AS(apply_tuning(plan, std::vector<Chosen>{}), ConfigError);
}

TEST_CASE("plan: an arm for which nothing is chosen yet keeps the values of the base", "[unit]") {
  const SampleFolder folder;
  Plan plan = folder.plan(study_and("tune: {keys: {train.optimizer.lr: [1e-2]}, per: [encoding], seeds: [101]}\n"));
  const std::string none = plan.runs[0].hash, rope = plan.runs[2].hash;
  apply_tuning(plan, std::vector<Chosen>{{{{"encoding", "none"}}, ""},
                                         {{{"encoding", "rope"}}, "train.optimizer.lr=1e-2"},
                                         {{{"encoding", "alibi"}}, ""}});
  CHECK(plan.runs[0].hash == none);
  CHECK(plan.runs[2].hash != rope);
}

TEST_CASE("plan: trials on what is compared are refused or told", "[unit]") {
  const SampleFolder folder;
  const std::string tune = "tune: {keys: {train.optimizer.lr: [1e-3, 1e-2]}, seeds: [3]}\n";
  const auto refusal = [&](const std::string& more) {
    return thrown<ConfigError>([&] { folder.plan(study_and(tune + more)); });
  };
  CHECK(contains(refusal("instances: 3\n"), "the trials of seed 3 draw the examples of instance 3"));
  CHECK(contains(refusal("instances: 3\n"), "take seeds above 3"));
  CHECK(folder.plan(study_and(tune + "instances: 2\n")).trials.size() == 6);
  const auto told = [](const Plan& plan) {
    return contains(join(plan.notes, "\n"), "of the split that the trials were chosen on, validation");
  };
  CHECK_FALSE(told(folder.plan(study_and(tune), {"evaluate.split=validation"})));  // other seeds, other examples
  std::string base(kSampleBase);
  const std::string_view data = "{generate: {kind: chase, sentences: 20, held_out: 5}}";
  folder.write(base.replace(base.find(data), data.size(), "{train: corpus.txt, validation_fraction: 0.1}"),
               "base.yaml");
  folder.write(std::string(4000, 'a') + std::string(400, 'b'), "corpus.txt");
  CHECK(told(folder.plan(study_and(tune))));
  CHECK_FALSE(told(folder.plan(study_and(tune), {"evaluate.split=train"})));
}

TEST_CASE("plan: a length that would be evaluated twice is refused, whoever names it", "[unit]") {
  const SampleFolder folder;
  const auto refusal = [&](const std::string& text) { return thrown<ConfigError>([&] { folder.plan(text); }); };
  const std::string twice = refusal(study_with("{lengths: [16, 32]}", "{lengths: [16, 32, 16]}"));
  INFO(twice);
  CHECK(contains(twice, "study.yaml:9:"));
  CHECK(contains(twice, "the length 16 is evaluated twice"));
  folder.write(std::string(kSampleBase) + "evaluate: {lengths: [16, 16]}\n", "base.yaml");
  CHECK(contains(refusal(study_with("evaluate: {lengths: [16, 32]}\n", "")), "base.yaml"));
}

TEST_CASE("plan: every study that comes with the program can be planned", "[unit]") {
  const SampleFolder folder;
  std::string text;
  for (int i = 0; i < 4000; ++i) text += fmt::format("the {} of {}, ", i % 97, i % 89);
  const std::string sample = folder.write(text, "sample.txt").string();
  const std::string digits = folder.write(digits_table(600), "digits.csv").string();
  write_spoken_digits([&](const std::string& name, const std::string& sound) { folder.write(sound, name); });
  const std::string sounds = (fs::path(sample).parent_path() / "*.wav").string();
  int studies = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(ORDO_SOURCE_DIR) / "configs/studies")) {
    const fs::path& file = entry.path();
    if (file.extension() != ".yaml" || file.parent_path().filename() == "bases") continue;
    CAPTURE(file.string());
    const std::string written = read_file(file);
    const std::string& data = contains(written, "digits.csv") ? digits : contains(written, "*.wav") ? sounds : sample;
    const bool reads_files = contains(written, "task.data.train=");
    const StudyConfig study = load_study(file, reads_files ? Names{"task.data.train=" + data} : Names{});
    CHECK(make_plan(study).runs.size() >= study.seeds.size());
    CHECK_FALSE(study.claims.empty());
    CHECK(contains(study.expected, "Expected: "));
    ++studies;
  }
  CHECK(studies >= 14);
}

TEST_CASE("plan: parameters are made equal by the named key, as nearly as asked", "[unit]") {
  const SampleFolder folder;
  const Plan plan =
      folder.plan(vary("gate: {plain: {model.feed_forward.gated: false}, gated: {model.feed_forward.gated: true}}",
                       "control: {equal: parameters, by: model.feed_forward.hidden, within: 0.02}\n"));
  const auto plain = figures_of(plan.runs[0].config).parameters, gated = figures_of(plan.runs[1].config).parameters;
  CHECK(std::abs(static_cast<double>(gated - plain)) <= 0.02 * static_cast<double>(plain));
  REQUIRE(plan.runs[1].adjusted.size() == 1);
  CHECK(plan.runs[1].adjusted[0].path == "model.feed_forward.hidden");
  CHECK(plan.runs[0].adjusted.empty());
  const auto told = [](const std::string& note) { return contains(note, "model.feed_forward.hidden 4"); };
  INFO(join(plan.notes, "\n"));
  CHECK(std::any_of(plan.notes.begin(), plan.notes.end(), told));
}

TEST_CASE("plan: FLOPs are made equal by the steps, and budgets set them", "[unit]") {
  const SampleFolder folder;
  const std::string layers = "model.layers: [1, 3]";
  const Plan equal = folder.plan(vary(layers, "control: {equal: flops, by: train.steps}\n"), {"train.steps=300"});
  const auto flops = [](const PlannedRun& run) {
    return figures_of(run.config).flops_per_step * run.config.train.steps.value;
  };
  CHECK(equal.runs[1].config.train.steps.value < 200);
  CHECK(flops(equal.runs[1]) == Approx(flops(equal.runs[0])).epsilon(0.01));
  const Plan tokens = folder.plan(vary(layers, "budget: {run: 640 tokens}\n"));
  CHECK(tokens.runs[1].config.train.steps == Quantity{640, "tokens"});
  const Plan budget = folder.plan(vary(layers, "budget: {run: 1e8 flops}\n"));
  for (const auto& run : budget.runs) CHECK(flops(run) == Approx(1e8).epsilon(0.1));
}

TEST_CASE("plan: measured steps make other runs of a combination", "[unit]") {
  const SampleFolder folder;
  Plan plan = folder.plan(study_and("control: {equal: seconds}\n"));
  const std::string before = plan.runs[2].hash, other = plan.runs[0].hash;
  apply_steps(plan, plan.runs[2].levels, 9);
  CHECK(plan.runs[2].config.train.steps == Quantity{9, "steps"});
  CHECK(plan.runs[3].config.train.steps == Quantity{9, "steps"});
  CHECK(plan.runs[2].hash != before);
  CHECK(plan.runs[0].hash == other);
  CHECK(plan.runs[2].adjusted.size() == 1);
  apply_steps(plan, plan.runs[2].levels, 8);
  CHECK(plan.runs[2].adjusted.size() == 1);
}

TEST_CASE("plan: a scaling goes to the encodings that take it, and is refused when none does", "[unit]") {
  const SampleFolder folder;
  const Plan plan = folder.plan(study_with("{lengths: [16, 32]}",
                                           "{lengths: [16, 32], scalings: [{kind: yarn, factor: 4}, {kind: ntk, "
                                           "factor: 8}, {kind: ntk, factor: 4}]}"));
  CHECK(plan.study.evaluate.scaling_names == Names{"yarn", "ntk factor=8", "ntk factor=4"});
  CHECK(plan.runs[0].scalings.empty());
  CHECK(plan.runs[2].scalings == std::vector<int64_t>{1, 2, 3});
  const std::string refused = thrown<ConfigError>(
      [&] { folder.plan(study_with("{lengths: [16, 32]}", "{lengths: [16, 32], scalings: [{kind: yran}]}")); });
  INFO(refused);
  CHECK(contains(refused, "study.yaml:9:"));
}

TEST_CASE("plan: what the report must say of learning rates, data and control is noted", "[unit]") {
  const SampleFolder folder;
  const auto notes = [&](const std::string& text) { return join(folder.plan(text).notes, "\n"); };
  const std::string plain = notes(std::string(kSampleStudy));
  INFO(plain);
  CHECK(contains(plain, "all arms share one learning rate, 0.001; none was tuned"));
  CHECK(contains(plain, "parameters and FLOPs are not held equal"));
  CHECK(contains(notes(vary("train.optimizer.lr: [1e-3, 1e-2]")), "learning rates are those of the study file"));
  CHECK(contains(notes(study_and("instances: fixed\n")), "one set of examples for all seeds"));
}

TEST_CASE("plan: written as plan.yaml it names every run, and the study is planned anew from it", "[unit]") {
  const SampleFolder folder;
  const Plan plan = folder.plan(std::string(kSampleStudy), {"seeds=[4, 5]"});
  const std::string text = plan_yaml(plan);
  for (const auto& run : plan.runs) {
    CHECK(contains(text, "folder: " + run.folder));
    CHECK(contains(text, run.hash));
  }
  folder.write(text, "out/plan.yaml");
  CHECK(hashes(read_plan(folder.scratch() / "out").runs) == hashes(plan.runs));
  folder.write(study_with("rope}}", "rope, theta: 7}}"));
  CHECK(contains(thrown<ConfigError>([&] { read_plan(folder.scratch() / "out"); }), "has changed since"));
  // Of a tuned study the trials tell: its runs are what they choose.
  const auto tuned = [](const std::string& rates) {
    return study_and("tune: {keys: {train.optimizer.lr: [" + rates + "]}, seeds: [101]}\n");
  };
  folder.write(plan_yaml(folder.plan(tuned("1e-3, 1e-2"))), "tuned/plan.yaml");
  CHECK(read_plan(folder.scratch() / "tuned").trials.size() == 6);
  folder.write(tuned("1e-3, 1e-1"));
  CHECK(contains(thrown<ConfigError>([&] { read_plan(folder.scratch() / "tuned"); }), "has changed since"));
  fs::remove(folder.scratch() / "study.yaml");
  CHECK(contains(thrown<ConfigError>([&] { read_plan(folder.scratch() / "out"); }), "which is gone"));
}

}  // namespace ordo::test
