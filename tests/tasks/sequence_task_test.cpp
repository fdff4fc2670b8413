// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "ordo/config/config.h"
#include "ordo/models/decoder.h"
#include "ordo/models/encoder.h"
#include "ordo/models/encoder_decoder.h"
#include "ordo/tasks/copy.h"
#include "ordo/tasks/rows.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

// Given two symbols, asks for the first; a stand-in for tasks that ask one label of a row.
class FirstSymbol final : public DrawnTask {
 public:
  FirstSymbol(const DrawnConfig& config, const TaskFacts& facts)
      : DrawnTask(config, facts, Asks::label, numbered_symbols(5)) {}
  Example example(KeyedSequence& draw, int64_t size) const override {
    Example made;
    for (int64_t i = 0; i < size; ++i) made.given.push_back(static_cast<int64_t>(draw.below(5)));
    made.asked = {made.given.front()};
    return made;
  }
  int64_t asked_length(int64_t) const override { return 1; }
  std::string_view kind() const override { return "first"; }
};

Copy copy_task(bool causal, DrawnConfig drawn = {}, uint64_t seed = 1) {
  return Copy({.drawn = drawn, .symbols = 4}, {.seed = seed, .causal = causal});
}

Batch first_batch(const Task& task, const StreamOptions& options) { return *task.open(options)->next(); }

std::vector<int64_t> row_of(const Tensor& t, int64_t b) {
  std::vector<int64_t> row;
  for (int64_t i = 0; i < t.size(1); ++i) row.push_back(t[b][i].item<int64_t>());
  return row;
}

constexpr int64_t kPadding = 4, kEquals = 5, kSlot = 6, kStart = 8;  // the marks of a task of 4 symbols

std::shared_ptr<Model> small_model(const Task& task, bool causal, int64_t length) {
  StackConfig stack{.dim = 16, .layers = 1, .attention = {.heads = 2}, .tie_embeddings = false};
  Choice<Model> choice(causal ? "decoder" : "encoder");
  if (causal)
    choice.config = std::make_shared<Decoder::Config>(Decoder::Config{stack});
  else
    choice.config = std::make_shared<Encoder::Config>(Encoder::Config{stack});
  return models().build(choice, task.complete({.max_length = length, .seed = 1}));
}

TEST_CASE("sequence tasks: a causal row is a start, the example, an equals sign, and the answer but its last symbol",
          "[unit]") {
  const Copy task = copy_task(true);
  const Batch batch = first_batch(task, {.split = Split::test, .batch_size = 3, .length = 4, .training = false});
  for (int64_t b = 0; b < 3; ++b) {
    const auto ids = row_of(batch.ids, b), targets = row_of(batch.targets, b);
    REQUIRE(ids.size() == 9);
    CHECK(ids[0] == kStart);
    CHECK(targets[0] == kIgnore);
    CHECK(ids[5] == kEquals);
    for (size_t i = 0; i < 4; ++i) {
      CHECK(targets[1 + i] == kIgnore);
      CHECK(targets[5 + i] == ids[1 + i]);
      if (i > 0) CHECK(ids[5 + i] == targets[4 + i]);
    }
  }
  CHECK(batch.weight == 12.0);
  CHECK(task.row_length(4) == 9);
}

TEST_CASE("sequence tasks: a two-sided row has a slot for each symbol asked, and nothing of the answer", "[unit]") {
  const Copy task = copy_task(false);
  const Batch batch = first_batch(task, {.split = Split::test, .batch_size = 2, .length = 3, .training = false});
  for (int64_t b = 0; b < 2; ++b) {
    const auto ids = row_of(batch.ids, b), targets = row_of(batch.targets, b);
    for (size_t i = 0; i < 3; ++i) {
      CHECK(ids[3 + i] == kSlot);
      CHECK(targets[3 + i] == ids[i]);
    }
  }
  CHECK(task.complete({.max_length = 3}).vocab_size == kStart);  // it knows no mark of the start
}

TEST_CASE("sequence tasks: an encoder gets the example, its decoder the start and the answer but its last symbol",
          "[unit]") {
  const TaskFacts facts{.seed = 1, .reads_source = true};
  const Copy task({.drawn = {.shortest = 2}, .symbols = 4}, facts);
  const Batch batch = first_batch(task, {.split = Split::train, .batch_size = 32, .length = 5});
  REQUIRE(batch.source.keys.defined());
  CHECK(at::equal(batch.source.keys, batch.source.ids.ne(kPadding)));
  CHECK_FALSE(batch.mask.keys.defined());
  for (int64_t b = 0; b < 32; ++b) {
    const auto ids = row_of(batch.ids, b), targets = row_of(batch.targets, b), source = row_of(batch.source.ids, b);
    CHECK(ids[0] == kStart);
    for (size_t i = 0; i < targets.size(); ++i) {
      CHECK((source[i] == kPadding) == (targets[i] == kIgnore));
      if (targets[i] == kIgnore) continue;
      CHECK(targets[i] == source[i]);
      if (i > 0) CHECK(ids[i] == targets[i - 1]);
    }
  }
  CHECK(task.row_length(5) == 5);
  const Batch label = first_batch(FirstSymbol({}, facts), {.split = Split::test, .batch_size = 2, .length = 3});
  CHECK(row_of(label.ids, 0) == std::vector<int64_t>{9});  // five symbols, then the marks
  CHECK(row_of(label.targets, 0) == std::vector<int64_t>{row_of(label.source.ids, 0)[0]});
}

TEST_CASE("sequence tasks: an encoder-decoder's loss is the same for batches of any size", "[unit]") {
  const Copy task({.drawn = {.shortest = 1}, .symbols = 4}, {.seed = 1, .reads_source = true});
  Choice<Model> choice("encoder_decoder");
  EncoderDecoder::Config config;
  static_cast<StackConfig&>(config) =
      StackConfig{.dim = 16, .layers = 1, .attention = {.heads = 2}, .position = {Choice<PositionEncoding>("rope")}};
  choice.config = std::make_shared<EncoderDecoder::Config>(config);
  const auto model = models().build(choice, task.complete({.max_length = 6, .seed = 1}));
  CHECK_FALSE(task.refuses(*model));
  model->eval();
  const auto judged = [&](int64_t rows) {
    return task.evaluate(*model, {.split = Split::test, .batch_size = rows, .length = 6, .training = false});
  };
  const Evaluation one = judged(1);
  for (const int64_t rows : {7, 64}) {
    const Evaluation many = judged(rows);
    CHECK(std::abs(many.metrics.at("loss") - one.metrics.at("loss")) < 1e-6);
    CHECK(many.outcomes.accuracy == one.outcomes.accuracy);
  }
}

TEST_CASE("sequence tasks: shorter rows of a batch are padded, and a two-sided model is told which", "[unit]") {
  const StreamOptions options{.split = Split::train, .batch_size = 64, .length = 6, .seed = 3};
  const Copy two_sided = copy_task(false, {.shortest = 2});
  const Batch batch = first_batch(two_sided, options);
  REQUIRE(batch.mask.keys.defined());
  CHECK(at::equal(batch.mask.keys, batch.ids.ne(kPadding)));
  std::set<int64_t> sizes;
  for (int64_t b = 0; b < 64; ++b) sizes.insert(batch.targets[b].ne(kIgnore).sum().item<int64_t>());
  CHECK(sizes == std::set<int64_t>{2, 3, 4, 5, 6});
  CHECK_FALSE(first_batch(copy_task(true, {.shortest = 2}), options).mask.keys.defined());
}

TEST_CASE("sequence tasks: a label is read from the mean of a two-sided row, at a closing ? of a causal one",
          "[unit]") {
  const StreamOptions options{.split = Split::test, .batch_size = 2, .length = 3, .training = false};
  const Batch mean = first_batch(FirstSymbol({}, {.causal = false}), options);
  CHECK(mean.ids.size(1) == 3);
  CHECK(mean.targets.size(1) == 1);
  CHECK(mean.targets[0][0].item<int64_t>() == mean.ids[0][0].item<int64_t>());
  const Batch end = first_batch(FirstSymbol({}, {.causal = true}), options);
  CHECK(end.ids.size(1) == 5);
  CHECK(row_of(end.ids, 0)[4] == 8);  // five symbols, then the marks
  CHECK(row_of(end.targets, 0) == std::vector<int64_t>{kIgnore, kIgnore, kIgnore, kIgnore, row_of(end.ids, 0)[1]});
  const Batch asked = first_batch(FirstSymbol({.read = ReadAt::end}, {.causal = false}), options);
  CHECK(row_of(asked.ids, 1)[3] == 8);
}

TEST_CASE("sequence tasks: padding does not change what a label is read from", "[unit]") {
  const FirstSymbol task({}, {.causal = false});
  const auto model = small_model(task, false, 8);
  model->eval();
  const Batch plain = first_batch(task, {.split = Split::test, .batch_size = 1, .length = 3, .training = false});
  Batch padded = plain;
  padded.ids = at::constant_pad_nd(plain.ids, {0, 4}, 5);  // the mark of padding
  padded.at = consecutive(0, 7, at::kCPU);
  padded.mask.keys = padded.ids.ne(5);
  const double a = task.loss(*model, plain, {}).sum.item<double>(),
               b = task.loss(*model, padded, {}).sum.item<double>();
  CHECK(a == Approx(b).epsilon(1e-6));
}

TEST_CASE("sequence tasks: a stream goes on from its state, with and without an end of the data", "[unit]") {
  for (const int64_t examples : {0, 10}) {
    const Copy task = copy_task(true, {.examples = examples});
    const StreamOptions options{.split = Split::train, .batch_size = 4, .length = 5, .seed = 2};
    const auto stream = task.open(options);
    for (int i = 0; i < 4; ++i) stream->next();
    const auto again = task.open(options);
    again->restore(stream->state());
    CHECK(again->epoch() == stream->epoch());
    CHECK(at::equal(again->next()->ids, stream->next()->ids));
    CHECK((examples == 0 ? std::isinf(stream->batches_per_epoch()) : stream->batches_per_epoch() == 3.0));
  }
}

TEST_CASE("sequence tasks: a training set is gone through once an epoch, in another order each", "[unit]") {
  const Copy task = copy_task(true, {.examples = 6});
  const auto stream = task.open({.split = Split::train, .batch_size = 6, .length = 9, .seed = 2});
  const Batch one = *stream->next(), two = *stream->next();
  CHECK(std::set(one.examples.begin(), one.examples.end()) == std::set(two.examples.begin(), two.examples.end()));
  CHECK(one.examples != two.examples);
}

TEST_CASE("sequence tasks: an evaluation judges every held-out example once, whatever the batch size", "[unit]") {
  const Copy task = copy_task(true, {.held_out = 10});
  const auto model = small_model(task, true, 5);
  model->eval();
  const auto evaluated = [&](int64_t rows) {
    return task.evaluate(*model, {.split = Split::test, .batch_size = rows, .length = 5, .training = false});
  };
  const Evaluation one = evaluated(10), other = evaluated(3);
  CHECK(one.tokens == 50.0);
  CHECK(one.outcomes.accuracy.size() == 10);
  CHECK(one.outcomes.accuracy == other.outcomes.accuracy);
  CHECK(one.metrics.at("loss") == Approx(other.metrics.at("loss")).epsilon(1e-6));
  CHECK(one.protocol == "whole_examples");
  double all_right = 0.0, mean = 0.0;
  for (const double share : one.outcomes.accuracy) {
    all_right += share == 1.0 ? 0.1 : 0.0;
    mean += share / 10.0;
  }
  CHECK(one.metrics.at("exact_match") == Approx(all_right));
  CHECK(one.metrics.at("accuracy") == Approx(mean));
}

TEST_CASE("sequence tasks: the loss by place is that of the symbols asked there", "[unit]") {
  const Copy task = copy_task(true, {.held_out = 4});
  const auto model = small_model(task, true, 3);
  model->eval();
  const Evaluation made =
      task.evaluate(*model, {.split = Split::test, .batch_size = 4, .length = 3, .training = false});
  REQUIRE(made.position_loss.size() == 7);
  double sum = 0.0;
  for (size_t i = 0; i < 7; ++i) {
    CHECK(std::isnan(made.position_loss[i]) == (i < 4));
    if (i >= 4) sum += made.position_loss[i];
  }
  CHECK(sum / 3.0 == Approx(made.metrics.at("loss")).epsilon(1e-6));
}

TEST_CASE("sequence tasks: what is judged is held out, by whole examples", "[unit]") {
  const Copy task = copy_task(true);
  CHECK_FALSE(task.has(Split::train));
  CHECK(task.has(Split::validation));
  const StreamOptions sliding{.split = Split::test, .batch_size = 1, .length = 4, .training = false, .stride = 2};
  CHECK(thrown<ConfigError>([&] { task.open(sliding); }) ==
        "copy is judged by whole examples, over which no window slides: leave the stride out");
}

}  // namespace
}  // namespace ordo::test
