// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/dialogue.h"

#include <ATen/TensorOperators.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <set>

#include "dialogue_models.h"
#include "dialogues.h"
#include "ordo/models/encoder.h"
#include "ordo/ops/fused_loss.h"
#include "ordo/tasks/text_writer.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

const std::string kMade =
    "tokenizer: word, data: {generate: {dialogues: 20, held_out: 12, exchanges: 5}}, answer_tokens: 8";

std::vector<int64_t> values(const Tensor& t) {
  const Tensor flat = t.contiguous();
  return {flat.data_ptr<int64_t>(), flat.data_ptr<int64_t>() + flat.numel()};
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

}  // namespace

TEST_CASE("dialogue: rows of a batch are windows, padded behind", "[unit]") {
  const Scratch scratch;
  const std::vector<Spoken> dialogues{
      {{Speaker::user, "a"}, {Speaker::system, "bc"}},
      {{Speaker::user, "a"}, {Speaker::system, "b"}, {Speaker::user, "c"}, {Speaker::system, "a"}}};
  const auto task = dialogue_task("tokenizer: char, answer_tokens: 4, data: {train: " +
                                  scratch.write("a.json", sgd_text(dialogues)).string() + "}");
  CHECK(task->complete({}).vocab_size == 4 + 5);  // a, b, c, the line break between training turns; the marks
  const Batch batch = *task->open({.batch_size = 2, .length = 20, .training = false})->next();
  const int64_t a = 1, b = 2, c = 3, end = 4, start = 5, user = 6, system = 7;
  CHECK(values(batch.ids[0]) == std::vector<int64_t>{start, user, a, end, system, b, c, end, end, end, end, end});
  CHECK(values(batch.targets[1]) ==
        std::vector<int64_t>{kIgnore, kIgnore, kIgnore, kIgnore, b, end, kIgnore, kIgnore, kIgnore, kIgnore, a, end});
  CHECK(batch.weight == 3 + 4);
  CHECK(batch.examples[1].ends_with("dialogue 7_1: turns 1 to 4"));
}

TEST_CASE("dialogue: an evaluation is the same for every batch size, and judges every answer once", "[unit]") {
  const auto task = dialogue_task(kMade);
  double answers = 0.0;
  for (const auto& dialogue : task->dialogues(Split::test))
    for (const auto& turn : dialogue.turns)
      if (turn.speaker == Speaker::system) answers += static_cast<double>(turn.ids.size()) + 1.0;
  for (const int64_t length : {28, 40, 120}) {
    const auto model = dialogue_model(*task, "rope", length);
    model->eval();
    const auto judged = [&](int64_t batch_size) {
      return task->evaluate(*model,
                            {.split = Split::test, .batch_size = batch_size, .length = length, .training = false});
    };
    const Evaluation one = judged(1);
    CHECK(one.tokens == answers);
    CHECK(one.outcomes.accuracy.size() == 12);
    CHECK(near(one.metrics.at("perplexity"), std::exp(one.metrics.at("loss"))));
    for (const int64_t batch_size : {7, 64}) {
      CAPTURE(length, batch_size);
      const Evaluation many = judged(batch_size);
      CHECK(many.tokens == answers);
      for (const auto* metric : {"loss", "perplexity", "accuracy", "bits_per_character"})
        CHECK(near(many.metrics.at(metric), one.metrics.at(metric)));
    }
  }
}

TEST_CASE("dialogue: a shorter window is another question, a longer one than all dialogues is not", "[unit]") {
  const auto task = dialogue_task(kMade);
  const auto model = dialogue_model(*task, "rope", 256);
  model->eval();
  const auto loss = [&](int64_t length) {
    return task->evaluate(*model, {.split = Split::test, .batch_size = 4, .length = length, .training = false})
        .metrics.at("loss");
  };
  CHECK(near(loss(200), loss(256)));
  CHECK_FALSE(near(loss(28), loss(256)));
}

TEST_CASE("dialogue: a split judged in detail tells intervals and each dialogue", "[unit]") {
  const auto task = dialogue_task(kMade);
  const auto model = dialogue_model(*task, "rope", 64);
  model->eval();
  const Evaluation made =
      task->evaluate(*model, {.split = Split::test, .batch_size = 4, .length = 64, .training = false, .details = true});
  CHECK(made.intervals.at("perplexity").contains(made.metrics.at("perplexity")));
  REQUIRE(made.rows.size() == 12);
  const Json row = parse_json(made.rows[3], "row");
  CHECK(row["from"] == "generated dialogue 4");
  CHECK(row["turns"] == 10);
  CHECK(near(row["perplexity"].get<double>(), std::exp(row["loss"].get<double>())));
}

TEST_CASE("dialogue: training takes every window once an epoch", "[unit]") {
  const auto task = dialogue_task(kMade);
  const auto whole = task->open({.batch_size = 1000, .length = 40, .training = false})->next();
  const auto stream = task->open({.batch_size = 3, .length = 40, .seed = 4});
  std::multiset<std::string> names;
  double weight = 0.0;
  while (stream->epoch() == 0) {
    const Batch batch = *stream->next();
    names.insert(batch.examples.begin(), batch.examples.end());
    weight += batch.weight;
  }
  CHECK(names == std::multiset<std::string>(whole->examples.begin(), whole->examples.end()));
  CHECK(weight == whole->weight);
}

TEST_CASE("dialogue: splits are files, or parts of the training files", "[unit]") {
  const Scratch scratch;
  const std::string train = scratch.write("train.json", crosswoz_text(chinese_dialogues(20))).string();
  const std::string test = scratch.write("test.json", sgd_text(english_dialogues(3))).string();
  const auto sizes = [](const Dialogue& task) {
    return std::vector<size_t>{task.dialogues(Split::train).size(), task.dialogues(Split::validation).size(),
                               task.dialogues(Split::test).size()};
  };
  const std::string common = "tokenizer: byte, answer_tokens: 60, data: {train: " + train;
  CHECK(sizes(*dialogue_task(common + "}")) == std::vector<size_t>{20, 0, 0});
  const auto ruled = dialogue_task(common + "}, split: {kind: number, modulus: 10, test: [0], validation: [1]}");
  CHECK(sizes(*ruled) == std::vector<size_t>{16, 2, 2});
  CHECK(ruled->dialogues(Split::test)[1].where.ends_with("dialogue 110"));
  CHECK(sizes(*dialogue_task(common + ", test: " + test + "}, split: {kind: number, modulus: 10, validation: [1]}")) ==
        std::vector<size_t>{18, 2, 3});
  const auto drawn = dialogue_task(common + "}, split: {kind: share, test: 0.3}");
  CHECK(drawn->draws_examples());
  CHECK(drawn->has(Split::test));
  CHECK_FALSE(drawn->has(Split::validation));
  const auto refused = [&](const std::string& settings) {
    return thrown<ConfigError>([&] { dialogue_task("tokenizer: byte, answer_tokens: 60, " + settings); });
  };
  CHECK(contains(
      refused("data: {train: " + train + ", test: " + test + "}, split: {kind: number, modulus: 5, test: [0]}"),
      "task.split takes the test split"));
  CHECK(contains(refused("data: {train: " + train + ", generate: {}}"), "either made or read"));
  CHECK(contains(refused("data: {generate: {}}, split: {kind: share, test: 0.5}"), "leave one out"));
  CHECK(contains(refused("data: {test: " + test + "}"), "task.data.train is missing"));
  CHECK(contains(thrown<DataError>([&] {
                   dialogue_task(common + "}, split: {kind: number, modulus: 30, test: [29]}")->dialogues(Split::test);
                 }),
                 "leaves no dialogue for the test split"));
}

TEST_CASE("dialogue: what is learned from text is learned from training turns", "[unit]") {
  const Scratch scratch;
  const std::vector<Spoken> train{{{Speaker::user, "ab"}, {Speaker::system, "ba"}}};
  const std::vector<Spoken> test{{{Speaker::user, "abz"}, {Speaker::system, "zz"}, {Speaker::system, "b"}}};
  const auto task = dialogue_task(
      "tokenizer: char, answer_tokens: 8, data: {train: " + scratch.write("train.json", sgd_text(train)).string() +
      ", test: " + scratch.write("test.json", sgd_text(test)).string() + "}");
  CHECK(task->tokenizer()->vocab_size() == 3);
  const int64_t unknown = task->layout().unknown();
  CHECK(task->dialogues(Split::test)[0].turns[1].ids == std::vector<int64_t>{unknown, unknown});
  const auto lines = task->summary();
  CHECK(contains(lines.at(2), "test: 1 dialogues of 3 turns, answers of up to 2 tokens, other turns of up to 3"));
  CHECK(contains(lines.at(2),
                 "1 turns follow one of the same side; 3 characters that the tokenizer has not, 2 of them in answers"));
  CHECK(lines.back() == "as in: ab -> ba");
}

TEST_CASE("dialogue: what the tokenizer has not is never a right answer, and is counted", "[unit]") {
  const Scratch scratch;
  const std::vector<Spoken> train{{{Speaker::user, "ab"}, {Speaker::system, "ba"}}};
  const std::vector<Spoken> test{{{Speaker::user, "ab"}, {Speaker::system, "zzzz"}}};
  const std::string data = "answer_tokens: 8, data: {train: " + scratch.write("train.json", sgd_text(train)).string() +
                           ", test: " + scratch.write("test.json", sgd_text(test)).string() + "}";
  // Of a model that writes one thing, whatever it reads.
  const auto judged = [](const Dialogue& task, int64_t writes) {
    const auto model = dialogue_model(task, "rope", 32);
    model->eval();
    const c10::NoGradGuard no_gradients;
    for (auto& p : model->named_parameters()) p.value().fill_(p.key().ends_with(".norm.bias") ? 1.0 : 0.0);
    Tensor head = model->head().weight();
    head.zero_();
    head[writes].fill_(1.0);
    return task.evaluate(*model, {.split = Split::test, .batch_size = 1, .length = 32, .training = false});
  };
  const auto characters = dialogue_task("tokenizer: char, " + data);
  const Evaluation made = judged(*characters, characters->layout().unknown());
  CHECK(made.metrics.at("accuracy") == 0.0);
  CHECK(judged(*characters, characters->layout().end()).metrics.at("accuracy") == 0.2);
  REQUIRE(made.notes.size() == 1);
  CHECK(contains(made.notes[0], "4 of the 5 tokens asked stand for what the tokenizer has not"));
  const auto words = dialogue_task("tokenizer: word, " + data);
  CHECK(judged(*words, words->layout().unknown_word().value()).metrics.at("accuracy") == 0.0);
  CHECK(contains(words->summary().at(2), "1 words that the tokenizer has not, 1 of them in answers"));
}

TEST_CASE("dialogue: a turn that no window has room for is refused with its place, or cut and told", "[unit]") {
  const Scratch scratch;
  auto dialogues = english_dialogues(3);
  dialogues[1][2].text = std::string(60, 'x');
  const std::string settings =
      "tokenizer: byte, answer_tokens: 40, data: {train: " + scratch.write("a.json", sgd_text(dialogues)).string() +
      "}";
  const auto stops = dialogue_task(settings), cuts = dialogue_task(settings + ", too_long: cut");
  const std::string told = stops->refuses_length(Split::train, 100).value_or("");
  CHECK(
      contains(told, "dialogue 7_1: turn 3 has 60 tokens, and a window of 100 with 40 for an answer has room for 56"));
  CHECK(contains(thrown<ConfigError>([&] { stops->open({.length = 100}); }), "turn 3 has 60 tokens"));
  CHECK_FALSE(stops->refuses_length(Split::train, 104));
  CHECK_FALSE(cuts->refuses_length(Split::train, 100));
  const auto model = dialogue_model(*cuts, "rope", 120);
  model->eval();
  const auto notes = [&](int64_t length) {
    return cuts->evaluate(*model, {.batch_size = 2, .length = length, .training = false}).notes;
  };
  REQUIRE(notes(100).size() == 1);
  CHECK(contains(notes(100)[0], "1 turns of the train split are cut"));
  CHECK(notes(120).empty());
  CHECK(contains(stops->refuses_length(Split::train, 44).value_or(""), "has no room for a turn and its answer"));
}

TEST_CASE("dialogue: models that see both sides, and windows that slide, are refused", "[unit]") {
  const auto task = dialogue_task(kMade);
  Choice<Model> choice("encoder");
  choice.config = std::make_shared<Encoder::Config>(
      Encoder::Config{StackConfig{.dim = 16, .layers = 1, .attention = {.heads = 2}}});
  const auto encoder = models().build(choice, {.vocab_size = 60, .max_length = 16, .seed = 1});
  CHECK(contains(task->refuses(*encoder).value_or(""), "model.kind: decoder"));
  const auto decoder = dialogue_model(*task, "rope", 64);
  CHECK_FALSE(task->refuses(*decoder));
  CHECK(contains(thrown<ConfigError>([&] { task->open({.length = 40, .training = false, .stride = 4}); }), "stride"));
  const auto unsplit = [&] {
    const Scratch scratch;
    const auto files = dialogue_task("tokenizer: byte, answer_tokens: 60, data: {train: " +
                                     scratch.write("a.json", sgd_text(english_dialogues(2))).string() + "}");
    files->open({.split = Split::test, .length = 200, .training = false});
  };
  CHECK(contains(thrown<ConfigError>(unsplit), "there is no test data"));
}

TEST_CASE("dialogue: a prompt is a first turn, and its answer's text has no marks", "[unit]") {
  const auto task = dialogue_task("tokenizer: byte, data: {generate: {}}, answer_tokens: 60");
  const auto writer = task->writer();
  CHECK(writer->prompt("hi").ids == std::vector<int64_t>{257, 258, 'h', 'i', 256, 259});
  CHECK(writer->ends() == std::vector<int64_t>{256});
  CHECK(writer->vocab_size() == 257);
  CHECK(writer->text(std::vector<int64_t>{'o', 'k'}) == "ok");
  CHECK_FALSE(writer->continues());
  REQUIRE(writer->dialogue() != nullptr);
}

TEST_CASE("dialogue: other training turns, tokenizers or sides have another fingerprint", "[unit]") {
  const auto print = [](const std::string& settings) { return dialogue_task(settings)->fingerprint(); };
  const std::string made = "tokenizer: byte, answer_tokens: 60, data: {generate: {dialogues: 5}}";
  std::set<uint64_t> prints{print(made), print(made + ", answers: user"),
                            print("tokenizer: byte, answer_tokens: 60, data: {generate: {dialogues: 6}}"),
                            print("tokenizer: char, answer_tokens: 60, data: {generate: {dialogues: 5}}")};
  CHECK(prints.size() == 4);
  CHECK(print(made) == print(made));
}

}  // namespace ordo::test
