// SPDX-License-Identifier: Apache-2.0
// Weights of a trained run in models with other positions.
#include "support/catch.h"

#include <ATen/ops/zeros.h>

#include <cmath>

#include "ordo/checkpoint/weights.h"
#include "ordo/core/text.h"
#include "ordo/train/evaluate.h"
#include "ordo/train/surgery.h"
#include "support/goldens.h"
#include "support/thrown.h"
#include "train/sample.h"

namespace ordo::test {
namespace {

using Fate = TensorFate::Fate;
using Overrides = std::vector<std::string>;

// A few steps of the sample run, and what a checkpoint of it holds.
struct TrainedSample {
  CheckpointContent content;
  double loss = 0.0;  // of the validation split
};

TrainedSample train_sample(const Overrides& overrides) {
  const RunConfig config = sample_config(overrides);
  Trainer trainer(config, sample_parts(config));
  for (int step = 0; step < 5; ++step) trainer.step();
  return {trainer.content(), trainer.evaluate(Split::validation).at(0).evaluation.metrics.at("loss")};
}

// The run's weights under its own config with changes, as `ordo eval` takes them.
struct Operated {
  RunConfig config;
  std::shared_ptr<const Task> task;
  std::shared_ptr<Model> model;
  Surgery surgery;
  double loss() const {
    return evaluate_lengths(*task, *model, evaluate_options(config, Split::validation))
        .at(0)
        .evaluation.metrics.at("loss");
  }
  Tensor tensor(const std::string& name) const {
    for (const auto& [own, tensor] : weights_of(*model))
      if (own == name) return tensor;
    FAIL("no tensor " << name);
    return {};
  }
};

Operated operate(const CheckpointContent& from, const Overrides& overrides) {
  Operated o;
  const RunConfig saved = load_run_config_text(from.config, "config.yaml", {}).config;
  o.config = load_run_config_text(from.config, "config.yaml", overrides).config;
  o.task = sample_task(o.config);
  o.model = models().build(o.config.model, o.task->complete({.max_length = o.config.train.length,
                                                             .seed = o.config.seed(),
                                                             .trained_length = trained_length(saved)}));
  o.surgery = adopt_weights(from, o.config, *o.model, "the checkpoint");
  return o;
}

Tensor saved_tensor(const CheckpointContent& from, const std::string& name) {
  for (const auto& [own, tensor] : from.ema)
    if (own == name) return tensor;
  FAIL("no saved tensor " << name);
  return {};
}

std::string report_of(const Surgery& surgery) { return join(surgery.lines(), "\n"); }

const CheckpointContent& trained_table() {
  static const CheckpointContent content = train_sample({"model.position=learned"}).content;
  return content;
}

// A run that begins with these weights: the losses of its steps.
std::vector<double> losses_onward(Operated& o, int steps) {
  RunConfig config = o.config;
  config.train.schedule = Choice<Schedule>("constant");
  Trainer trainer(config, {.task = o.task, .model = o.model, .device = c10::Device(c10::DeviceType::CPU)});
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) losses.push_back(trainer.step().loss);
  return losses;
}

}  // namespace

TEST_CASE("surgery: without a change the weights are the checkpoint's and nothing is told", "[unit]") {
  const TrainedSample run = train_sample({});
  const Operated same = operate(run.content, {});
  CHECK(!same.surgery.made());
  CHECK(same.surgery.lines().empty());
  CHECK(same.loss() == run.loss);
}

TEST_CASE("surgery: a learned table dropped to none is told by name, and all else is kept", "[unit]") {
  const Operated dropped = operate(trained_table(), {"model.position=none"});
  REQUIRE(dropped.surgery.tensors.size() == 1);
  CHECK(dropped.surgery.tensors[0].name == "decoder.position.weight");
  CHECK(dropped.surgery.tensors[0].fate == Fate::dropped);
  const std::string report = report_of(dropped.surgery);
  CHECK(report.find("model.position.0.kind: learned -> none") != std::string::npos);
  CHECK(report.find("decoder.position.weight: dropped") != std::string::npos);
  CHECK(report.find("0 kept, 0 resized, 0 new, 1 dropped") != std::string::npos);
  CHECK(same_bytes(dropped.tensor("embedding.weight"), saved_tensor(trained_table(), "embedding.weight")));
  CHECK(std::isfinite(dropped.loss()));
}

TEST_CASE("surgery: an encoding swapped for another starts anew, and the loss changes", "[unit]") {
  const TrainedSample run = train_sample({});
  const Operated swapped = operate(run.content, {"model.position=learned"});
  REQUIRE(swapped.surgery.tensors.size() == 1);
  CHECK(swapped.surgery.tensors[0].text() == "decoder.position.weight: new");
  CHECK(swapped.loss() != run.loss);
  const Operated back = operate(trained_table(), {"model.position=alibi"});
  CHECK(back.surgery.count(Fate::dropped) == 1);
}

TEST_CASE("surgery: tensors of another kind are not kept for the sake of their name and shape", "[unit]") {
  const Operated other = operate(trained_table(), {"model.position.kind=sinusoidal_learned"});
  CHECK(other.surgery.count(Fate::kept) == 0);
  CHECK(other.surgery.count(Fate::dropped) == 1);
  CHECK(other.surgery.count(Fate::fresh) >= 1);
}

TEST_CASE("surgery: another base changes the loss and no tensor", "[unit]") {
  const TrainedSample run = train_sample({});
  const Operated other = operate(run.content, {"model.position.theta=100"});
  CHECK(other.surgery.made());
  CHECK(other.surgery.tensors.empty());
  CHECK(report_of(other.surgery).find("model.position.0.theta: 10000 -> 100") != std::string::npos);
  CHECK(other.loss() != run.loss);
}

TEST_CASE("surgery: a kind is told with the settings that are not its defaults, and where its length comes from",
          "[unit]") {
  const TrainedSample run = train_sample({});
  const Operated yarn =
      operate(run.content, {"model.position.scaling={kind: yarn, factor: 4, beta_fast: 16}", "model.max_length=24"});
  const std::string report = report_of(yarn.surgery);
  CAPTURE(report);
  CHECK(report.find("scaling.kind: none -> yarn, factor 4, original length 16 (from the run), beta_fast 16;") !=
        std::string::npos);
  CHECK(report.find("tensors of the position encoding") == std::string::npos);  // rope has none
  const Operated given =
      operate(run.content, {"model.position.scaling={kind: yarn, factor: 4, original_max_position_embeddings: 8}"});
  CHECK(report_of(given.surgery).ends_with("none -> yarn, factor 4, original length 8"));
  const Operated table = operate(run.content, {"model.position={kind: learned, init_std: 0.5}"});
  CHECK(report_of(table.surgery).find("rope -> learned, init_std 0.5\n") != std::string::npos);
}

TEST_CASE("surgery: another length alone is told only where an encoding's tensors show it", "[unit]") {
  CHECK_FALSE(operate(train_sample({}).content, {"model.max_length=24"}).surgery.made());
  CHECK(operate(trained_table(), {"model.max_length=24"}).surgery.made());
}

TEST_CASE("surgery: a linear scaling by 1 changes nothing, to the bit", "[unit]") {
  const TrainedSample run = train_sample({});
  const Operated scaled =
      operate(run.content, {"model.position.scaling.kind=linear", "model.position.scaling.factor=1"});
  CHECK(scaled.surgery.made());
  CHECK(scaled.loss() == run.loss);
}

TEST_CASE("surgery: every scaling takes the trained length from the run and changes the loss", "[unit]") {
  const TrainedSample run = train_sample({});
  const std::vector<std::pair<std::string, Overrides>> scalings{
      {"linear", {"scaling.factor=4"}},
      {"ntk", {"scaling.factor=4"}},
      {"dynamic", {"scaling.factor=4"}},
      {"yarn", {"scaling.factor=4"}},
      {"llama3", {"scaling.factor=4"}},
      {"longrope",
       {"scaling.short_factor=[1.5, 1.5, 1.5, 1.5]", "scaling.long_factor=[4, 4, 4, 4]", "scaling.factor=4"}},
      {"proportional", {"partial_rotary_factor=0.5"}},
  };
  const Tensor plain = operate(run.content, {}).model->position().frequencies(64);
  for (const auto& [kind, settings] : scalings) {
    CAPTURE(kind);
    Overrides overrides{"model.position.scaling.kind=" + kind};
    for (const auto& setting : settings) overrides.push_back("model.position." + setting);
    Operated scaled = operate(run.content, overrides);
    CHECK(report_of(scaled.surgery).find("model.position.0.scaling.kind: none -> " + kind) != std::string::npos);
    // At the trained length dynamic is the unscaled encoding, by its definition.
    if (kind == "dynamic")
      CHECK(scaled.loss() == run.loss);
    else
      CHECK(scaled.loss() != run.loss);
    CHECK(!same_bytes(scaled.model->position().frequencies(64), plain));
    const auto losses = losses_onward(scaled, 8);
    CHECK(losses.back() < losses.front());
  }
}

TEST_CASE("surgery: a longer table keeps its rows and draws the others", "[unit]") {
  const Operated longer = operate(trained_table(), {"model.max_length=24"});
  REQUIRE(longer.surgery.tensors.size() == 1);
  CHECK(longer.surgery.tensors[0].fate == Fate::resized);
  CHECK(longer.surgery.tensors[0].text() == "decoder.position.weight: 16 rows kept, 8 new");
  const Tensor weight = longer.tensor("decoder.position.weight");
  CHECK(same_bytes(weight.slice(0, 0, 16).contiguous(), saved_tensor(trained_table(), "decoder.position.weight")));
  CHECK(weight.slice(0, 16).abs().min().item<double>() > 0.0);
  CHECK(longer.loss() == operate(trained_table(), {}).loss());  // no row past the trained length is read
}

TEST_CASE("surgery: a stretched table runs through the saved rows from first to last", "[unit]") {
  const Operated stretched = operate(trained_table(), {"model.max_length=31", "model.position.on_resize=interpolate"});
  CHECK(stretched.surgery.count(Fate::resized) == 1);
  const Tensor weight = stretched.tensor("decoder.position.weight"),
               saved = saved_tensor(trained_table(), "decoder.position.weight");
  CHECK(close(weight[0], saved[0], Tolerance::fp32));
  CHECK(close(weight[30], saved[15], Tolerance::fp32));
  CHECK(close(weight[1], (saved[0] + saved[1]) / 2, Tolerance::fp32));  // 15 steps became 30
}

TEST_CASE("surgery: a table over a grid equals the reference's for another grid", "[golden]") {
  int checked = 0;
  for (const auto& c : goldens("positions", "learned")) {
    if (!c.id().starts_with("learned/interpolate-")) continue;
    CAPTURE(c.id());
    const Tensor table = c.tensor("table")[0], out = c.tensor("out")[0];
    const Overrides narrow{"model.dim=6", "model.attention.heads=1", "train.ema=0", "train.length=10",
                           "model.position={kind: learned, grid: [3, 3], prefix_tokens: 1}"};
    const RunConfig config = sample_config(narrow);
    Trainer trainer(config, sample_parts(config));
    CheckpointContent content = trainer.content();
    for (auto& [name, tensor] : content.model)
      if (name == "decoder.position.weight") tensor = table;
    const Operated resized = operate(content, {"model.position.grid=[5, 4]", "model.max_length=21"});
    CHECK(resized.surgery.count(Fate::resized) == 1);
    CHECK(close(resized.tensor("decoder.position.weight"), out, c.tolerance("out")));
    ++checked;
  }
  CHECK((checked == 2 || goldens_elsewhere()));
}

TEST_CASE("surgery: a table of as many rows is resized when its grid or offset is another, and else kept", "[unit]") {
  const CheckpointContent wide = train_sample({"model.position={kind: learned, grid: [2, 8]}"}).content;
  const Operated turned = operate(wide, {"model.position.grid=[8, 2]", "model.position.saved_grid=[2, 8]"});
  REQUIRE(turned.surgery.tensors.size() == 1);
  CHECK(turned.surgery.tensors[0].text() == "decoder.position.weight: interpolated from a grid of 2 x 8 to 8 x 2");
  CHECK(!same_bytes(turned.tensor("decoder.position.weight"), saved_tensor(wide, "decoder.position.weight")));
  const Operated same = operate(wide, {"model.position.saved_grid=[2, 8]"});
  CHECK(same.surgery.count(Fate::kept) == 1);
  const Operated moved = operate(
      trained_table(), {"model.position.offset=1", "model.position.max_positions=16", "model.position.saved_offset=0"});
  CHECK(moved.surgery.count(Fate::resized) == 1);
  CHECK(same_bytes(moved.tensor("decoder.position.weight").slice(0, 1).contiguous(),
                   saved_tensor(trained_table(), "decoder.position.weight")));
}

TEST_CASE("surgery: an encoding keeps its tensors when it joins a list", "[unit]") {
  const Operated joined = operate(trained_table(), {"model.position=[alibi, learned]"});
  CHECK(joined.surgery.count(Fate::kept) == 1);
  CHECK(report_of(joined.surgery).find("decoder.position.1.weight: kept, it was decoder.position.weight") !=
        std::string::npos);
  CHECK(
      same_bytes(joined.tensor("decoder.position.1.weight"), saved_tensor(trained_table(), "decoder.position.weight")));
}

TEST_CASE("surgery: training goes on with every change", "[unit]") {
  for (const Overrides& change :
       {Overrides{"model.position=none"}, Overrides{"model.position=alibi"}, Overrides{"model.max_length=24"},
        Overrides{"model.position.kind=rope", "model.position.theta=500000"}}) {
    CAPTURE(change.front());
    Operated o = operate(trained_table(), change);
    const auto losses = losses_onward(o, 8);
    for (const double loss : losses) CHECK(std::isfinite(loss));
    CHECK(losses.back() < losses.front());
  }
}

TEST_CASE("surgery: a tensor outside the encoding must fit as ever", "[unit]") {
  for (const Overrides& change : {Overrides{"model.dim=32", "model.position=none"}, Overrides{"model.layers=3"},
                                  Overrides{"model.position=alibi", "model.layers=1"}}) {
    CAPTURE(change.front());
    CHECK_THROWS_AS(operate(trained_table(), change), CheckpointError);
  }
}

TEST_CASE("surgery: without a change of positions a tensor of the encoding must fit as well", "[unit]") {
  CheckpointContent damaged = trained_table();
  for (auto* tensors : {&damaged.model, &damaged.ema})
    for (auto& [name, tensor] : *tensors)
      if (name == "decoder.position.weight") tensor = at::zeros({8, 16});
  CHECK_THROWS_AS(operate(damaged, {}), CheckpointError);
}

TEST_CASE("surgery: the trained length is the checkpoint's own, or what its first weights had", "[unit]") {
  CHECK(trained_length(sample_config()) == 16);
  CHECK(trained_length(sample_config({"model.max_length=48"})) == 48);
  CHECK(trained_length(sample_config({"model.max_length=48", "train.trained_length=16"})) == 16);
}

}  // namespace ordo::test
