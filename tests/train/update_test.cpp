// SPDX-License-Identifier: Apache-2.0
// Gradients over micro-batches, and what is done about numbers that are not finite.
#include "support/catch.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/max.h>

#include <cmath>
#include <map>

#include "ordo/train/update.h"
#include "support/thrown.h"
#include "train/sample.h"

namespace ordo::test {
namespace {
struct Gradients {
  std::map<std::string, Tensor> by_name;
  double loss = 0.0, largest = 0.0;
};

// Of the first `rows` windows in batches of `size`.
Gradients gradients_of(const RunConfig& config, int64_t batches, int64_t size, at::ScalarType type,
                       const BackwardOptions& options = {}) {
  const auto task = sample_task(config);
  const auto model = sample_model(config, *task);
  model->to(type);
  model->recompute(recompute_policies().build(config.train.recompute, {.layers = model->layers()})->blocks());
  const auto stream = task->open({.batch_size = size, .length = config.train.length, .seed = 3});
  std::vector<Batch> micro;
  for (int64_t i = 0; i < batches; ++i) {
    micro.push_back(*stream->next());
    micro.back().draw = {.seed = 1, .step = 1, .micro = i};
  }
  Gradients all;
  for (const auto& share : backward(*task, *model, micro, options)) all.loss += share.item<double>();
  for (const auto& p : parameters_of(*model)) {
    all.by_name[p.name] = p.value.grad();
    all.largest = std::max(all.largest, p.value.grad().abs().max().item<double>());
  }
  return all;
}

void same_gradients(const Gradients& a, const Gradients& b, double relative) {
  CHECK(a.loss == Approx(b.loss).epsilon(relative));
  for (const auto& [name, gradient] : a.by_name) {
    CAPTURE(name);
    CHECK(close_gradient(gradient, b.by_name.at(name), relative, 1e-3 * b.largest));
  }
}

std::vector<std::string> without_dropout() { return {"model.dropout=0", "task.data.generate.sentences=40"}; }

CheckpointContent weights_after(Trainer& trainer, int steps) {
  for (int i = 0; i < steps; ++i) trainer.step();
  return trainer.content();
}
}  // namespace

TEST_CASE("accumulate: four micro-batches give the gradients of one batch four times as large", "[unit]") {
  const RunConfig config = sample_config(without_dropout());
  same_gradients(gradients_of(config, 4, 2, at::kDouble), gradients_of(config, 1, 8, at::kDouble), 1e-10);
  same_gradients(gradients_of(config, 4, 2, at::kFloat), gradients_of(config, 1, 8, at::kFloat), 1e-5);
}

TEST_CASE("accumulate: micro-batches of unequal weight count by their targets, with smoothing and z-loss", "[unit]") {
  // 5 sentences: the second batch of the epoch is cut short.
  const RunConfig config = sample_config({"model.dropout=0"});
  const auto windows =
      static_cast<int64_t>(sample_task(config)->open({.batch_size = 1, .length = 16, .seed = 3})->batches_per_epoch());
  const BackwardOptions options{.smoothing = 0.1, .z_loss = 1e-2};
  const int64_t most = windows / 2 + 1;
  REQUIRE(windows % most != 0);
  same_gradients(gradients_of(config, 2, most, at::kDouble, options),
                 gradients_of(config, 1, windows, at::kDouble, options), 1e-10);
}

TEST_CASE("recompute: blocks that are replayed give loss and gradients of the plain run to the bit, dropout included",
          "[unit]") {
  const auto plain = gradients_of(sample_config(), 3, 2, at::kFloat);
  const auto replayed = gradients_of(sample_config({"train.recompute=blocks"}), 3, 2, at::kFloat);
  CHECK(plain.loss == replayed.loss);
  for (const auto& [name, gradient] : plain.by_name) {
    CAPTURE(name);
    CHECK(same_bytes(gradient, replayed.by_name.at(name)));
  }
}

TEST_CASE("recompute: under bf16 autocast the gradients agree within a hundredth", "[unit]") {
  const BackwardOptions bf16{.precision = Precision::bf16};
  same_gradients(gradients_of(sample_config({"train.recompute=blocks"}), 3, 2, at::kFloat, bf16),
                 gradients_of(sample_config(), 3, 2, at::kFloat, bf16), 1e-2);
}

TEST_CASE(
    "fp16: overflows at two steps halve the scale and skip update, schedule and averages together; the scale grows "
    "again",
    "[unit]") {
  const RunConfig config =
      sample_config({"train.precision=fp16", "train.scaler.initial=1024", "train.scaler.window=3", "train.steps=10"});
  Trainer trainer(config, sample_parts(config, spoilt(config, {3, 5}, loss_times_infinity)));
  std::vector<double> scales, rates;
  for (int64_t step = 1; step <= 10; ++step) {
    const auto before = trainer.content();
    const StepReport report = trainer.step();
    scales.push_back(report.loss_scale);
    rates.push_back(report.lr);
    const bool planted = step == 3 || step == 5;
    CHECK(report.skipped == planted);
    if (!planted) continue;
    const auto now = trainer.content();
    CHECK(same_content({now.model, now.optimizer, now.ema, "", "", {}},
                       {before.model, before.optimizer, before.ema, "", "", {}}));
  }
  CHECK(scales == std::vector<double>{1024, 1024, 1024, 512, 512, 256, 256, 256, 512, 512});
  CHECK(trainer.state().updates == 8);
  CHECK(trainer.state().skipped == 2);
  const RunConfig plain = sample_config({"train.steps=10"});
  Trainer unspoilt(plain, sample_parts(plain));
  std::vector<double> expected;
  for (int i = 0; i < 8; ++i) expected.push_back(unspoilt.step().lr);
  rates.erase(rates.begin() + 4);  // the skipped updates' rates are used again by the next
  rates.erase(rates.begin() + 2);
  CHECK(rates == expected);
}

TEST_CASE("fp16: the norm is that of the unscaled gradients, and clipping follows unscaling", "[unit]") {
  const auto report = [](const std::string& scale) {
    const RunConfig config =
        sample_config({"train.precision=fp16", "train.scaler.initial=" + scale, "model.dropout=0"});
    Trainer trainer(config, sample_parts(config));
    return trainer.step();
  };
  CHECK(report("1").grad_norm == Approx(report("256").grad_norm).epsilon(1e-2));
}

TEST_CASE("averages: each update moves them towards the weights by one minus the decay", "[unit]") {
  const RunConfig config = sample_config();  // decay 0.9
  Trainer trainer(config, sample_parts(config));
  NamedTensors expected = trainer.content().model;
  for (int i = 0; i < 3; ++i) {
    trainer.step();
    const auto weights = trainer.content().model;
    for (size_t p = 0; p < expected.size(); ++p)
      expected[p].second = 0.9 * expected[p].second + 0.1 * weights[p].second;
  }
  const auto averages = trainer.content().ema;
  REQUIRE(averages.size() == expected.size());
  for (size_t p = 0; p < averages.size(); ++p) CHECK(close(averages[p].second, expected[p].second, Tolerance::fp32));
}

TEST_CASE("dropout: every micro-batch of every step has a key of its own", "[unit]") {
  class Listening final : public WrappedTask {
   public:
    using WrappedTask::WrappedTask;
    Loss loss(Model& model, const Batch& batch, const LossOptions& o) const override {
      heard.emplace_back(batch.draw.step, batch.draw.micro);
      return inner_->loss(model, batch, o);
    }
    mutable std::vector<std::pair<int64_t, int64_t>> heard;
  };
  const RunConfig config = sample_config({"train.accumulate=2"});
  const auto task = std::make_shared<Listening>(sample_task(config));
  Trainer trainer(config, sample_parts(config, task));
  weights_after(trainer, 2);
  CHECK(task->heard == std::vector<std::pair<int64_t, int64_t>>{{1, 0}, {1, 1}, {2, 0}, {2, 1}});
}

TEST_CASE("clip: the update is that of gradients scaled to the clip's norm", "[unit]") {
  const auto moved = [](const std::string& clip, const std::string& lr) {
    const RunConfig config = sample_config({"train.optimizer={kind: sgd, momentum: 0, lr: " + lr + "}",
                                            "train.schedule=constant", "train.clip=" + clip, "model.dropout=0"});
    Trainer trainer(config, sample_parts(config));
    const auto before = trainer.content();
    const double norm = trainer.step().grad_norm;
    const auto now = trainer.content();
    double sum = 0.0;
    for (size_t i = 0; i < now.model.size(); ++i)
      sum += (now.model[i].second - before.model[i].second).pow(2).sum().item<double>();
    return std::pair(std::sqrt(sum), norm);
  };
  const auto [free, norm] = moved("0", "1.0");
  CHECK(free == Approx(norm).epsilon(1e-4));
  const auto [clipped, same_norm] = moved("0.125", "1.0");
  CHECK(same_norm == Approx(norm).epsilon(1e-6));
  CHECK(clipped == Approx(0.125).epsilon(1e-4));
}

TEST_CASE("non-finite: a loss stops the run and names the step, the micro-batch and its examples", "[unit]") {
  const RunConfig config = sample_config();
  Trainer trainer(config, sample_parts(config, spoilt(config, {2}, loss_times_infinity)));
  trainer.step();
  const auto before = trainer.content();
  const std::string why = thrown<NumericError>([&] { trainer.step(); });
  CHECK(contains(why, "step 2: the loss of micro-batch 1 of 3 is inf"));
  CHECK(contains(why, "train.on_nonfinite: stop"));
  const auto now = trainer.content();
  CHECK(same_content({now.model, now.optimizer, now.ema, "", "", {}},
                     {before.model, before.optimizer, before.ema, "", "", {}}));
}

TEST_CASE("non-finite: a gradient is named by its parameter", "[unit]") {
  const RunConfig config = sample_config();
  const std::string name = "decoder.blocks.1.attention.q.weight";
  Trainer trainer(config, sample_parts(config, spoilt(config, {1}, gradient_of(name))));
  CHECK(contains(thrown<NumericError>([&] { trainer.step(); }), "the gradient of " + name + " is not finite"));
}

TEST_CASE("non-finite: weights that were bad before are named as such, and are no overflow of fp16", "[unit]") {
  const std::string precision = GENERATE("fp32", "fp16");
  const RunConfig config = sample_config({"train.precision=" + precision});
  TrainerParts parts = sample_parts(config);
  const at::NoGradGuard no_grad;
  parts.model->named_parameters()["decoder.norm.weight"].fill_(std::nan(""));
  const at::AutoGradMode with_grad(true);
  Trainer trainer(config, parts);
  CHECK(contains(thrown<NumericError>([&] { trainer.step(); }),
                 "the weights decoder.norm.weight were not finite before this step"));
}

TEST_CASE("non-finite: a bad second moment is seen in the step in which it spoils the weights", "[unit]") {
  const RunConfig config = sample_config();
  Trainer trainer(config, sample_parts(config));
  trainer.step();
  CheckpointContent content = trainer.content();
  for (auto& [name, tensor] : content.optimizer)
    if (name == "embedding.weight.exp_avg_sq") tensor.fill_(std::nan(""));
  trainer.restore(content);
  CHECK(contains(thrown<NumericError>([&] { trainer.step(); }), "the update made embedding.weight not finite"));
}

TEST_CASE("non-finite: skip leaves everything as it was, counts, and goes on with the next data", "[unit]") {
  const RunConfig config = sample_config({"train.on_nonfinite=skip"});
  Trainer trainer(config, sample_parts(config, spoilt(config, {2, 4}, gradient_of("embedding.weight"))));
  trainer.step();
  const auto before = trainer.content();
  const StepReport report = trainer.step();
  CHECK(report.skipped);
  const auto now = trainer.content();
  CHECK(same_content({now.model, now.optimizer, now.ema, "", "", {}},
                     {before.model, before.optimizer, before.ema, "", "", {}}));
  weights_after(trainer, 3);
  CHECK(trainer.state().step == 5);
  CHECK(trainer.state().updates == 3);
  CHECK(trainer.state().skipped == 2);
}

TEST_CASE("non-finite: skipping without an end stops with a word", "[unit]") {
  const RunConfig config = sample_config({"train.on_nonfinite=skip", "train.steps=100"});
  std::set<int64_t> all;
  for (int64_t s = 1; s <= 100; ++s) all.insert(s);
  Trainer trainer(config, sample_parts(config, spoilt(config, all, loss_times_infinity)));
  CHECK(contains(thrown<NumericError>([&] { weights_after(trainer, 100); }), "in a row"));
  CHECK(trainer.state().step < 50);
}

TEST_CASE("non-finite: rollback takes weights, moments, averages and schedule back and goes on past the batch",
          "[unit]") {
  const RunConfig config = sample_config({"train.on_nonfinite=rollback", "checkpoint.every=2"});
  Trainer trainer(config, sample_parts(config, spoilt(config, {3}, loss_times_infinity)));
  const auto start = trainer.content();
  weights_after(trainer, 3);  // step() alone makes no checkpoints: back to the start
  const auto now = trainer.content();
  CHECK(same_content({now.model, now.optimizer, now.ema, "", "", {}},
                     {start.model, start.optimizer, start.ema, "", "", {}}));
  CHECK(trainer.state().step == 3);
  CHECK(trainer.state().updates == 0);
  CHECK(trainer.step().lr == Approx(0.5e-2));  // the first update's again
}

TEST_CASE("non-finite: rollback in a run goes back to its last checkpoint, and the weights saved are finite",
          "[unit]") {
  const TemporaryFolder folder("rollback");
  const RunConfig config = sample_config({"train.on_nonfinite=rollback", "checkpoint.every=2", "train.steps=6"});
  TrainerParts parts = sample_parts(config, spoilt(config, {5}, loss_times_infinity));
  parts.run = folder.path();
  Trainer trainer(config, parts);
  trainer.run();
  CHECK(trainer.state().updates == 5);  // 4 of the checkpoint, and the sixth step's
  CHECK_FALSE(first_nonfinite(Checkpoint(folder.path() / checkpoint_name(6)).model()).has_value());
}

TEST_CASE("memory that ran out becomes a device error with the amount, the consumers and the keys to change",
          "[unit]") {
  const RunConfig config = sample_config();
  const auto greedy = [](const Tensor& loss, Model&) { return loss + at::empty({int64_t{1} << 46}).sum(); };
  Trainer trainer(config, sample_parts(config, spoilt(config, {1}, greedy)));
  const std::string why = thrown<DeviceError>([&] { trainer.step(); });
  CHECK(contains(why, "281474976710656 bytes were asked for"));
  CHECK(contains(why, "train.batch_size"));
  CHECK(contains(why, "train.recompute: blocks"));
}

TEST_CASE("an update whose targets are all ignored has a loss of zero and stays finite", "[unit]") {
  const RunConfig config = sample_config({"model.dropout=0"});
  const auto task = sample_task(config);
  const auto model = sample_model(config, *task);
  Batch batch = *task->open({.batch_size = 2, .length = 16, .seed = 3})->next();
  batch.targets = at::full_like(batch.targets, kIgnore);
  batch.weight = 0.0;
  const auto losses = backward(*task, *model, {batch}, {});
  CHECK(losses[0].item<double>() == 0.0);
  for (const auto& p : parameters_of(*model))
    if (p.value.grad().defined()) CHECK(p.value.grad().abs().max().item<double>() == 0.0);
}

}  // namespace ordo::test
