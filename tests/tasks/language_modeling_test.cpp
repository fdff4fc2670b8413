// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/data_report.h"
#include "ordo/tasks/language_modeling.h"

#include <ATen/ops/one_hot.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "ordo/config/config.h"
#include "support/program.h"
#include "support/thrown.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

// A model that knows the last token only: its loss of a target does not depend on windows, so that sums can be checked
// by hand.
class Bigram final : public Model {
 public:
  explicit Bigram(int64_t vocab_size, const std::string& position = "none") : vocab_size_(vocab_size) {
    head_ = register_module("head", std::make_shared<Head>(vocab_size, vocab_size, std::nullopt));
    const c10::NoGradGuard no_gradients;
    draw_normal(head_->weight(), 1.0, 5);
    position_ =
        positions().build(position, {.dim = 4, .heads = 1, .kv_heads = 1, .head_dim = 4, .layers = 1, .max_length = 4});
    eval();
  }
  Tensor forward(const ModelInput& in, Cache*) override { return at::one_hot(in.ids, vocab_size_).to(at::kFloat); }
  Head& head() override { return *head_; }
  std::shared_ptr<Cache> make_cache() const override { return nullptr; }
  int64_t max_length() const override { return 4; }
  bool causal() const override { return true; }
  PositionEncoding& position() override { return *position_; }
  ModelCost cost(int64_t) const override { return {}; }
  void recompute(const std::vector<bool>&) override {}
  int64_t layers() const override { return 1; }
  int64_t dim() const override { return vocab_size_; }

  // Nats of each target of a text, and whether it was the likeliest.
  std::vector<std::pair<double, bool>> judge(const std::vector<int64_t>& ids) {
    const Tensor table = head_->weight().detach().to(at::kDouble).t().log_softmax(1).contiguous();
    std::vector<std::pair<double, bool>> judged;
    for (size_t i = 1; i < ids.size(); ++i)
      judged.emplace_back(-table[ids[i - 1]][ids[i]].item<double>(),
                          table[ids[i - 1]].argmax().item<int64_t>() == ids[i]);
    return judged;
  }

 private:
  int64_t vocab_size_;
  std::shared_ptr<Head> head_;
  std::shared_ptr<PositionEncoding> position_;
};

struct TaskFile {
  Choice<Task> task;
};
void fields(Fields& f, TaskFile& c) { f("task", c.task, "task"); }
struct ModelFile {
  Choice<Model> model;
};
void fields(Fields& f, ModelFile& c) { f("model", c.model, "model"); }

// A task whose settings are written as in a config file, after `kind`.
std::shared_ptr<Task> task_of(const std::string& settings, const TaskFacts& facts = {}) {
  TaskFile file;
  load_config_text("task: {kind: language_modeling, " + settings + "}", walk_of(file), {});
  return tasks().build(file.task, facts);
}

std::string data_of(const fs::path& train, const std::string& more = "") {
  return "data: {train: " + train.string() + more + "}";
}

struct Totals {
  double nats = 0.0, right = 0.0;
};
Totals total(const std::vector<std::pair<double, bool>>& judged) {
  Totals sum;
  for (const auto& [nats, right] : judged) {
    sum.nats += nats;
    sum.right += right ? 1.0 : 0.0;
  }
  return sum;
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

const std::string kText = "the cat chased the dog, and the dog ran away from the cat: näher, 世界 🎈.\n";

}  // namespace

TEST_CASE(
    "language modeling: an evaluation is the mean over all targets of the split, for every window, stride and batch",
    "[unit]") {
  const Scratch scratch;
  const auto task = task_of("tokenizer: byte, " + data_of(scratch.write("a.txt", kText + kText)));
  Bigram model(256);
  const auto judged = model.judge(task->tokenizer()->encode(kText + kText));
  const auto [nats, right] = total(judged);
  const auto count = static_cast<double>(judged.size());
  for (const int64_t length : {1, 5, 16, 64, 500})
    for (const int64_t stride : {int64_t{0}, int64_t{1}, (length + 1) / 2, length})
      for (const int64_t batch_size : {1, 7, 64}) {
        CAPTURE(length, stride, batch_size);
        const auto found = task->evaluate(
            model, {.split = Split::train, .batch_size = batch_size, .length = length, .stride = stride});
        CHECK(found.tokens == count);
        CHECK(near(found.metrics.at("loss"), nats / count));
        CHECK(near(found.metrics.at("perplexity"), std::exp(nats / count)));
        CHECK(near(found.metrics.at("accuracy"), right / count));
        CHECK(found.protocol == (stride > 0 && stride < length ? "sliding" : "non_overlapping"));
      }
}

TEST_CASE("language modeling: bits are per character and per byte of the text, whatever a token is", "[unit]") {
  const Scratch scratch;
  const auto file = scratch.write("a.txt", "a" + kText);
  const auto characters =
      static_cast<double>(kText.size()) - 1 - 2 * 2 - 3;  // ä is two bytes, 世 and 界 three each, 🎈 four
  for (const std::string kind : {"byte", "char"}) {
    CAPTURE(kind);
    const auto task = task_of("tokenizer: " + kind + ", " + data_of(file));
    Bigram model(task->complete({}).vocab_size);
    const double bits = total(model.judge(task->tokenizer()->encode("a" + kText))).nats / std::numbers::ln2;
    const auto metrics = task->evaluate(model, {.split = Split::train, .batch_size = 3, .length = 10}).metrics;
    CHECK(near(metrics.at("bits_per_character"), bits / characters));
    CHECK(near(metrics.at("bits_per_byte"), bits / static_cast<double>(kText.size())));
  }
}

TEST_CASE("language modeling: with details each window is told with its sums, and the metrics stay to the last bit",
          "[unit]") {
  const Scratch scratch;
  const auto task = task_of("tokenizer: byte, " + data_of(scratch.write("a.txt", kText + kText)));
  Bigram model(256);
  const auto judged = model.judge(task->tokenizer()->encode(kText + kText));
  for (const int64_t stride : {0, 2})
    for (const int64_t batch_size : {1, 7, 64}) {
      CAPTURE(stride, batch_size);
      StreamOptions options{.split = Split::train, .batch_size = batch_size, .length = 5, .stride = stride};
      const auto plain = task->evaluate(model, options);
      options.details = true;
      const auto found = task->evaluate(model, options);
      CHECK(found.metrics == plain.metrics);
      CHECK(plain.rows.empty());
      CHECK(plain.intervals.empty());
      for (const char* name : {"loss", "perplexity", "bits_per_character", "bits_per_byte"})
        CHECK(found.intervals.at(name).contains(found.metrics.at(name)));
      size_t target = 0;
      for (size_t i = 0; i < found.rows.size(); ++i) {
        const Json row = parse_json(found.rows[i], "a row");
        CHECK(row["example"] == i);
        CHECK(row["from"] == fmt::format("a.txt, offset {}", target));
        const auto tokens = row["tokens"].get<size_t>();
        const auto part = total({judged.begin() + static_cast<std::ptrdiff_t>(target),
                                 judged.begin() + static_cast<std::ptrdiff_t>(target + tokens)});
        CHECK(near(row["loss"].get<double>(), part.nats / static_cast<double>(tokens)));
        CHECK(row["accuracy"].get<double>() == Approx(part.right / static_cast<double>(tokens)));
        CHECK(row.contains("bits_per_character"));
        target += tokens;
      }
      CHECK(target == judged.size());
      CHECK(contains(found.notes.at(0), "neighbours at a time are drawn together"));
    }
}

TEST_CASE("language modeling: token files without a tokenizer have no bits per character", "[unit]") {
  const Scratch scratch;
  const auto task =
      task_of("vocab_size: 9, " + data_of(scratch.write("a.bin", std::string("\1\0\2\0\3\0\4\0\5\0\6\0", 12))));
  Bigram model(9);
  CHECK(task->tokenizer() == nullptr);
  const auto found = task->evaluate(model, {.split = Split::train, .batch_size = 1, .length = 4});
  CHECK(found.tokens == 5.0);
  CHECK(found.metrics.size() == 3);
}

TEST_CASE("language modeling: the loss of a batch is the sum over its targets, and its weight their number", "[unit]") {
  const Scratch scratch;
  const auto task = task_of("tokenizer: byte, " + data_of(scratch.write("a.txt", kText)));
  Bigram model(256);
  const auto count = static_cast<int64_t>(kText.size()) - 1;
  const auto stream = task->open({.split = Split::train, .batch_size = 1, .length = count, .training = true});
  const Loss loss = task->loss(model, *stream->next(), {});
  CHECK(loss.weight == static_cast<double>(count));
  CHECK(near(loss.sum.item<double>(), total(model.judge(task->tokenizer()->encode(kText))).nats));
  CHECK(near(
      task->loss(model, *task->open({.batch_size = 1, .length = count})->next(), {.scale = 0.5}).sum.item<double>(),
      0.5 * loss.sum.item<double>()));
}

TEST_CASE("language modeling: packed documents have the loss of each alone", "[unit]") {
  const Scratch scratch;
  const std::vector<std::string> documents{"one two\n\n", "three\n\n", "f\n\n", "five six seven eight\n"};
  std::string all;
  for (const auto& document : documents) all += document;
  const auto task = task_of("tokenizer: byte, " + data_of(scratch.write("a.txt", all), ", documents: blank_line"));
  ModelFile file;
  load_config_text(
      "model: {kind: decoder, dim: 16, layers: 2, attention: {heads: 2}, init: {std: 0.3}, position: rope}",
      walk_of(file), {});
  const auto model = models().build(file.model, {.vocab_size = 256, .max_length = 64, .seed = 1});
  model->eval();
  const auto together = task->evaluate(*model, {.split = Split::train, .batch_size = 1, .length = 64});
  double nats = 0.0, tokens = 0.0;
  for (const auto& document : documents) {
    const auto alone = task_of("tokenizer: byte, " + data_of(scratch.write("one.txt", document)));
    const auto found = alone->evaluate(*model, {.split = Split::train, .batch_size = 1, .length = 64});
    nats += found.metrics.at("loss") * found.tokens;
    tokens += found.tokens;
  }
  CHECK(together.tokens == tokens);
  CHECK(std::abs(together.metrics.at("loss") - nats / tokens) < 1e-5);
}

TEST_CASE("language modeling: with a memory each document is read from its start, whatever the batch", "[unit]") {
  const Scratch scratch;
  const auto task =
      task_of("tokenizer: byte, sampling: consecutive, " +
              data_of(scratch.write("a.txt", kText), ", validation: [" + scratch.write("b.txt", kText).string() + ", " +
                                                         scratch.write("c.txt", kText).string() + "]"));
  ModelFile file;
  load_config_text(
      "model: {kind: decoder, dim: 16, layers: 1, attention: {heads: 2}, init: {std: 0.3}, position: transformer_xl, "
      "memory: 128}",
      walk_of(file), {});
  const auto model = models().build(file.model, {.vocab_size = 256, .max_length = 8, .seed = 1});
  model->eval();
  // To one layer, a memory of everything is the whole text.
  const double whole =
      task->evaluate(*model, {.split = Split::validation, .batch_size = 1, .length = 500}).metrics.at("loss");
  for (const int64_t batch_size : {1, 7, 64}) {
    const auto found = task->evaluate(*model, {.split = Split::validation, .batch_size = batch_size, .length = 8});
    CHECK(found.tokens == 2.0 * static_cast<double>(kText.size() - 1));
    CHECK(near(found.metrics.at("loss"), whole));
    CHECK(found.protocol == "non_overlapping");
  }
  CHECK(contains(thrown<ConfigError>([&] {
                   task->evaluate(*model, {.split = Split::validation, .batch_size = 1, .length = 8, .stride = 4});
                 }),
                 "evaluate.stride (4)"));
  CHECK_FALSE(task->refuses(*model));
  const auto several = task_of("tokenizer: byte, sampling: consecutive, " +
                               data_of(scratch.write("d.txt", "one\n\ntwo\n"), ", documents: blank_line"));
  CHECK(contains(several->refuses(*model).value_or(""), "the training data are 2 documents"));
}

TEST_CASE("language modeling: the model's vocabulary is the tokenizer's, or a larger one that was asked for",
          "[unit]") {
  const Scratch scratch;
  const auto file = scratch.write("a.txt", "abcab");
  CHECK(task_of("tokenizer: char, " + data_of(file))->complete({.max_length = 7}).vocab_size == 3);
  CHECK(task_of("tokenizer: char, " + data_of(file))->complete({.max_length = 7}).max_length == 7);
  CHECK(task_of("tokenizer: char, vocab_size: 64, " + data_of(file))->complete({}).vocab_size == 64);
  const auto small = task_of("tokenizer: char, vocab_size: 2, " + data_of(file));
  CHECK(contains(thrown<ConfigError>([&] { small->complete({}); }),
                 "task.vocab_size (2) is smaller than the vocabulary of the char tokenizer (3)"));
  CHECK(contains(thrown<DataError>([&] {
                   const auto task =
                       task_of("vocab_size: 2, " + data_of(scratch.write("a.bin", std::string("\2\0", 2))));
                   task->open({.batch_size = 1, .length = 1});
                 }),
                 "token 0 has id 2, the vocabulary has 2"));
}

TEST_CASE("language modeling: settings that contradict or lack something are config errors that name the keys",
          "[unit]") {
  struct Case {
    std::string settings, part;
  };
  const std::vector<Case> cases{
      {"tokenizer: byte, data: {}", "task.data.train is missing"},
      {"data: {train: a.txt}", "task.tokenizer is missing"},
      {"data: {train: a.bin}", "task.vocab_size is missing"},
      {"data: {generate: chase}", "task.tokenizer is missing"},
      {"tokenizer: byte, data: {train: a, validation: b, validation_fraction: 0.1}",
       "task.data.validation and task.data.validation_fraction"},
      {"tokenizer: byte, data: {train: a, generate: chase}", "task.data.generate and task.data.train"}};
  for (const auto& [settings, part] : cases) {
    CAPTURE(settings);
    CHECK(contains(thrown<ConfigError>([&, text = settings] { task_of(text); }), part));
  }
}

TEST_CASE("language modeling: a run's saved tokenizer serves without any data", "[unit]") {
  const Scratch scratch;
  const auto made = task_of("tokenizer: char, " + data_of(scratch.write("a.txt", "hello")));
  made->tokenizer()->save(scratch / "tokenizer");
  const auto opened =
      task_of("tokenizer: char, " + data_of(scratch / "absent.txt"), {.saved_tokenizer = scratch / "tokenizer"});
  CHECK(opened->tokenizer()->fingerprint() == made->tokenizer()->fingerprint());
  CHECK(opened->complete({}).vocab_size == 4);
  CHECK(contains(thrown<DataError>([&] { opened->open({.batch_size = 1, .length = 1}); }), "absent.txt"));
}

TEST_CASE("language modeling: a task is made without touching its data", "[unit]") {
  const auto task =
      task_of("tokenizer: byte, data: {train: /absent/a.txt, test: /absent/t.txt, validation_fraction: 0.2}");
  CHECK(task->has(Split::train));
  CHECK(task->has(Split::validation));
  CHECK(task->has(Split::test));
  CHECK(task->complete({}).vocab_size == 256);
}

TEST_CASE("language modeling: other training data has another fingerprint, other validation data has not", "[unit]") {
  const Scratch scratch;
  const auto fingerprint = [&](const std::string& train, const std::string& validation) {
    const auto file = scratch.write("a.txt", train), other = scratch.write("v.txt", validation);
    return task_of("tokenizer: byte, " + data_of(file, ", validation: " + other.string()))->fingerprint();
  };
  CHECK(fingerprint("abcd", "x") == fingerprint("abcd", "y"));
  CHECK(fingerprint("abcd", "x") != fingerprint("abce", "x"));
}

TEST_CASE("language modeling: a split that is too short says which, how many tokens it has and what it needs",
          "[unit]") {
  const Scratch scratch;
  const auto task =
      task_of("tokenizer: byte, " + data_of(scratch.write("a.txt", "abcdefghi"), ", validation_fraction: 0.1"));
  const auto training = thrown<DataError>([&] { task->open({.batch_size = 1, .length = 8}); });
  CHECK(contains(training, "the train split is too short"));
  CHECK(contains(training, "has 8 tokens"));
  CHECK(contains(training, "at least 9"));
  Bigram model(256);
  const auto judged =
      thrown<DataError>([&] { task->evaluate(model, {.split = Split::validation, .batch_size = 1, .length = 8}); });
  CHECK(contains(judged, "the validation split is too short"));
  const auto lonely =
      task_of("tokenizer: byte, " +
              data_of(scratch.write("b.txt", "\n\na\n\n"),
                      ", documents: blank_line, validation: " + scratch.write("x.txt", "x").string() + ", test: [" +
                          scratch.write("y.txt", "y").string() + ", " + scratch.write("z.txt", "z").string() + "]"));
  CHECK(contains(
      thrown<DataError>([&] { lonely->evaluate(model, {.split = Split::test, .batch_size = 1, .length = 8}); }),
      "no token to judge"));
}

TEST_CASE("language modeling: a length that the encoding refuses is a config error with its reason", "[unit]") {
  const Scratch scratch;
  const auto task = task_of("tokenizer: byte, " + data_of(scratch.write("a.txt", kText)));
  Bigram model(256, "learned");
  CHECK_NOTHROW(task->evaluate(model, {.split = Split::train, .batch_size = 1, .length = 4}));
  CHECK(contains(
      thrown<ConfigError>([&] { task->evaluate(model, {.split = Split::train, .batch_size = 1, .length = 5}); }), "4"));
}

TEST_CASE("language modeling: the summary tells tokenizer and splits", "[unit]") {
  const Scratch scratch;
  const auto task =
      task_of("tokenizer: char, " + data_of(scratch.write("a.txt", "abcabcabca"), ", validation_fraction: 0.2"));
  CHECK(task->summary() == std::vector<std::string>{"tokenizer: char, 3 tokens", "train: 8 tokens in 1 document",
                                                    "validation: 2 tokens in 1 document"});
}

TEST_CASE("language modeling: of what is judged it is told how much the vocabulary lacks", "[unit]") {
  const Scratch scratch;
  const auto task = task_of(
      "tokenizer: {kind: word, at_least: 2}, " +
      data_of(scratch.write("a.txt", "a b a b c"), ", validation: " + scratch.write("b.txt", "a d b e").string()));
  const auto lines = task->summary();
  CHECK(lines.at(1) == "train: 5 tokens in 1 document");
  CHECK(lines.at(2) == "validation: 4 tokens in 1 document; 50.0 % of the tokens stand for unknown words");
}

TEST_CASE("language modeling: made text trains and evaluates without any file, another seed makes another text",
          "[unit]") {
  const std::string settings = "tokenizer: char, data: {generate: {kind: chase, sentences: 50, held_out: 10}}";
  const auto task = task_of(settings, {.seed = 1});
  Bigram model(task->complete({}).vocab_size);
  CHECK(task->open({.batch_size = 4, .length = 32, .seed = 1})->next()->tokens() == 128);
  for (const Split split : {Split::validation, Split::test})
    CHECK(task->evaluate(model, {.split = split, .batch_size = 4, .length = 32}).tokens > 500);
  CHECK(task->fingerprint() == task_of(settings, {.seed = 1})->fingerprint());
  CHECK(task->fingerprint() != task_of(settings, {.seed = 2})->fingerprint());
}

TEST_CASE("language modelling: streamed files are told by their size, and trained on block by block", "[unit]") {
  const Scratch scratch;
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += fmt::format("{:07}\n", i);
  const std::string train = scratch.write("a.txt", text).string();
  const auto task = task_of("tokenizer: byte, sampling: streamed, data: {train: " + train +
                            ", validation: " + scratch.write("b.txt", "some text").string() + ", buffer: 1}");
  CHECK(task->summary() == std::vector<std::string>{"tokenizer: byte, 256 tokens",
                                                    "train: 1 file, 1.6 MB, streamed in blocks of 1 MiB",
                                                    "validation: 9 tokens in 1 document"});
  CHECK(task->fingerprint() ==
        task_of("tokenizer: byte, sampling: streamed, data: {train: " + train + ", buffer: 1}")->fingerprint());
  CHECK(task->fingerprint() !=
        task_of("tokenizer: byte, sampling: streamed, data: {train: " + train + "}")->fingerprint());
  const auto stream = task->open({.batch_size = 1000, .length = 64, .seed = 1});
  int64_t rows = 0;
  while (stream->epoch() == 0) rows += stream->next()->ids.size(0);
  CHECK(rows >= 1'600'000 / 64 - 2);
  CHECK(rows <= 1'600'000 / 64);
}

TEST_CASE("language modelling: what cannot be streamed is refused in words", "[unit]") {
  const Scratch scratch;
  const std::string train = scratch.write("a.txt", "some text, and more of it\n").string();
  const auto refusal = [&](const std::string& settings, const std::string& more = "") {
    return thrown<ConfigError>([&] {
      const auto task = task_of(settings + ", " + data_of(train, more));
      task->complete({});
      task->open({.batch_size = 1, .length = 4});
    });
  };
  CHECK(contains(refusal("tokenizer: byte", ", buffer: 4"), "task.data.buffer is of a training text that is streamed"));
  CHECK(contains(refusal("tokenizer: byte, sampling: streamed", ", validation_fraction: 0.1"),
                 "task.data.validation_fraction and task.sampling: streamed cannot be given together"));
  CHECK(contains(refusal("tokenizer: byte, sampling: streamed", ", weights: [1]"), "task.data.weights and"));
  CHECK(contains(refusal("tokenizer: byte, sampling: streamed, baselines: true"), "task.baselines"));
  CHECK(contains(refusal("tokenizer: char, sampling: streamed"),
                 "task.tokenizer (char) learns its vocabulary from the whole training text"));
  CHECK(contains(refusal("tokenizer: word, sampling: streamed"), "task.tokenizer (word) learns"));
  const std::string ids = scratch.write("a.bin", "abcd").string();
  CHECK(
      contains(thrown<ConfigError>([&] {
                 task_of("vocab_size: 256, sampling: streamed, " + data_of(ids))->open({.batch_size = 1, .length = 1});
               }),
               "use task.sampling: packed"));
}

TEST_CASE("language modelling: lines left out are told by check and beside the metrics", "[unit]") {
  const Scratch scratch;
  const auto path = scratch.write("a.txt", "some text\ncaf\xE9\nand more\n");
  const auto task = task_of("tokenizer: byte, " + data_of(path, ", on_bad_line: skip, test: " + path.string()));
  CHECK(contains(task->summary().at(3), "train: 1 line left out: "));
  CHECK(report_of_data(*task, 4).left_out.size() == 2);
  CHECK(report_of_data(*task, 4).lines.size() == 3);
  Bigram model(256);
  const Evaluation made =
      task->evaluate(model, {.split = Split::test, .batch_size = 1, .length = 4, .training = false});
  REQUIRE(made.notes.size() == 1);
  CHECK(contains(made.notes.front(), "a.txt: line 2: byte 0xE9"));
}

}  // namespace ordo::test
