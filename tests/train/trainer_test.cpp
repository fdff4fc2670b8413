// SPDX-License-Identifier: Apache-2.0
// The loop: evaluations, checkpoints, the best, early stopping, signals.
#include "support/catch.h"

#include <cmath>

#include "ordo/checkpoint/weights.h"
#include "ordo/core/files.h"
#include "ordo/train/evaluate.h"
#include "ordo/train/judge.h"
#include "support/thrown.h"
#include "train/sample.h"

namespace ordo::test {
namespace {
struct Recorder final : Observer {
  void stepped(const StepReport& r) override { steps.push_back(r); }
  void evaluated(const EvalReport& r) override { evaluations.push_back(r); }
  void saved(const fs::path& p) override { saves.push_back(p.filename().string()); }
  void finished(const RunReport& r) override { report = r; }
  std::vector<StepReport> steps;
  std::vector<EvalReport> evaluations;
  std::vector<std::string> saves;
  RunReport report;
};

// Evaluations with losses given beforehand.
class GradedTask final : public WrappedTask {
 public:
  GradedTask(std::shared_ptr<const Task> inner, std::vector<double> losses)
      : WrappedTask(std::move(inner)), losses_(std::move(losses)) {}
  bool has(Split split) const override { return split == Split::validation; }
  Evaluation evaluate(Model&, const StreamOptions&) const override {
    const double loss = losses_[std::min(next_++, losses_.size() - 1)];
    return {.metrics = {{"loss", loss}}, .tokens = 1, .protocol = "non_overlapping"};
  }

 private:
  std::vector<double> losses_;
  mutable size_t next_ = 0;
};

// Some of its saves fail, counted from 1.
class UnsavableTokenizer final : public Tokenizer {
 public:
  UnsavableTokenizer(const Tokenizer& inner, std::set<int> failing) : inner_(inner), failing_(std::move(failing)) {}
  std::string_view kind() const override { return inner_.kind(); }
  int64_t vocab_size() const override { return inner_.vocab_size(); }
  std::vector<int64_t> encode(std::string_view text) const override { return inner_.encode(text); }
  std::string decode(std::span<const int64_t> ids) const override { return inner_.decode(ids); }
  std::string piece(int64_t id) const override { return inner_.piece(id); }
  void save(const fs::path& folder) const override {
    require<CheckpointError>(!failing_.contains(++saves_), "no space left");
    inner_.save(folder);
  }
  uint64_t fingerprint() const override { return inner_.fingerprint(); }

 private:
  const Tokenizer& inner_;
  std::set<int> failing_;
  mutable int saves_ = 0;
};
class UnsavableTask final : public WrappedTask {
 public:
  UnsavableTask(std::shared_ptr<const Task> inner, std::set<int> failing)
      : WrappedTask(std::move(inner)), tokenizer_(*inner_->tokenizer(), std::move(failing)) {}
  const Tokenizer* tokenizer() const override { return &tokenizer_; }

 private:
  UnsavableTokenizer tokenizer_;
};

struct Ran {
  Recorder recorder;
  RunReport report;
  TrainState state;
};
Ran run_sample(const std::vector<std::string>& overrides, const fs::path& folder, std::vector<double> losses = {}) {
  const RunConfig config = sample_config(overrides);
  Ran ran;
  TrainerParts parts = losses.empty() ? sample_parts(config)
                                      : sample_parts(config, std::make_shared<GradedTask>(sample_task(config), losses));
  parts.run = folder;
  parts.observers = {&ran.recorder};
  Trainer trainer(config, parts);
  ran.report = trainer.run();
  ran.state = trainer.state();
  return ran;
}
std::vector<int64_t> evaluated_steps(const Recorder& r) {
  std::vector<int64_t> steps;
  for (const auto& e : r.evaluations) steps.push_back(e.step);
  return steps;
}
const double nan = std::nan("");
}  // namespace

TEST_CASE("run: evaluates on its horizon and at the end, saves at the end, and writes its config", "[unit]") {
  const TemporaryFolder folder("run");
  const auto ran = run_sample({"evaluate.every=2", "checkpoint.best=\"\""}, folder.path());
  CHECK(ran.report.end == RunReport::End::done);
  CHECK(ran.recorder.steps.size() == 5);
  CHECK(evaluated_steps(ran.recorder) == std::vector<int64_t>{2, 4, 5});
  CHECK(ran.recorder.saves == std::vector<std::string>{"step-00000005"});
  CHECK(pointed(folder.path(), "last") == 5);
  CHECK(load_run_config(folder.path() / "config.yaml", {}).config.train.length == 16);
  CHECK(ran.report.peak_memory > 1e6);
}

TEST_CASE("run: keeps the newest checkpoints and the best", "[unit]") {
  const TemporaryFolder folder("keep");
  const auto ran = run_sample({"evaluate.every=1", "checkpoint.every=1", "checkpoint.keep=2", "train.steps=6"},
                              folder.path(), {5.0, 3.0, 4.0, 4.0, 3.5, 3.1});
  CHECK(list_checkpoints(folder.path()) == std::vector<int64_t>{2, 5, 6});
  CHECK(pointed(folder.path(), "best") == 2);
  CHECK(ran.report.best == 3.0);
}

TEST_CASE("run: the best evaluation has a checkpoint even when none was due", "[unit]") {
  const TemporaryFolder folder("best");
  run_sample({"evaluate.every=2"}, folder.path(), {5.0, 3.0, 4.0});
  CHECK(pointed(folder.path(), "best") == 4);
  CHECK(list_checkpoints(folder.path()) == std::vector<int64_t>{2, 4, 5});
}

TEST_CASE("run: a metric that is not a number is never the best and does not freeze later comparisons", "[unit]") {
  const TemporaryFolder folder("nan");
  const auto ran = run_sample({"evaluate.every=1"}, folder.path(), {nan, 5.0, nan, 4.0, 6.0});
  CHECK(pointed(folder.path(), "best") == 4);
  CHECK(ran.report.best == 4.0);
  CHECK_FALSE(ran.recorder.evaluations[0].best);
}

TEST_CASE("early stop: ends after so many evaluations without an improvement, not counting those too small", "[unit]") {
  const TemporaryFolder folder("early");
  const auto ran = run_sample({"train.steps=20", "evaluate.every=1", "train.early_stop={patience: 3, min_delta: 0.1}"},
                              folder.path(), {5.0, 4.0, nan, 3.95, 3.5, 3.6, 3.45, 3.5, 3.0});
  CHECK(ran.report.end == RunReport::End::early_stop);
  CHECK(ran.report.step == 8);
  CHECK(ran.state.early_best == 3.5);
  CHECK(pointed(folder.path(), "last") == 8);
}

TEST_CASE(
    "run: a stop between an update and its evaluation is made up for on resume, and the checkpoint then has the "
    "verdict",
    "[unit]") {
  const TemporaryFolder folder("verdict");
  const RunConfig config = sample_config({"evaluate.every=2"});
  std::atomic<bool> stop = false;
  struct Stopper final : Observer {
    explicit Stopper(std::atomic<bool>& f) : flag(f) {}
    void stepped(const StepReport& r) override { flag = r.step == 2; }
    std::atomic<bool>& flag;
  } stopper(stop);
  TrainerParts parts =
      sample_parts(config, std::make_shared<GradedTask>(sample_task(config), std::vector<double>{3.0, 4.0, 5.0}));
  parts.run = folder.path();
  parts.observers = {&stopper};
  parts.stop = &stop;
  CHECK(Trainer(config, parts).run().end == RunReport::End::stopped_by_signal);
  CHECK_FALSE(pointed(folder.path(), "best"));
  stop = false;
  parts.model = sample_model(config, *parts.task);
  Trainer again(config, parts);
  again.restore(Checkpoint(folder.path() / checkpoint_name(2)));
  CHECK(again.run().end == RunReport::End::done);
  CHECK(pointed(folder.path(), "best") == 2);
  CHECK(parse_state(Checkpoint(folder.path() / checkpoint_name(2)).state(), "a test").evaluated == 2);
}

TEST_CASE("run: a metric of a split or a name that is not there is refused with what there is", "[unit]") {
  const auto why = [](const std::vector<std::string>& overrides) {
    const TemporaryFolder folder("misspelt");
    return thrown<ConfigError>([&] { run_sample(overrides, folder.path(), {3.0}); });
  };
  CHECK(contains(why({"checkpoint.best=test.loss"}), "checkpoint.best is a metric of test data, and there is none"));
  CHECK(contains(why({"checkpoint.best=validation.los"}), "'los' of validation data, but there are only: loss"));
  CHECK(contains(why({"evaluate.every=1", "train.early_stop={metric: +validation.accuracy}"}),
                 "train.early_stop.metric asks for the metric 'accuracy'"));
}

TEST_CASE("run: an evaluation that fails loses no training: its step is saved, and the mended run begins with it",
          "[unit]") {
  const TemporaryFolder folder("failed");
  CHECK(contains(thrown<ConfigError>([&] { run_sample({"checkpoint.best=validation.los"}, folder.path(), {3.0}); }),
                 "'los' of validation data"));
  CHECK(pointed(folder.path(), "last") == 5);
  const RunConfig mended = sample_config({});
  Recorder recorder;
  TrainerParts parts = sample_parts(mended);
  parts.run = folder.path();
  parts.observers = {&recorder};
  Trainer trainer(mended, parts);
  trainer.restore(Checkpoint(folder.path() / "step-00000005"));
  CHECK(trainer.run().end == RunReport::End::done);
  CHECK(recorder.steps.empty());
  CHECK(evaluated_steps(recorder) == std::vector<int64_t>{5});
  CHECK(pointed(folder.path(), "best") == 5);
}

TEST_CASE("run: whatever ends an evaluation, what was trained is saved, or the log says why not", "[unit]") {
  class Exhausted final : public WrappedTask {
   public:
    using WrappedTask::WrappedTask;
    Evaluation evaluate(Model&, const StreamOptions&) const override { throw std::bad_alloc(); }
  };
  const TemporaryFolder folder("exhausted");
  const RunConfig config = sample_config({});
  TrainerParts parts = sample_parts(config);
  parts.task = std::make_shared<Exhausted>(parts.task);
  parts.run = folder.path();
  Trainer trainer(config, parts);
  CHECK(contains(thrown<Error>([&] { trainer.run(); }), "memory ran out"));
  CHECK(pointed(folder.path(), "last") == 5);
}

TEST_CASE("run: a stop during an evaluation leaves it to the resume, with no line of it and no further step",
          "[unit]") {
  const TemporaryFolder folder("abandoned");
  const RunConfig config = sample_config({"evaluate.every=2"});
  class StoppingTask final : public WrappedTask {
   public:
    StoppingTask(std::shared_ptr<const Task> inner, std::atomic<bool>& flag)
        : WrappedTask(std::move(inner)), flag_(flag) {}
    Evaluation evaluate(Model& model, const StreamOptions& o) const override {
      flag_ = true;
      return inner_->evaluate(model, o);
    }

   private:
    std::atomic<bool>& flag_;
  };
  std::atomic<bool> stop = false;
  Recorder recorder;
  TrainerParts parts = sample_parts(config, std::make_shared<StoppingTask>(sample_task(config), stop));
  parts.run = folder.path();
  parts.observers = {&recorder};
  parts.stop = &stop;
  Trainer trainer(config, parts);
  CHECK(trainer.run().end == RunReport::End::stopped_by_signal);
  CHECK(trainer.state().step == 2);
  CHECK(trainer.state().evaluated == 0);
  CHECK(recorder.evaluations.empty());
  CHECK(recorder.saves == std::vector<std::string>{"step-00000002"});
}

TEST_CASE("run: the best whose save failed is written with the next save", "[unit]") {
  const TemporaryFolder folder("lost-best");
  const RunConfig config = sample_config({"evaluate.every=2"});
  const auto graded = std::make_shared<GradedTask>(sample_task(config), std::vector<double>{3.0, 4.0, 5.0});
  TrainerParts parts = sample_parts(config, std::make_shared<UnsavableTask>(graded, std::set<int>{1}));
  parts.run = folder.path();
  Trainer(config, parts).run();
  CHECK(list_checkpoints(folder.path()) == std::vector<int64_t>{2, 5});
  CHECK(pointed(folder.path(), "best") == 2);
  CHECK(pointed(folder.path(), "last") == 5);
}

TEST_CASE("metric choices: a split and a name, a plus for larger is better", "[unit]") {
  const auto accuracy = MetricChoice::parse("+test.accuracy");
  REQUIRE(accuracy);
  CHECK(accuracy->split == Split::test);
  CHECK(accuracy->better(0.5, 0.4));
  CHECK(accuracy->of(Split::test, {{"accuracy", 0.5}}) == 0.5);
  CHECK_FALSE(accuracy->of(Split::validation, {{"accuracy", 0.5}}));
  CHECK_FALSE(accuracy->of(Split::test, {{"accuracy", nan}}));
  CHECK(MetricChoice::parse("validation.loss")->better(1.0, 2.0));
  CHECK_FALSE(MetricChoice::parse("loss"));
  CHECK_FALSE(MetricChoice::parse("dev.loss"));
}

TEST_CASE("run: a save that fails is a warning and training goes on; the last one failing is an error", "[unit]") {
  const RunConfig config = sample_config({"checkpoint.every=2"});
  const auto run = [&](const fs::path& folder, std::set<int> failing) {
    TrainerParts parts = sample_parts(config, std::make_shared<UnsavableTask>(sample_task(config), std::move(failing)));
    parts.run = folder;
    return Trainer(config, parts).run();
  };
  const TemporaryFolder first("first-save"), last("last-save");
  CHECK(run(first.path(), {1}).end == RunReport::End::done);
  CHECK(list_checkpoints(first.path()) == std::vector<int64_t>{4, 5});
  CHECK(contains(thrown<CheckpointError>([&] { run(last.path(), {3}); }), "no space left"));
  CHECK(list_checkpoints(last.path()) == std::vector<int64_t>{2, 4});
  CHECK(pointed(last.path(), "last") == 4);
}

TEST_CASE("run: weights that are not finite are never saved", "[unit]") {
  const TemporaryFolder folder("finite");
  const RunConfig config = sample_config({"train.steps=1", "train.schedule=constant"});
  TrainerParts parts = sample_parts(config);
  parts.run = folder.path();
  struct Spoiler final : Observer {
    explicit Spoiler(Model& m) : model(m) {}
    void stepped(const StepReport&) override {
      const at::NoGradGuard no_grad;
      model.named_parameters()["decoder.norm.weight"].fill_(nan);
    }
    Model& model;
  } spoiler(*parts.model);
  parts.observers = {&spoiler};
  CHECK(contains(thrown<NumericError>([&] { Trainer(config, parts).run(); }), "decoder.norm.weight"));
  CHECK(list_checkpoints(folder.path()).empty());
}

TEST_CASE("evaluation: averages are used, and the weights are back afterwards", "[unit]") {
  const RunConfig config = sample_config();
  Trainer trainer(config, sample_parts(config));
  for (int i = 0; i < 5; ++i) trainer.step();
  const auto before = trainer.content();
  const auto averaged = trainer.evaluate(Split::validation);
  CHECK(same_content(trainer.content(), before));
  CHECK(trainer.model().is_training());
  const auto task = sample_task(config);
  const auto model = sample_model(config, *task);
  load_into(before.ema, weights_of(*model), "a test");
  const auto alone = evaluate_lengths(*task, *model, evaluate_options(config, Split::validation));
  CHECK(averaged.at(0).evaluation.metrics == alone.at(0).evaluation.metrics);
}

TEST_CASE("segments: what a memory cannot go on in is refused in words", "[unit]") {
  const auto refused = [](const std::vector<std::string>& overrides) {
    return thrown<ConfigError>([&] {
      std::vector<std::string> all{"model.memory=8", "task.sampling=consecutive", "train.accumulate=1"};
      all.insert(all.end(), overrides.begin(), overrides.end());
      const RunConfig config = sample_config(all);
      Trainer trainer(config, sample_parts(config));
    });
  };
  CHECK(refused({}) == "(nothing was thrown)");
  CHECK(
      contains(refused({"train.accumulate=2"}), "train.accumulate (2) takes the rows of an update one after another"));
  CHECK(contains(refused({"evaluate.stride=4"}), "evaluate.stride (4) slides windows over each other"));
  for (const std::string sampling : {"random", "packed"})
    CHECK(contains(refused({"task.sampling=" + sampling}), "the rows of this task do not"));
  CHECK(contains(refused({"model.position=learned"}), "learned does not"));
  const RunConfig config = sample_config({"model.memory=8", "train.accumulate=1"});
  TrainerParts parts = sample_parts(config);
  parts.task = std::make_shared<GradedTask>(parts.task, std::vector<double>{1.0});  // a task that knows no such rows
  CHECK(contains(thrown<ConfigError>([&] { Trainer trainer(config, parts); }), "the rows of this task do not"));
}

TEST_CASE("segments: a step that is skipped leaves nothing that is not finite behind", "[unit]") {
  const RunConfig config =
      sample_config({"model.memory=8", "task.sampling=consecutive", "train.accumulate=1", "train.on_nonfinite=skip"});
  class Spoilt final : public WrappedTask {
   public:
    using WrappedTask::WrappedTask;
    bool rows_go_on() const override { return true; }
    Loss loss(Model& model, const Batch& batch, const LossOptions& o) const override {
      Loss loss = inner_->loss(model, batch, o);
      if (batch.draw.step != 2) return loss;
      batch.memory->hidden[0].fill_(std::nan(""));
      return {loss_times_infinity(loss.sum, model), loss.weight};
    }
  };
  TrainerParts parts = sample_parts(config);
  parts.task = std::make_shared<Spoilt>(parts.task);
  Trainer trainer(config, parts);
  trainer.step();
  CHECK(trainer.step().skipped);
  CHECK_FALSE(trainer.step().skipped);
}

TEST_CASE("evaluation: a length past a learned table is refused in words and is no failure", "[unit]") {
  const RunConfig config = sample_config({"model.position=learned", "evaluate.lengths=[16, 32]"});
  Trainer trainer(config, sample_parts(config));
  const auto reports = trainer.evaluate(Split::validation);
  REQUIRE(reports.size() == 2);
  CHECK(reports[0].refused.empty());
  CHECK(reports[0].evaluation.metrics.contains("loss"));
  CHECK_FALSE(reports[1].refused.empty());
  CHECK(reports[1].evaluation.metrics.empty());
}

TEST_CASE("run: two equal runs are equal to the bit, another seed gives another run", "[unit]") {
  const auto result = [](const std::string& seed) {
    const RunConfig config = sample_config({"seed=" + seed});
    Trainer trainer(config, sample_parts(config));
    for (int i = 0; i < 3; ++i) trainer.step();
    return trainer.content();
  };
  const auto one = result("7");
  CHECK(same_content(one, result("7")));
  CHECK_FALSE(same_content(one, result("8")));
}

TEST_CASE("state: text and back, and a newer format is refused in one line", "[unit]") {
  TrainState s{.step = 7,
               .tokens = 123,
               .updates = 6,
               .skipped = 1,
               .evaluated = 5,
               .best_by = "validation.loss",
               .best = 0.1,
               .without_improvement = 2};
  s.data = R"({"epoch":1,"cursor":3})";
  s.scaler = R"({"scale":1024.0,"good_steps":3})";
  const std::string text = state_text(s);
  CHECK(state_text(parse_state(text, "a test")) == text);
  std::string newer = text;
  newer.replace(newer.find("\"format\": 1"), 11, "\"format\": 9");
  const std::string why = thrown<CheckpointError>([&] { parse_state(newer, "state.json of x"); });
  CHECK(contains(why, "state.json of x is of format 9"));
  CHECK(why.find('\n') == std::string::npos);
  CHECK_THROWS_AS(parse_state("{}", "x"), CheckpointError);
  CHECK_THROWS_AS(parse_state("not json", "x"), CheckpointError);
}

TEST_CASE("steps: a run may be given in epochs or tokens", "[unit]") {
  const auto steps = [](const std::string& value) {
    const RunConfig config = sample_config({"train.steps=" + value});
    return Trainer(config, sample_parts(config)).steps();
  };
  CHECK(steps("960 tokens") == 10);  // 2 rows of 16 tokens, 3 times
  const double batches = sample_task(sample_config())->open({.batch_size = 2, .length = 16})->batches_per_epoch();
  CHECK(steps("6 epochs") == std::llround(6 * batches / 3));
}

}  // namespace ordo::test
