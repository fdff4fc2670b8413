// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/forecasting.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include <array>
#include <cmath>
#include <limits>

#include "ordo/core/errors.h"
#include "ordo/models/decoder.h"
#include "ordo/models/encoder.h"
#include "ordo/models/value_input.h"
#include "ordo/tasks/predictor.h"
#include "support/program.h"
#include "support/thrown.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

// Tells [rows, outputs] of its first and last step: what the head gets is made by hand.
class EndsModel : public Model {
 public:
  EndsModel() : head_(register_module("head", std::make_shared<Head>(2, 2, std::nullopt))) {
    head_->weight().detach().copy_(at::tensor({1.0F, 0.0F, 0.0F, 1.0F}).view({2, 2}));
    eval();
  }
  Tensor forward(const ModelInput& in, Cache*) override { return in.signal; }
  Tensor pooled(const ModelInput& in) override {
    seen = in;
    return at::stack({in.signal.select(1, 0).select(1, 0), in.signal.select(1, -1).select(1, 0)}, 1);
  }
  Head& head() override { return *head_; }
  std::shared_ptr<Cache> make_cache() const override { return nullptr; }
  int64_t max_length() const override { return 100; }
  bool causal() const override { return false; }
  PositionEncoding& position() override { throw Error("it has none"); }
  ModelCost cost(int64_t) const override { return {}; }
  void recompute(const std::vector<bool>&) override {}
  int64_t layers() const override { return 0; }
  int64_t dim() const override { return 2; }
  ModelInput seen;

 private:
  std::shared_ptr<Head> head_;
};

class PairModel final : public EndsModel {
 public:
  bool reads_source() const override { return true; }
};

// 0, 1, 4, 9, … hours apart.
std::string squares(int rows) {
  std::string text = "date,x\n";
  for (int i = 0; i < rows; ++i) text += fmt::format("2016-07-{:02} {:02}:00,{}\n", 1 + i / 24, i % 24, i * i);
  return text;
}

Forecasting::Config squares_config(const Scratch& scratch, int rows = 12) {
  Forecasting::Config config;
  config.data = {.file = scratch.write("a.csv", squares(rows)), .date = "date"};
  config.rows = SplitRows{rows / 2, rows / 4, rows / 4};
  config.scale = false;
  config.horizon = 2;
  return config;
}

Forecasting::Config sines_config(bool joint) {
  Forecasting::Config config;
  config.data.generate = GeneratedSeries{.rows = 200, .channels = 3, .irregular = true};
  config.horizon = 4;
  config.joint = joint;
  config.season = 7;
  config.times = true;
  config.features = {SeriesFeature::differences};
  return config;
}

template <class Kind>
std::shared_ptr<Kind> sines_model(const Forecasting& task, Pool pool, int64_t length, const std::string& position) {
  typename Kind::Config config;
  config.dim = 8;
  config.layers = 1;
  config.attention.heads = 2;
  config.position = {Choice<PositionEncoding>(position)};
  config.input = Choice<InputLayer>("values");
  config.pool = pool;
  auto model = std::make_shared<Kind>(config, task.complete({.max_length = length, .seed = 3}));
  model->eval();
  return model;
}

Batch first_batch(const Forecasting& task, Split split, int64_t rows, int64_t length) {
  return task.open({.split = split, .batch_size = rows, .length = length, .training = false})->next().value();
}

}  // namespace

TEST_CASE("forecasting: a row is a context, its targets are what comes", "[unit]") {
  const Scratch scratch;
  Forecasting::Config config = squares_config(scratch);
  config.times = true;
  const Forecasting task(config, {});
  const Batch batch = first_batch(task, Split::train, 2, 3);
  CHECK(same_bytes(batch.signal, at::tensor({0.0F, 1.0F, 4.0F, 1.0F, 4.0F, 9.0F}).view({2, 3, 1})));
  CHECK(same_bytes(batch.targets, at::tensor({9.0F, 16.0F, 16.0F, 25.0F}).view({2, 2})));
  CHECK(batch.weight == 4.0);
  CHECK(batch.examples[1] == config.data.file.string() + ": lines 3 to 5, x");
  CHECK((batch.at.coords[0][2] - batch.at.coords[0][0]).item<double>() == 7200.0);
}

TEST_CASE("forecasting: errors, naive errors and losses are those of the numbers told", "[unit]") {
  const Scratch scratch;
  Forecasting::Config config = squares_config(scratch);
  config.instance_norm = false;
  EndsModel model;
  // Context (25, 36, 49) asks for 64 and 81; the model tells 25 and 49. The other test window is (16, 25, 36).
  const Forecasting task(config, {});
  const StreamOptions test{.split = Split::test, .batch_size = 1, .length = 3, .training = false};
  const Evaluation made = task.evaluate(model, test);
  const std::vector<double> errors{81 - 36, 100 - 64, 100 - 49, 121 - 81};  // contexts (36, 49, 64), (49, 64, 81)
  double squares = 0.0, sizes = 0.0;
  for (const double e : errors) squares += e * e, sizes += e;
  CHECK(made.metrics.at("mse") == Approx(squares / 4));
  CHECK(made.metrics.at("mae") == Approx(sizes / 4));
  CHECK(made.metrics.at("loss") == Approx(squares / 4));
  CHECK(made.metrics.at("persistence_mae") == Approx(((81 - 64) + (100 - 64) + (100 - 81) + (121 - 81)) / 4.0));
  CHECK(made.tokens == 4.0);
  CHECK(made.protocol == "sliding");
  // Naive errors of training: 1, 3, 5, 7, 9.
  CHECK(made.metrics.at("mase") == Approx(sizes / 4 / 5.0));
  for (const auto& [kind, loss] : {std::pair{ForecastLoss::mae, sizes / 4}, {ForecastLoss::huber, sizes / 4 - 0.5}}) {
    config.loss = kind;
    CHECK(Forecasting(config, {}).evaluate(model, test).metrics.at("loss") == Approx(loss));
  }
}

TEST_CASE("forecasting: a context's own mean and deviation are taken away and put back", "[unit]") {
  const Scratch scratch;
  const Forecasting task(squares_config(scratch), {});
  EndsModel model;
  const Batch batch = first_batch(task, Split::train, 1, 3);
  const double loss = task.loss(model, batch, {}).sum.item<double>();
  CHECK(std::abs(model.seen.signal.mean().item<double>()) < 1e-6);
  CHECK(model.seen.signal.square().mean().item<double>() == Approx(1.0).epsilon(1e-4));
  CHECK(loss ==
        Approx(9.0 * 9.0 + 12.0 * 12.0).epsilon(1e-5));  // tells 0 and 4 of 9 and 16: they came back as they were
}

TEST_CASE("forecasting: a context that never changes becomes zeros, whatever its value", "[unit]") {
  const Scratch scratch;
  for (const std::string value : {"1000000.1", "0.1", "1e30"}) {
    std::string text = "x\n";
    for (int row = 0; row < 12; ++row) text += value + "\n";
    Forecasting::Config config = squares_config(scratch);
    config.data = {.file = scratch.write("same.csv", text)};
    const Forecasting task(config, {});
    EndsModel model;
    CHECK(task.loss(model, first_batch(task, Split::train, 2, 4), {}).sum.item<double>() == 0.0);
    CHECK(model.seen.signal.abs().max().item<double>() == 0.0);
  }
}

TEST_CASE("forecasting: what a model tells that is no number is told with the lines that it read", "[unit]") {
  const Scratch scratch;
  Forecasting::Config config = squares_config(scratch);
  config.instance_norm = false;
  const Forecasting task(config, {});
  EndsModel model;
  model.head().weight().detach().fill_(std::numeric_limits<float>::infinity());
  const StreamOptions test{.split = Split::test, .batch_size = 8, .length = 3, .training = false};
  CHECK(contains(thrown<NumericError>([&] { task.evaluate(model, test); }),
                 "a.csv: lines 8 to 10, x: what the model tells of 'x' at line 11 is not finite (inf)"));
  const PredictorInput input{.text = config.data.file.string(), .where = "input 1"};
  CHECK(contains(thrown<NumericError>([&] { task.predictor()->predict(model, std::array{input}, 3); }),
                 "a.csv: what the model tells of 'x', 1 row ahead, is not finite (inf)"));
}

TEST_CASE("forecasting: differences are channels behind the values", "[unit]") {
  const Scratch scratch;
  Forecasting::Config config = squares_config(scratch);
  config.instance_norm = false;
  config.features = {SeriesFeature::differences};
  const Forecasting task(config, {});
  CHECK(task.complete({}).signal.channels == 2);
  EndsModel model;
  task.loss(model, first_batch(task, Split::train, 1, 3), {});
  CHECK(same_bytes(model.seen.signal.contiguous(), at::tensor({0.0F, 0.0F, 1.0F, 1.0F, 4.0F, 3.0F}).view({1, 3, 2})));
}

TEST_CASE("forecasting: a missing cell is no target, and its step can be hidden", "[unit]") {
  const Scratch scratch;
  Forecasting::Config config = squares_config(scratch);
  config.data.file = scratch.write("gaps.csv", "x\n0\n1\n\"\"\n9\n16\n\"\"\n36\n49\n64\n81\n100\n121\n");
  config.data.date.clear();
  config.data.missing = MissingCells::mask;
  const Forecasting task(config, {});
  const Batch batch = first_batch(task, Split::train, 2, 3);
  CHECK(same_bytes(batch.signal.select(0, 0), at::tensor({0.0F, 1.0F, 1.0F}).view({3, 1})));
  CHECK(same_bytes(batch.mask.keys[0], at::tensor({1, 1, 0}).to(at::kBool)));
  CHECK(batch.weight == 3.0);
  EndsModel model;
  const double loss = task.loss(model, batch, {}).sum.item<double>();
  CHECK(std::isfinite(loss));
  CHECK_FALSE(first_batch(task, Split::test, 1, 3).mask.keys.defined());
}

TEST_CASE("forecasting: the loss of an evaluation does not depend on the batch size", "[unit]") {
  for (const bool joint : {false, true}) {
    const Forecasting task(sines_config(joint), {.seed = 2});
    const auto encoder = sines_model<Encoder>(task, Pool::flatten, 20, "time_sinusoidal");
    const auto decoder = sines_model<Decoder>(task, Pool::last, 20, "time_rope");
    for (Model* const model : std::initializer_list<Model*>{encoder.get(), decoder.get()}) {
      std::vector<double> losses;
      for (const int64_t rows : {1, 7, 64})
        losses.push_back(
            task.evaluate(*model, {.split = Split::test, .batch_size = rows, .length = 20, .training = false})
                .metrics.at("loss"));
      CHECK(losses[1] == Approx(losses[0]).epsilon(1e-6));
      CHECK(losses[2] == Approx(losses[0]).epsilon(1e-6));
    }
  }
}

TEST_CASE("forecasting: details tell intervals, a row for each window and channel, and the naive forecasts", "[unit]") {
  const Forecasting task(sines_config(false), {.seed = 2});
  const auto model = sines_model<Encoder>(task, Pool::flatten, 20, "time_decay");
  StreamOptions options{.split = Split::test, .batch_size = 32, .length = 20, .training = false, .details = true};
  const Evaluation made = task.evaluate(*model, options);
  CHECK(made.rows.size() == 3 * 37);
  CHECK(contains(made.rows[1], "\"channel\":\"sines2\""));
  CHECK(made.intervals.at("mse").contains(made.metrics.at("mse")));
  CHECK(contains(made.notes.back(), "seasonal naive (7 rows before)"));
  options.details = false;
  const Evaluation plain = task.evaluate(*model, options);
  CHECK(plain.rows.empty());
  CHECK(plain.intervals.empty());
  CHECK(plain.metrics == made.metrics);
}

TEST_CASE("forecasting: settings that cannot hold are named", "[unit]") {
  const Scratch scratch;
  const auto told = [&](const std::function<void(Forecasting::Config&)>& change) {
    Forecasting::Config config = squares_config(scratch);
    change(config);
    return thrown<ConfigError>([&] { Forecasting(config, {}); });
  };
  const Quantity hour{1.0, "h"};
  CHECK(contains(told([](auto& c) { c.shares = SplitShares{}; }), "task.rows and task.shares both divide the data"));
  CHECK(contains(told([](auto& c) {
                   c.rows.reset(), c.shares = SplitShares{0.5, 0.5};
                 }),
                 "leave nothing for training"));
  CHECK(contains(told([&](auto& c) { c.ahead = hour; }), "need each other"));
  CHECK(contains(told([&](auto& c) { c.ahead = hour, c.tolerance = hour; }), "have no meaning beside it"));
  CHECK(contains(told([](auto& c) { c.data.date.clear(), c.times = true; }), "task.times needs time stamps"));
  CHECK(contains(told([](auto& c) { c.data.file.clear(); }), "give one of task.data.file"));
}

TEST_CASE("forecasting: too few rows, other lengths and what is for classes are refused", "[unit]") {
  const Scratch scratch;
  const Forecasting task(squares_config(scratch), {});
  CHECK_FALSE(task.refuses_length(Split::train, 4));
  CHECK(contains(task.refuses_length(Split::train, 5).value(),
                 "the train split has no window: 6 rows at the most in one series, for a context (train.length) of 5 "
                 "rows and task.horizon 2"));
  CHECK_FALSE(task.refuses(EndsModel()));
  CHECK(contains(task.refuses(PairModel()).value(), "use model.kind: encoder or decoder"));
  Forecasting::Config seasonal = squares_config(scratch);
  seasonal.season = 4;
  CHECK(contains(Forecasting(seasonal, {}).refuses_length(Split::train, 3).value(),
                 "task.season (4) is longer than a context of 3 rows"));
  const Forecasting sines(sines_config(false), {});
  const auto model = sines_model<Encoder>(sines, Pool::flatten, 20, "time_decay");
  CHECK(contains(thrown<ConfigError>([&] {
                   sines.evaluate(*model, {.split = Split::test, .batch_size = 4, .length = 12, .training = false});
                 }),
                 "model.pool: flatten"));
  CHECK(contains(
      thrown<ConfigError>([&] { sines.loss(*model, first_batch(sines, Split::train, 2, 20), {.smoothing = 0.1}); }),
      "train.label_smoothing (0.1)"));
}

TEST_CASE("forecasting: time stamps that no encoding reads are refused", "[unit]") {
  const Forecasting task(sines_config(false), {});
  const auto loss = [&](const std::string& position) {
    const auto model = sines_model<Encoder>(task, Pool::mean, 20, position);
    return task.loss(*model, first_batch(task, Split::train, 2, 20), {}).sum.item<double>();
  };
  CHECK(contains(thrown<ConfigError>([&] { loss("learned"); }), "no encoding of model.position reads any"));
  CHECK(std::isfinite(loss("calendar")));
}

TEST_CASE("forecasting: other training data has another fingerprint", "[unit]") {
  const Forecasting task(sines_config(false), {.seed = 2});
  CHECK(task.fingerprint() == Forecasting(sines_config(false), {.seed = 2}).fingerprint());
  CHECK(task.fingerprint() != Forecasting(sines_config(false), {.seed = 3}).fingerprint());
}

}  // namespace ordo::test
