// SPDX-License-Identifier: Apache-2.0
// A run that was stopped and went on equals one that was not, to the bit.
#include "support/catch.h"

#include <ATen/Parallel.h>

#include "ordo/train/jsonl.h"
#include "support/thrown.h"
#include "train/sample.h"

namespace ordo::test {
namespace {
class ThreadsScope {
 public:
  explicit ThreadsScope(int threads) : before_(at::get_num_threads()) { at::set_num_threads(threads); }
  ~ThreadsScope() { at::set_num_threads(before_); }
  ThreadsScope(const ThreadsScope&) = delete;
  ThreadsScope& operator=(const ThreadsScope&) = delete;

 private:
  int before_;
};

CheckpointContent after(const RunConfig& config, int64_t steps, const std::shared_ptr<const Task>& task = nullptr) {
  Trainer trainer(config, sample_parts(config, task));
  for (int64_t i = 0; i < steps; ++i) trainer.step();
  return trainer.content();
}

CheckpointContent resumed(const RunConfig& config, const CheckpointContent& from, int64_t steps,
                          const std::shared_ptr<const Task>& task = nullptr) {
  Trainer trainer(config, sample_parts(config, task));
  trainer.restore(from);
  for (int64_t i = 0; i < steps; ++i) trainer.step();
  return trainer.content();
}

void every_stop_is_harmless(const RunConfig& config, int64_t steps, const std::shared_ptr<const Task>& task = nullptr) {
  const auto whole = after(config, steps, task);
  for (int64_t k = 0; k < steps; ++k) {
    CAPTURE(k);
    CHECK(same_content(resumed(config, after(config, k, task), steps - k, task), whole));
  }
}

// Lines of metrics.jsonl up to the fields that hold times.
std::string metrics_without_times(const fs::path& run) {
  const std::string text = read_file(run / kMetricsFile);
  std::string kept;
  for (size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string line = text.substr(begin, end - begin);
    kept += line.substr(0, line.find(",\"tokens_per_second\"")) + "\n";
  }
  return kept;
}
}  // namespace

TEST_CASE("resume: a five-step run of two epochs stopped anywhere ends with the same bytes", "[unit]") {
  const int threads = GENERATE(1, 2);
  const ThreadsScope scope(threads);
  CAPTURE(threads);
  const RunConfig config = sample_config();
  REQUIRE(after(config, 5).state.find("\"epoch\": 1") != std::string::npos);  // the second
  every_stop_is_harmless(config, 5);
}

TEST_CASE("resume: a twelve-step run stopped anywhere ends with the same bytes", "[unit]") {
  const int threads = GENERATE(1, 2);
  const ThreadsScope scope(threads);
  CAPTURE(threads);
  every_stop_is_harmless(sample_config({"train.steps=12"}), 12);
}

TEST_CASE("resume: every optimiser goes on to the bit", "[unit]") {
  for (const auto& info : optimizers().kinds()) {
    CAPTURE(info.kind);
    const RunConfig config =
        sample_config({"train.optimizer.kind=" + std::string(info.kind), "train.optimizer.lr=1e-3"});
    CHECK(same_content(resumed(config, after(config, 2), 3), after(config, 5)));
  }
}

TEST_CASE("resume: every schedule, precision and recompute policy goes on to the bit", "[unit]") {
  for (const std::string change :
       {"train.schedule=constant", "train.schedule=linear", "train.schedule=inverse_sqrt", "train.schedule=wsd",
        "train.precision=bf16", "train.precision=fp16", "train.recompute=blocks"}) {
    CAPTURE(change);
    const RunConfig config = sample_config({change});
    CHECK(same_content(resumed(config, after(config, 2), 3), after(config, 5)));
  }
}

TEST_CASE("resume: rows that go on remember what stood before them, to the bit", "[unit]") {
  const RunConfig config = sample_config({"task.sampling=consecutive", "model.memory=24", "train.accumulate=1",
                                          "model.position=transformer_xl", "train.steps=12"});
  const auto middle = after(config, 2);
  REQUIRE(middle.memory.size() == 2);
  CHECK(middle.memory[0].second.sizes() == at::IntArrayRef({2, 24, 16}));
  every_stop_is_harmless(config, 12);
  const TemporaryFolder folder("memory");
  Trainer trainer(config, sample_parts(config));
  trainer.restore(Checkpoint(write_checkpoint(folder.path(), 2, middle)));
  for (int64_t i = 2; i < 12; ++i) trainer.step();
  CHECK(same_content(trainer.content(), after(config, 12)));
  CheckpointContent other = middle;
  other.memory[1].second = other.memory[1].second.slice(0, 0, 1);
  CHECK(contains(thrown<CheckpointError>([&] { resumed(config, other, 1); }), "does not fit 2 blocks"));
}

TEST_CASE("resume: through a run folder on disk, with metrics, best and evaluations", "[unit]") {
  const TemporaryFolder folders("resume");
  const RunConfig config = sample_config({"evaluate.every=2", "checkpoint.every=3"});
  const auto run = [&](const fs::path& folder, int64_t stop_at) {
    fs::create_directories(folder);
    std::atomic<bool> stop = false;
    struct Stopper final : Observer {
      Stopper(std::atomic<bool>& flag, int64_t at) : flag_(flag), at_(at) {}
      void stepped(const StepReport& r) override {
        if (r.step == at_) flag_ = true;
      }
      std::atomic<bool>& flag_;
      int64_t at_;
    } stopper(stop, stop_at);
    JsonLines lines(folder);
    TrainerParts parts = sample_parts(config);
    parts.run = folder;
    parts.observers = {&lines, &stopper};
    parts.stop = &stop;
    Trainer trainer(config, std::move(parts));
    if (const auto checkpoint = newest_valid(folder)) trainer.restore(*checkpoint);
    return trainer.run();
  };
  const fs::path straight = folders.path() / "straight";
  CHECK(run(straight, -1).end == RunReport::End::done);
  for (const int64_t k : {1, 2, 3, 4}) {
    CAPTURE(k);
    const fs::path cut = folders.path() / std::to_string(k);
    CHECK(run(cut, k).end == RunReport::End::stopped_by_signal);
    CHECK(run(cut, -1).end == RunReport::End::done);
    const Checkpoint a(straight / checkpoint_name(5)), b(cut / checkpoint_name(5));
    CHECK(same_content({a.model(), a.optimizer(), a.ema(), a.state(), "", {}},
                       {b.model(), b.optimizer(), b.ema(), b.state(), "", {}}));
    CHECK(metrics_without_times(cut) == metrics_without_times(straight));
    CHECK(pointed(cut, "best") == pointed(straight, "best"));
  }
}

TEST_CASE("resume: fp16 with overflows planted goes on to the bit between them", "[unit]") {
  const RunConfig config = sample_config({"train.precision=fp16", "train.scaler.window=2", "train.steps=8"});
  every_stop_is_harmless(config, 8, spoilt(config, {3, 5}, loss_times_infinity));
}

TEST_CASE("resume: a finished run makes no further step", "[unit]") {
  const TemporaryFolder folder("finished");
  const RunConfig config = sample_config();
  TrainerParts parts = sample_parts(config);
  parts.run = folder.path();
  const RunReport first = Trainer(config, parts).run();
  struct Counter final : Observer {
    void stepped(const StepReport&) override { ++steps; }
    void saved(const fs::path&) override { ++saves; }
    int steps = 0, saves = 0;
  } counter;
  parts = sample_parts(config);
  parts.run = folder.path();
  parts.observers = {&counter};
  Trainer again(config, parts);
  again.restore(Checkpoint(first.last_checkpoint));
  const RunReport second = again.run();
  CHECK(second.end == RunReport::End::done);
  CHECK(second.step == 5);
  CHECK(counter.steps == 0);
  CHECK(counter.saves == 0);
}

TEST_CASE("resume: train.steps can be raised, but not lowered below the step", "[unit]") {
  const auto five = after(sample_config(), 5);
  const RunConfig longer = sample_config({"train.steps=7"});
  Trainer trainer(longer, sample_parts(longer));
  trainer.restore(five);
  CHECK(trainer.run().step == 7);
  const RunConfig shorter = sample_config({"train.steps=4"});
  Trainer refused(shorter, sample_parts(shorter));
  CHECK(contains(thrown<ConfigError>([&] { refused.restore(five); }), "train.steps (4)"));
}

TEST_CASE("resume: other data is refused without force, another tokenizer always", "[unit]") {
  const auto two = after(sample_config(), 2);
  const RunConfig other = sample_config({"task.data.generate.sentences=6"});
  TrainerParts parts = sample_parts(other);
  CHECK(contains(thrown<CheckpointError>([&] { Trainer(other, parts).restore(two); }), "--force"));
  parts.force = true;
  CHECK_NOTHROW(Trainer(other, parts).restore(two));
  const RunConfig characters = sample_config({"task.tokenizer=char"});
  TrainerParts others = sample_parts(characters);
  others.force = true;
  CHECK(contains(thrown<CheckpointError>([&] { Trainer(characters, others).restore(two); }), "another tokenizer"));
}

TEST_CASE("resume: what was best by another metric does not count, and a state that names none is of the same",
          "[unit]") {
  CheckpointContent two = after(sample_config(), 2);
  TrainState saved = parse_state(two.state, "a test");
  saved.best = saved.early_best = 0.5;
  saved.without_improvement = 3;
  saved.early_by = "validation.loss";
  const auto resumed_state = [&](const std::vector<std::string>& overrides) {
    two.state = state_text(saved);
    const RunConfig config = sample_config(overrides);
    Trainer trainer(config, sample_parts(config));
    trainer.restore(two);
    return trainer.state();
  };
  const std::vector<std::string> same{"evaluate.every=1", "train.early_stop={patience: 9}"};
  CHECK(resumed_state(same).best == 0.5);
  CHECK(resumed_state(same).without_improvement == 3);
  const TrainState other = resumed_state(
      {"checkpoint.best=+validation.accuracy", "evaluate.every=1", "train.early_stop={metric: validation.perplexity}"});
  CHECK_FALSE(other.best);
  CHECK_FALSE(other.early_best);
  CHECK(other.without_improvement == 0);
  saved.best_by = saved.early_by = "";
  CHECK(resumed_state(same).early_best == 0.5);
}

TEST_CASE("resume: averages that were not kept start from the checkpoint's weights", "[unit]") {
  const auto two = after(sample_config({"train.ema=0"}), 2);
  REQUIRE(two.ema.empty());
  const RunConfig config = sample_config();
  Trainer trainer(config, sample_parts(config));
  trainer.restore(two);
  const auto now = trainer.content();
  for (const auto& [name, average] : now.ema)
    for (const auto& [other, weight] : now.model)
      if (name == other) CHECK(same_bytes(average, weight));
  CHECK(now.ema.size() == two.model.size());
}

}  // namespace ordo::test
