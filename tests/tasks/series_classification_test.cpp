// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/series_classification.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>

#include "ordo/core/errors.h"
#include "ordo/data/split_rules.h"
#include "ordo/models/encoder.h"
#include "support/program.h"
#include "support/thrown.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

SeriesClassification::Config waves_config() {
  SeriesClassification::Config config;
  config.data.generate = MadeWavesConfig{.examples = 30, .held_out = 20, .noise = 0.0};
  return config;
}

// Rising and falling, four rows; the third is test.
SeriesClassification::Config slopes_config(const Scratch& scratch, const std::string& text =
                                                                       "kind,a,b,c\nup,1,2,3\ndown,3,2,1\nup,2,3,5\n"
                                                                       "down,5,1,0\n") {
  SeriesClassification::Config config;
  config.data.file = scratch.write("a.csv", text);
  config.data.label = "kind";
  auto rule = std::make_shared<NumberSplit::Config>();
  rule->modulus = 4;
  rule->test = {2};
  config.split.emplace("number").config = rule;
  return config;
}

StreamOptions of(Split split, int64_t rows, int64_t length) {
  return {.split = split, .batch_size = rows, .length = length, .training = false};
}

}  // namespace

TEST_CASE("series classification: rows of a table are series, a column their label", "[unit]") {
  const Scratch scratch;
  SeriesClassification::Config config = slopes_config(scratch);
  config.instance_norm = false;
  const SeriesClassification task(config, {});
  CHECK(task.classes() == std::vector<std::string>{"down", "up"});
  const Batch train = task.open(of(Split::train, 8, 3))->next().value();
  CHECK(same_bytes(train.signal.select(0, 1).select(1, 0), at::tensor({3.0F, 2.0F, 1.0F})));
  CHECK(same_bytes(train.targets, at::tensor({1, 0, 0}, at::kLong)));
  const Batch test = task.open(of(Split::test, 8, 3))->next().value();
  CHECK(test.examples[0] == config.data.file.string() + ": line 4");
  CHECK(task.complete({}).outputs == 2);
  CHECK(task.complete({}).signal.channels == 1);
  CHECK_FALSE(task.has(Split::validation));
}

TEST_CASE("series classification: a series' own mean and deviation are taken away", "[unit]") {
  const Scratch scratch;
  const Batch batch = SeriesClassification(slopes_config(scratch), {}).open(of(Split::train, 8, 3))->next().value();
  CHECK(batch.signal.mean(1).abs().max().item<double>() < 1e-6);
  CHECK(batch.signal.square().mean(1).min().item<double>() == Approx(1.0).epsilon(1e-3));
}

TEST_CASE("series classification: a series that never changes becomes zeros, whatever its value", "[unit]") {
  const Scratch scratch;
  const auto config = slopes_config(
      scratch, "kind,a,b,c\nup,1000000.1,1000000.1,1000000.1\ndown,0.1,0.1,0.1\nup,1,2,3\ndown,-1e30,-1e30,-1e30\n");
  const Batch batch = SeriesClassification(config, {}).open(of(Split::train, 8, 3))->next().value();
  CHECK(batch.signal.abs().max().item<double>() == 0.0);
  CHECK(contains(thrown<DataError>(
                     [&] { SeriesClassification(slopes_config(scratch, "kind,a\nup,1\ndown,1e39\n"), {}).classes(); }),
                 "a.csv: line 3: column 2 ('a'): 1e+39 is more than a model can read"));
}

TEST_CASE("series classification: classes are those of training, and another label elsewhere is told", "[unit]") {
  const Scratch scratch;
  const auto labels = [&](const std::string& third) {  // the third row is test
    auto config = slopes_config(scratch, "kind,a\n10,1\n9,2\n" + third + ",3\n9,4\n");
    config.data.on_bad_line = OnBadLine::skip;
    return config;
  };
  CHECK(SeriesClassification(labels("9"), {}).classes() == std::vector<std::string>{"9", "10"});
  CHECK(contains(thrown<DataError>([&] { SeriesClassification(labels("8"), {}).classes(); }),
                 "a.csv: line 4: column 1 ('kind'): there is no class '8'"));
  CHECK(contains(thrown<DataError>([&] {
                   SeriesClassification(slopes_config(scratch, "kind,a\nup,1\nup,2\ndown,3\n"), {}).classes();
                 }),
                 "all rows of training are 'up': there is nothing to tell apart"));
}

TEST_CASE("series classification: a wave is what its label says, and the seed decides it", "[unit]") {
  SeriesClassification::Config config = waves_config();
  config.instance_norm = false;
  const auto waves = [&](uint64_t seed, Split split) {
    return SeriesClassification(config, {.seed = seed}).open(of(split, 30, 50))->next().value();
  };
  const Batch batch = waves(1, Split::train);
  for (int64_t row = 0; row < 30; ++row) {
    const Tensor series = batch.signal[row];
    const bool square = (series.abs() == 1.0).all().item<bool>();
    CHECK(square == (batch.targets[row].item<int64_t>() == 1));
  }
  CHECK(same_bytes(batch.signal, waves(1, Split::train).signal));
  CHECK_FALSE(same_bytes(batch.signal, waves(2, Split::train).signal));
  CHECK_FALSE(same_bytes(batch.signal.slice(0, 0, 20), waves(1, Split::test).signal));
}

TEST_CASE("series classification: the loss of an evaluation does not depend on the batch size", "[unit]") {
  const SeriesClassification task(waves_config(), {.seed = 2});
  Encoder::Config config;
  config.dim = 8;
  config.layers = 1;
  config.attention.heads = 2;
  config.input = Choice<InputLayer>("values");
  Encoder model(config, task.complete({.max_length = 24, .seed = 3}));
  model.eval();
  const auto loss = [&](int64_t rows) { return task.evaluate(model, of(Split::test, rows, 24)).metrics.at("loss"); };
  CHECK(loss(7) == Approx(loss(1)).epsilon(1e-6));
  CHECK(loss(64) == Approx(loss(1)).epsilon(1e-6));
}

TEST_CASE("series classification: a row that cannot be read is left out where that is asked for, and moves no split",
          "[unit]") {
  const Scratch scratch;
  const auto slopes = [&](const std::string& second) {
    SeriesClassification::Config config =
        slopes_config(scratch, "kind,a,b,c\nup,1,2,3\n" + second + "\nup,2,3,5\ndown,5,1,0\n");
    config.data.on_bad_line = OnBadLine::skip;
    return config;
  };
  for (const std::string bad : {"down,3,x,1", "down,3,2", ",3,2,1"}) {
    const SeriesClassification task(slopes(bad), {});
    CHECK(contains(task.open(of(Split::test, 8, 3))->next().value().examples[0], "a.csv: line 4"));
    CHECK(task.open(of(Split::train, 8, 3))->next().value().targets.numel() == 2);
    CHECK(contains(task.summary().back(), "1 line left out: "));
    CHECK(contains(task.summary().back(), "a.csv: line 3: "));
  }
  const auto told = [&](const std::string& text) {
    SeriesClassification::Config config = slopes_config(scratch, text);
    config.data.on_bad_line = OnBadLine::skip;
    const SeriesClassification task(config, {});
    return thrown<DataError>([&] { task.classes(); });
  };
  CHECK(contains(told("kind,a\nup,1\ndown,2\nup,3\nflat,x\n"), "no row of class 'flat' is left: 1 line left out"));
  CHECK(contains(told("kind,a\nup,1\ndown,2\nup,x\n"), "the test split of "));
  CHECK(contains(told("kind,a\nup,x\ndown,y\n"), "no row is left: 2 lines left out"));
  SeriesClassification::Config made = waves_config();
  made.data.on_bad_line = OnBadLine::skip;
  CHECK(contains(thrown<ConfigError>([&] { SeriesClassification(made, {}); }), "task.data.on_bad_line"));
}

TEST_CASE("series classification: what cannot be is told", "[unit]") {
  const Scratch scratch;
  const auto config_told = [](const SeriesClassification::Config& config) {
    return thrown<ConfigError>([&] { SeriesClassification(config, {}); });
  };
  CHECK(contains(config_told({}), "give one of task.data.file and task.data.generate"));
  SeriesClassification::Config bare = slopes_config(scratch);
  bare.split.reset();
  CHECK(contains(config_told(bare), "task.split is missing"));
  bare.data.label.clear();
  CHECK(contains(config_told(bare), "task.data.label is missing"));
  SeriesClassification::Config both = waves_config();
  both.data.label = "kind";
  CHECK(contains(config_told(both), "leave them out"));
  const auto data_told = [&](const std::string& text) {
    const SeriesClassification task(slopes_config(scratch, text), {});
    return thrown<DataError>([&] { task.classes(); });
  };
  CHECK(contains(data_told("kind,a\nup,1\ndown,x\n"), "a.csv: line 3: column 2 ('a'): expected a finite number"));
  CHECK(contains(data_told("kind,a\nup,1\n,2\n"), "a.csv: line 3: column 1 ('kind'): the label is empty"));
  CHECK(contains(data_told("kind,a\nup,1\nup,2\n"), "all rows of training are 'up': there is nothing to tell apart"));
  CHECK(contains(data_told("kimd,a\nup,1\n"), "did you mean 'kimd'?"));
  CHECK(contains(data_told("kind\nup\n"), "no column is left for values"));
  CHECK(contains(SeriesClassification(slopes_config(scratch), {}).refuses_length(Split::train, 5).value(),
                 "train.length must be 3, not 5"));
}

}  // namespace ordo::test
