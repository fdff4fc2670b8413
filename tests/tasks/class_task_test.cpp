// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/class_task.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/log_sigmoid.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ordo/models/encoder.h"
#include "ordo/models/encoder_decoder.h"
#include "ordo/tasks/class_judge.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

// Rows of unequal lengths over 10 ids, each with labels from a list.
class FewRows final : public LabelledSet {
 public:
  explicit FewRows(std::vector<std::vector<int64_t>> labels) : labels_(std::move(labels)) {}
  int64_t count() const override { return std::ssize(labels_); }
  std::string name(uint64_t number) const override { return fmt::format("row {}", number); }
  int64_t length(uint64_t number) const override { return 2 + static_cast<int64_t>(number % 5); }
  std::span<const int64_t> labels(uint64_t number) const override { return labels_[number]; }
  Json shown(uint64_t number) const override { return {{"text", fmt::format("text {}", number)}}; }
  std::vector<std::string> notes() const override { return {"a note"}; }
  Batch batch(std::span<const uint64_t> numbers) const override {
    const auto rows = std::ssize(numbers);
    Batch made{.ids = at::zeros({rows, 6}, at::kLong), .at = consecutive(0, 6, at::kCPU)};
    made.mask.keys = at::zeros({rows, 6}, at::kBool);
    for (int64_t b = 0; b < rows; ++b) {
      KeyedSequence draw(numbers[static_cast<size_t>(b)]);
      for (int64_t i = 0; i < length(numbers[static_cast<size_t>(b)]); ++i) {
        made.ids[b][i] = static_cast<int64_t>(draw.below(10));
        made.mask.keys[b][i] = true;
      }
    }
    return made;
  }

 private:
  std::vector<std::vector<int64_t>> labels_;
};

class FewClasses final : public ClassTask {
 public:
  FewClasses(std::vector<std::string> classes, bool several, std::vector<std::vector<int64_t>> labels)
      : classes_(std::move(classes)), several_(several), rows_(std::make_shared<FewRows>(std::move(labels))) {}
  ModelFacts complete(ModelFacts facts) const override {
    facts = ClassTask::complete(facts);
    facts.vocab_size = 10;
    return facts;
  }
  bool has(Split) const override { return true; }
  uint64_t fingerprint() const override { return 1; }
  std::vector<std::string> summary() const override { return {}; }
  std::string_view kind() const override { return "few"; }
  const std::vector<std::string>& classes() const override { return classes_; }
  bool several_labels() const override { return several_; }
  std::shared_ptr<const LabelledSet> examples(const StreamOptions&) const override { return rows_; }

 private:
  std::vector<std::string> classes_;
  bool several_;
  std::shared_ptr<const FewRows> rows_;
};

FewClasses one_label() {
  std::vector<std::vector<int64_t>> labels;
  for (int64_t i = 0; i < 70; ++i) labels.push_back({(i * i) % 3});
  return {{"red", "green", "blue"}, false, labels};
}
FewClasses some_labels() {
  std::vector<std::vector<int64_t>> labels;
  for (int64_t i = 0; i < 70; ++i) {
    auto& one = labels.emplace_back();
    for (int64_t k = 0; k < 3; ++k)
      if ((i >> k) % 2 == 1) one.push_back(k);
  }
  return {{"red", "green", "blue"}, true, labels};
}

std::shared_ptr<Model> reader_of(const ClassTask& task, double dropout = 0.0) {
  Choice<Model> choice("encoder");
  Encoder::Config config;
  config.dim = 16;
  config.layers = 1;
  config.attention.heads = 2;
  config.position = {Choice<PositionEncoding>("rope")};
  config.init.std = 0.3;
  config.dropout = dropout;
  choice.config = std::make_shared<Encoder::Config>(config);
  return models().build(choice, task.complete({.max_length = 6, .seed = 1}));
}

Evaluation judged(const ClassTask& task, int64_t batch_size, bool details = false) {
  const auto model = reader_of(task);
  model->eval();
  return task.evaluate(
      *model, {.split = Split::test, .batch_size = batch_size, .length = 6, .training = false, .details = details});
}

}  // namespace

TEST_CASE("classes: an evaluation is the same for batches of 1, 7 and 64, with one label and with several", "[unit]") {
  for (const auto& task : {one_label(), some_labels()}) {
    const Metrics by_one = judged(task, 1).metrics;
    CHECK(by_one.at("loss") > 0.1);
    for (const int64_t size : {7, 64})
      for (const auto& [name, value] : judged(task, size).metrics) {
        INFO(name << " at batch size " << size);
        CHECK(std::abs(value - by_one.at(name)) < 1e-6);
      }
  }
}

TEST_CASE("classes: the loss that is trained on is the loss that is reported", "[unit]") {
  for (const auto& task : {one_label(), some_labels()}) {
    const auto model = reader_of(task);
    model->eval();
    double sum = 0.0, weight = 0.0;
    const auto stream = task.open({.split = Split::test, .batch_size = 8, .length = 6, .training = false});
    while (const auto batch = stream->next()) {
      const Loss loss = task.loss(*model, *batch, {});
      sum += loss.sum.item<double>();
      weight += loss.weight;
    }
    const Evaluation made = judged(task, 8);
    CHECK(weight == made.tokens);
    CHECK(std::abs(sum / weight - made.metrics.at("loss")) < 1e-6);
  }
}

TEST_CASE("classes: accumulated micro-batches are one big batch, with label smoothing and unequal lengths", "[unit]") {
  for (const auto& task : {one_label(), some_labels()}) {
    const Batch whole = *task.open({.split = Split::test, .batch_size = 32, .length = 6, .training = false})->next();
    const auto gradients = [&](const std::vector<int64_t>& sizes) {
      const auto model = reader_of(task);
      for (int64_t first = 0; const int64_t size : sizes) {
        Batch part = whole;
        for (Tensor* t : {&part.ids, &part.mask.keys, &part.targets}) *t = t->slice(0, first, first + size);
        task.loss(*model, part, {.smoothing = 0.1, .scale = 1.0 / whole.weight}).sum.backward();
        first += size;
      }
      std::vector<Tensor> all;
      for (const auto& p : model->parameters()) all.push_back(p.grad());
      return all;
    };
    const auto together = gradients({32}), apart = gradients({5, 20, 7});
    for (size_t i = 0; i < together.size(); ++i) CHECK(at::allclose(together[i], apart[i], 1e-4, 1e-6));
  }
}

TEST_CASE("classes: with several labels each decision has its own loss, moved towards one half by smoothing",
          "[unit]") {
  const Tensor logits = at::tensor({2.0, -1.0, 0.5}, at::kDouble).view({1, 3});
  const Tensor targets = at::tensor({1.0, 0.0, 1.0}, at::kDouble).view({1, 3});
  const auto nats = [&](double smoothing) {
    const Tensor wanted = targets * (1.0 - smoothing) + 0.5 * smoothing;
    return -(wanted * at::log_sigmoid(logits) + (1.0 - wanted) * at::log_sigmoid(-logits)).sum().item<double>();
  };
  CHECK(several_labels_loss(logits, targets, {}).item<double>() == Approx(nats(0.0)));
  CHECK(several_labels_loss(logits, targets, {.smoothing = 0.2, .scale = 0.5}).item<double>() ==
        Approx(0.5 * nats(0.2)));
  const auto task = some_labels();
  const auto model = reader_of(task);
  const Batch batch = *task.open({.split = Split::train, .batch_size = 4, .length = 6})->next();
  CHECK(batch.targets.sizes() == at::IntArrayRef({4, 3}));
  CHECK(batch.weight == 12.0);
  CHECK(contains(thrown<ConfigError>([&] { task.loss(*model, batch, {.z_loss = 1e-4}); }), "train.z_loss"));
}

TEST_CASE("classes: metrics of one label follow from what was predicted", "[unit]") {
  const std::vector<std::string> classes{"red", "green", "blue"};
  const FewRows rows({{0}, {1}, {2}, {2}});
  const auto judge = class_judge(classes, false, rows);
  judge->add(at::tensor({2.0, 0.0, 0.0, 0.0, 2.0, 0.0}).view({2, 3}));  // right, right
  judge->add(at::tensor({0.0, 0.0, 2.0, 2.0, 0.0, 0.0}).view({2, 3}));  // right, red instead of blue
  const Evaluation made = judge->evaluation({.details = true});
  const double z = std::log(std::exp(2.0) + 2.0);
  CHECK(made.metrics.at("loss") == Approx((3.0 * (z - 2.0) + z) / 4.0));
  CHECK(made.metrics.at("accuracy") == 0.75);
  CHECK(made.metrics.at("f1_macro") == Approx((2.0 / 3.0 + 1.0 + 2.0 / 3.0) / 3.0));
  CHECK(made.metrics.at("recall/blue") == 0.5);
  CHECK(made.metrics.at("calibration_error") == Approx(std::abs(std::exp(2.0 - z) - 0.75)));
  CHECK(made.metrics.contains("auc_macro"));
  CHECK_FALSE(made.metrics.contains("f1_micro"));
  CHECK(made.outcomes.accuracy == std::vector<double>{1.0, 1.0, 1.0, 0.0});
  CHECK(made.tokens == 4.0);
  CHECK(made.intervals.at("accuracy").contains(0.75));
  CHECK(made.notes.front() == "a note");
  CHECK(contains(made.notes.back(), "blue     1      0     1"));
}

TEST_CASE("classes: with details each example is a line of what it is, what it was taken for and how surely",
          "[unit]") {
  const Evaluation made = judged(one_label(), 7, /*details=*/true);
  REQUIRE(made.rows.size() == 70);
  const Json row = parse_json(made.rows[5], "a row");
  CHECK(row["example"] == 5);
  CHECK(row["from"] == "row 5");
  CHECK(row["text"] == "text 5");
  CHECK(row["truth"] == "green");  // 25 mod 3
  CHECK(row["right"].get<bool>() == (row["predicted"] == "green"));
  double sum = 0.0;
  for (const auto& [name, value] : row["probabilities"].items()) sum += value.get<double>();
  CHECK(sum == Approx(1.0));
  CHECK(row["loss"].get<double>() == Approx(-std::log(row["probabilities"]["green"].get<double>())));
  const Json several = parse_json(judged(some_labels(), 7, /*details=*/true).rows[5], "a row");
  CHECK(several["truth"] == Json({"red", "blue"}));  // 5 = 101
  CHECK(judged(one_label(), 7).rows.empty());
  CHECK_FALSE(judged(one_label(), 7).metrics.contains("f1/red"));
}

TEST_CASE("classes: of two classes auc is the area of the second", "[unit]") {
  const std::vector<std::string> classes{"no", "yes"};
  const FewRows rows({{0}, {1}, {1}, {0}});
  const auto judge = class_judge(classes, false, rows);
  judge->add(at::tensor({0.0, -1.0, 0.0, 1.0, 0.0, 0.5, 0.0, 0.7}).view({4, 2}));
  CHECK(judge->evaluation({}).metrics.at("auc") == 0.75);
}

TEST_CASE("classes: of many classes the most frequent mistakes are told", "[unit]") {
  std::vector<std::string> names;
  for (int i = 0; i < 21; ++i) names.push_back(fmt::format("c{}", i));
  std::vector<int64_t> counts(names.size() * names.size(), 0);
  counts[0] = 9;        // right
  counts[3] = 2;        // c0 for c3
  counts[21 + 20] = 7;  // c1 for c20
  const std::string text = confusion_text(names, counts);
  CHECK(contains(text, "the most frequent mistakes"));
  CHECK(text.find("c20") < text.find("c3"));
  CHECK_FALSE(contains(text, "9"));
}

TEST_CASE("classes: names of any bytes and any length keep the table of mistakes a table", "[unit]") {
  const std::vector<std::string> names{"\x1b[31mred", "two\nlines", std::string(5000, 'x'), "plain"};
  std::vector<int64_t> counts(names.size() * names.size(), 0);
  counts[1] = 3;
  const std::string text = confusion_text(names, counts);
  CHECK(std::count(text.begin(), text.end(), '\n') == 6);  // what it is, the header, four classes
  CHECK_FALSE(contains(text, "\x1b"));
  CHECK(contains(text, "\\x1b[31mred"));
  CHECK(contains(text, "two\\nlines"));
  CHECK(contains(text, std::string(19, 'x') + "…"));
  CHECK_FALSE(contains(text, std::string(20, 'x')));
  std::vector<std::string> many;
  for (int i = 0; i < 21; ++i) many.push_back(fmt::format("\x1b[3{}m", i));
  std::vector<int64_t> mistakes(many.size() * many.size(), 1);
  CHECK_FALSE(contains(confusion_text(many, mistakes), "\x1b"));
}

TEST_CASE("classes: of many classes an example's line has the likeliest and the true one", "[unit]") {
  std::vector<std::string> names;
  for (int i = 0; i < 101; ++i) names.push_back(fmt::format("c{}", i));
  const FewRows rows(std::vector<std::vector<int64_t>>{{7}});
  const auto judge = class_judge(names, false, rows);
  judge->add(at::arange(0, 101, at::kFloat).view({1, 101}));  // c100 is the likeliest
  const Json told = parse_json(judge->evaluation({.details = true}).rows.at(0), "a row").at("probabilities");
  CHECK(told.size() == 21);
  CHECK(told.contains("c100"));
  CHECK(told.contains("c81"));
  CHECK_FALSE(told.contains("c80"));
  CHECK(told.contains("c7"));
}

TEST_CASE("classes: a model that answers in tokens is refused in words", "[unit]") {
  const FewClasses task = one_label();
  const ModelFacts facts{.vocab_size = 10, .max_length = 6, .seed = 1};
  Choice<Model> choice("encoder_decoder");
  EncoderDecoder::Config config;
  config.dim = 8;
  config.layers = 1;
  config.attention.heads = 2;
  choice.config = std::make_shared<EncoderDecoder::Config>(config);
  CHECK(contains(task.refuses(*models().build(choice, facts)).value_or(""), "use model.kind: encoder"));
  CHECK_FALSE(task.refuses(*reader_of(task)));
}

}  // namespace ordo::test
