// SPDX-License-Identifier: Apache-2.0
// Every mistake that people make in a study file ends in exit 2, the place of the mistake, and what to do about it.
#include "support/catch.h"

#include "ordo/core/errors.h"
#include "ordo/core/log.h"
#include "ordo/study/plan.h"
#include "support/mistakes.h"

namespace ordo::test {
namespace {

constexpr std::string_view kRightBase = R"(task:
  kind: language_modeling
  tokenizer: char
  data: {generate: {kind: chase, sentences: 20, held_out: 5}}
model:
  kind: decoder
  dim: 16
  layers: 1
  attention: {heads: 2}
  position: rope
train:
  steps: 2
  batch_size: 2
  length: 16
)";
constexpr std::string_view kRightStudy = R"(base: base.yaml
vary:
  encoding:
    none: {model.position: none}
    rope: {model.position: {kind: rope}}
    alibi: {model.position: alibi}
  train.optimizer.lr: [1e-3, 1e-2]
set:
  - {when: {train.optimizer.lr: 1e-3}, train.z_loss: 0.1}
skip:
  - {encoding: alibi, train.optimizer.lr: 1e-2}
seeds: [1, 2]
tune: {keys: {train.clip: [1, 2]}, per: [encoding], seeds: [101]}
evaluate: {lengths: [16, 32], split: validation}
compare: {metric: loss, length: 16, against: none}
claims:
  - {name: order, order: [rope, none], length: 16}
  - {name: bound, level: "!none", length: 32, at_most: 9}
  - {name: rise, level: alibi, change: {from: 16, to: 32}, at_most: 1}
)";

const std::vector<Mistake>& wrong_studies() {
  static const std::vector<Mistake> kMistakes{
      // keys
      {"seeds: [1, 2]", "sedes: [1, 2]", "12:1", {"unknown key 'sedes'", "did you mean 'seeds'?"}},
      {"seeds: [1, 2]\n", "", "1:1", {"missing key 'seeds'"}},
      {"base: base.yaml\n", "", "1:1", {"missing key 'base'", "the training config that all runs start from"}},
      {"base.yaml", "bsae.yaml", "1:1", {"there is no file ", "bsae.yaml; did you mean "}},
      {"metric: loss", "metirc: loss", "15:11", {"unknown key 'metirc' in compare", "did you mean 'metric'?"}},
      {"seeds: [1, 2]", "seeds: [1, x]", "12:12", {"seeds.1 must be a whole number, found 'x'"}},
      {"seeds: [1, 2]", "seeds: []", "12:1", {"seeds is empty"}},
      {"seeds: [1, 2]", "seeds: [1, 1]", "12:12", {"the seed 1 is there twice"}},
      {"seeds: [1, 2]",
       "seeds: [1, 2]\ninstances: some",
       "13:12",
       {"instances: expected per_seed or fixed or a whole number of at least 1, found 'some'"}},
      {"seeds: [1, 2]", "seeds: [1, 2]\nbudget: {run: 5 parsecs}", "13:15", {"parsecs", "steps, tokens, flops, s"}},
      // levels: the messages of the config's own reader, at the study's places
      {"{model.position: none}",
       "{model.postion: none}",
       "4:12",
       {"unknown key 'postion' in model", "did you mean 'position'?"}},
      {"{kind: rope}", "{kind: rpoe}", "5:35", {"unknown kind 'rpoe' in model.position", "did you mean 'rope'?"}},
      {"{kind: rope}", "{kind: rope, thta: 5}", "5:41", {"unknown key 'thta' in model.position (kind: rope)", "theta"}},
      {"{kind: rope}", "{kind: rope, theta: wide}", "5:48", {"model.position.theta must be a number, found 'wide'"}},
      {"[1e-3, 1e-2]\nset", "[1e-3, -1]\nset", "7:30", {"train.optimizer.lr is -1, must be at least 0"}},
      {"train.z_loss: 0.1",
       "train.schedule: {kind: cosine, warmup: 3}",
       "9:71",
       {"warmup (3 steps)", "train.steps (2 steps)"}},
      {"alibi: {model.position: alibi}", "alibi: 5", "6:12", {"vary.encoding.alibi must be a map, found '5'"}},
      {"none: {model.position: none}", "none: {seed: 3}", "4:12", {"does not set 'seed'", "give `seeds` of the study"}},
      {"none: {model.position: none}", "none: {base: gone.yaml}", "4:5", {"there is no file ", "gone.yaml"}},
      {"  train.optimizer.lr: [1e-3, 1e-2]\n",
       "  train.optimizer.lr: 1e-3\n",
       "7:23",
       {"vary.train.optimizer.lr must be a list of values or a map of levels, found '1e-3'"}},
      {"[1e-3, 1e-2]\nset", "[1e-3, 1e-3]\nset", "7:30", {"vary.train.optimizer.lr has the value 1e-3 twice"}},
      {"  encoding:", "  scaling:", "3:3", {"no factor can be called 'scaling'"}},
      {"    rope: {", "    all: {", "5:5", {"no level can be called 'all'"}},
      {"    alibi: {model", "    rope: {model", "6:5", {"duplicate key 'rope'"}},
      // keys that two parts set
      {"{model.position: alibi}",
       "{model.position: alibi, train.optimizer.lr: 1}",
       "7:24",
       {"encoding and train.optimizer.lr both set train.optimizer.lr"}},
      {"{train.clip: [1, 2]}",
       "{train.optimizer.lr: [1, 2]}",
       "13:36",
       {"train.optimizer.lr and tune (train.optimizer.lr) both set train.optimizer.lr"}},
      {"train.z_loss: 0.1}",
       "train.steps: 2}\nbudget: {run: 3 steps}",
       "10:10",
       {"set and budget.run both set train.steps"}},
      // conditions
      {"{when: {train.optimizer.lr: 1e-3}",
       "{when: {encoding: rpoe}",
       "9:23",
       {"encoding has no level 'rpoe'", "did you mean 'rope'?"}},
      {"{when: {train.optimizer.lr: 1e-3}",
       "{when: {encodign: rope}",
       "9:13",
       {"there is no factor 'encodign'", "did you mean 'encoding'?"}},
      {"{when: {train.optimizer.lr: 1e-3}",
       "{when: {encoding: alibi, train.optimizer.lr: 1e-2}",
       "9:12",
       {"this `when` matches no run", "left out by skip or only"}},
      {"  - {encoding: alibi, train.optimizer.lr: 1e-2}",
       "  - {encoding: [none, rope, alibi]}",
       "10:1",
       {"no combination of levels is left"}},
      // tune
      {"seeds: [101]", "seeds: [101, 2]", "13:66", {"tune.seeds and seeds both hold 2", "looks better than it is"}},
      {"per: [encoding]",
       "per: [encoding], by: {split: test}",
       "13:65",
       {"tune.by.split: trials are never judged on the test split"}},
      {"per: [encoding]", "per: [encodings]", "13:42", {"there is no factor 'encodings'", "did you mean 'encoding'?"}},
      // evaluate and compare
      {"split: validation", "split: validtion", "14:38", {"evaluate.split: expected", "did you mean 'validation'?"}},
      {"split: validation",
       "split: validation, stride: 20",
       "14:50",
       {"evaluate.stride (20) exceeds the shortest evaluated length (16)"}},
      {"split: validation",
       "split: validation, scalings: [{kind: yran}]",
       "14:68",
       {"unknown kind 'yran'", "did you mean 'yarn'?"}},
      {"length: 16, against",
       "length: 64, against",
       "15:25",
       {"compare.length is 64, a length that is not evaluated", "16, 32"}},
      {"length: 16, against", "length: aera, against", "15:33", {"did you mean 'area'?"}},
      {"against: none", "against: non", "15:37", {"there is no level 'non'", "did you mean 'none'?"}},
      {"metric: loss",
       "metric: test.loss",
       "15:11",
       {"'test.loss' is of the split test, but the study evaluates validation", "write loss"}},
      {"metric: loss", "metric: acuracy", "15:11", {"there is no metric 'acuracy'", "did you mean 'accuracy'?"}},
      {"against: none", "against: none, factor: enc", "15:52", {"there is no factor 'enc'"}},
      {"against: none",
       "against: none, split: train",
       "15:52",
       {"compare.split (train)", "evaluate.split is validation"}},
      // claims
      {"[rope, none], length: 16",
       "[rope, none], length: 64",
       "17:40",
       {"claims.0.length is 64, a length that is not evaluated", "16, 32"}},
      {"from: 16, to: 32", "from: 16, to: 64", "19:51", {"claims.2.change.to is 64, a length that is not evaluated"}},
      {"[rope, none]", "[rope, noen]", "17:33", {"there is no level 'noen'", "did you mean 'none'?"}},
      {"[rope, none]", "[rope]", "17:5", {"claim 'order': an order is of two levels or more"}},
      {"level: \"!none\", length: 32, at_most: 9",
       "level: \"!none\", length: 32",
       "18:5",
       {"claim 'bound': it has no bound", "at_least or at_most"}},
      {"at_most: 9", "at_most: 9, at_least: 10", "18:5", {"at_least (10) is above at_most (9)"}},
      {"at_most: 9",
       "at_most: 9, rule: evry_run",
       "18:65",
       {"claims.1.rule must be one of", "did you mean 'every_run'?"}},
      {"name: rise", "name: bound", "19:6", {"the claim 'bound' is there twice"}},
      {"at_most: 9", "at_most: 9, where: {encoding: rope}", "18:59", {"`where` cannot choose among them"}},
      {"to: 32}", "to: 32}, length: 16", "19:5", {"length and change contradict"}},
      // control
      {"seeds: [1, 2]", "seeds: [1, 2]\ncontrol: {equal: parameters}", "13:1", {"missing key 'control.by'"}},
      {"seeds: [1, 2]", "seeds: [1, 2]\ncontrol: {by: model.dim}", "13:11", {"has no use without control.equal"}},
      {"seeds: [1, 2]",
       "seeds: [1, 2]\ncontrol: {equal: flops, by: model.dim}",
       "13:25",
       {"FLOPs are made equal by train.steps, found 'model.dim'"}},
      // settings that are one and the same
      {"    rope: {model.position: {kind: rope}}",
       "    rope: {model.position: {kind: none}}",
       "5:5",
       {"these settings give identical models: encoding none and encoding rope", "(with train.optimizer.lr 1e-3)"}},
      {"alibi: {model.position: alibi}",
       "alibi: {model.position: rope, model.max_length: 64}",
       "6:5",
       {"these settings give identical models: encoding rope and encoding alibi", "model.max_length changes nothing"}},
  };
  return kMistakes;
}

class BaseFolder : public Scratch {
 public:
  BaseFolder() { write("base.yaml", std::string(kRightBase)); }
};

}  // namespace

TEST_CASE("each wrong study is refused with its place and what is wrong, and the right one is not", "[cli]") {
  const BaseFolder folder;
  log::set_level(log::Level::warning);
  CHECK(wrong_studies().size() >= 25);
  check_refused(kRightStudy, wrong_studies(), [&](const std::string& text, const std::vector<std::string>& overrides) {
    try {
      make_plan(load_study(folder.write("wrong.yaml", text), overrides));
      return std::string();
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
  });
}

TEST_CASE("the program ends a wrong study with exit 2, the message on stderr and nothing on stdout", "[cli]") {
  const BaseFolder folder;
  check_exits(folder, kRightStudy, wrong_studies(), {"ablate"});
  CHECK_FALSE(fs::exists(folder / "studies"));
}

}  // namespace ordo::test
