// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/token_classification.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ordo/config/config.h"
#include "ordo/models/encoder.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

struct WrittenTagger {
  Choice<Task> task{"token_classification"};
};
void fields(Fields& f, WrittenTagger& c) { f("task", c.task, "the task"); }

std::shared_ptr<Task> tagger(const std::string& yaml) {
  WrittenTagger read;
  load_config_text("task: {kind: token_classification, " + yaml + "}", walk_of(read), {.name = "test.yaml"});
  return tasks().build(read.task, {.seed = 1});
}
std::string quoted(const fs::path& path) { return "'" + path.string() + "'"; }
std::string tagger_refusal(const std::string& yaml) {
  return thrown<DataError>([&] { tagger(yaml)->summary(); });
}

Batch whole_batch(const Task& task, int64_t length) {
  return *task.open({.split = Split::train, .batch_size = 50, .length = length, .training = false})->next();
}
std::vector<int64_t> row_of_targets(const Batch& batch, int64_t b) {
  std::vector<int64_t> row;
  for (int64_t i = 0; i < batch.targets.size(1); ++i) row.push_back(batch.targets[b][i].item<int64_t>());
  return row;
}

std::shared_ptr<Model> tagging_model(const Task& task) {
  Choice<Model> choice("encoder");
  Encoder::Config config;
  config.dim = 16;
  config.layers = 1;
  config.attention.heads = 2;
  config.position = {Choice<PositionEncoding>("rope")};
  config.init.std = 0.3;
  choice.config = std::make_shared<Encoder::Config>(config);
  auto model = models().build(choice, task.complete({.max_length = 16, .seed = 1}));
  model->eval();
  return model;
}

const std::string kMade = "tokenizer: word, data: {generate: {sentences: 30, held_out: 20}}";

}  // namespace

TEST_CASE("token classification: files of columns and JSON Lines say the same", "[unit]") {
  const Scratch scratch;
  const auto columns = scratch.write("a.conll",
                                     "-DOCSTART- -X- O\n\nEU NNP B-ORG\nrejects VBZ O\n\n\nPeter NNP B-PER\nBlackburn "
                                     "NNP I-PER\n");
  const auto tabs = scratch.write("a.tsv", "EU\tx y\tB-ORG\nrejects\t\tO\n\nPeter\t\tB-PER\nBlackburn\t\tI-PER");
  const auto json = scratch.write("a.jsonl", R"({"tokens": ["EU", "rejects"], "tags": ["B-ORG", "O"]}
{"tags": ["B-PER", "I-PER"], "tokens": ["Peter", "Blackburn"]}
)");
  for (const auto& path : {columns, tabs, json}) {
    INFO(path);
    const auto task = tagger("tokenizer: word, data: {train: " + quoted(path) + "}");
    const Batch batch = whole_batch(*task, 8);
    CHECK(row_of_targets(batch, 0) == std::vector<int64_t>{0, 3});  // B-ORG, B-PER, I-PER, O
    CHECK(row_of_targets(batch, 1) == std::vector<int64_t>{1, 2});
    CHECK(batch.weight == 4.0);
    CHECK(task->complete({}).outputs == 4);
    CHECK_FALSE(task->complete({}).pools);
  }
}

TEST_CASE("token classification: the tag is asked at the first token of its word", "[unit]") {
  const Scratch scratch;
  const auto path = scratch.write("a.conll", "ab X\nc Y\n\nd X\n");
  const auto task = tagger("tokenizer: byte, data: {train: " + quoted(path) + "}");
  const Batch batch = whole_batch(*task, 8);
  CHECK(row_of_targets(batch, 0) == std::vector<int64_t>{0, kIgnore, 1, kIgnore});  // "ab c"
  CHECK(row_of_targets(batch, 1) == std::vector<int64_t>{0, kIgnore, kIgnore, kIgnore});
  CHECK(batch.ids[0].equal(at::tensor({'a', 'b', ' ', 'c'}).to(at::kLong)));
  CHECK(batch.mask.keys.sum(1).equal(at::tensor({4, 1})));
}

TEST_CASE("token classification: of a sentence that is too long the last words go, whole, and are told", "[unit]") {
  const Scratch scratch;
  const auto path = scratch.write("a.conll", "ab X\ncd Y\ne X\n");
  const std::string data = "tokenizer: byte, data: {train: " + quoted(path) + "}";
  const auto stop = tagger(data);
  CHECK(contains(stop->refuses_length(Split::train, 6).value_or(""), "has 7 tokens (" + path.string() + ": line 1)"));
  const auto task = tagger(data + ", too_long: cut");
  CHECK(whole_batch(*task, 6).ids.size(1) == 5);  // "ab cd"
  CHECK(whole_batch(*task, 4).ids.size(1) == 2);  // "ab"
  CHECK(contains(task->refuses_length(Split::train, 1).value_or(""), "the longest first word"));
  const auto model = tagging_model(*task);
  const Evaluation made =
      task->evaluate(*model, {.split = Split::train, .batch_size = 2, .length = 4, .training = false, .details = true});
  CHECK(contains(made.notes.front(), "2 of 3 words"));
  CHECK(made.tokens == 1.0);
}

TEST_CASE(
    "token classification: an evaluation is the same for batches of 1, 7 and 64, and its loss is that of training",
    "[unit]") {
  const auto task = tagger(kMade);
  const auto model = tagging_model(*task);
  const auto judged = [&](int64_t size) {
    return task->evaluate(*model, {.split = Split::test, .batch_size = size, .length = 16, .training = false});
  };
  const Metrics by_one = judged(1).metrics;
  for (const int64_t size : {7, 64})
    for (const auto& [name, value] : judged(size).metrics) {
      INFO(name << " at batch size " << size);
      CHECK(std::abs(value - by_one.at(name)) < 1e-6);
    }
  const Batch batch = *task->open({.split = Split::test, .batch_size = 20, .length = 16, .training = false})->next();
  const Loss loss = task->loss(*model, batch, {});
  CHECK(std::abs(loss.sum.item<double>() / loss.weight - by_one.at("loss")) < 1e-6);
  CHECK(by_one.contains("f1_spans"));
  CHECK(by_one.contains("f1_micro"));
}

TEST_CASE("token classification: with details each sentence is a line of its words and tags", "[unit]") {
  const auto task = tagger(kMade);
  const auto model = tagging_model(*task);
  const Evaluation made =
      task->evaluate(*model, {.split = Split::test, .batch_size = 7, .length = 16, .training = false, .details = true});
  REQUIRE(made.rows.size() == 20);
  const MadeSentence sentence = made_sentence(1, Split::test, 3);
  const Json row = parse_json(made.rows[3], "a row");
  CHECK(row["words"] == Json(sentence.words));
  CHECK(row["truth"] == Json(sentence.tags));
  CHECK(row["predicted"].size() == sentence.words.size());
  CHECK(made.intervals.contains("accuracy"));
  CHECK(made.metrics.contains("f1_spans/PER"));
}

TEST_CASE("token classification: bad sentences end the run with their line, or are left out, counted and told",
          "[unit]") {
  const Scratch scratch;
  const struct {
    std::string name, content, problem;
  } cases[] = {
      {"short.conll", "a X\n\nb Y\nc\n\nd Y\n", "line 4: expected a word in column 1 and a tag in column 2 or later"},
      {"empty.conll", "a\tX\n\nb\tY\nc\t\n\nd\tY\n", "line 4: the tag is empty"},
      {"tag.conll", "a X\n\nb Z\n\nd Y\n", "line 3: there is no class 'Z'"},
      {"counts.jsonl",
       "{\"tokens\": [\"a\"], \"tags\": [\"X\"]}\n{\"tokens\": [\"a\", \"b\"], \"tags\": [\"X\"]}\n"
       "{\"tokens\": [\"c\"], \"tags\": [\"Y\"]}\n",
       "line 2: 2 words have 1 tags"},
      {"none.jsonl",
       "{\"tokens\": [\"a\"], \"tags\": [\"X\"]}\n{\"tokens\": [], \"tags\": []}\n{\"tokens\": [\"c\"], \"tags\": "
       "[\"Y\"]}\n",
       "line 2: the sentence is empty"},
  };
  for (const auto& [name, content, problem] : cases) {
    INFO(name);
    const auto path = scratch.write(name, content);
    const std::string data = "tokenizer: byte, classes: [X, Y], data: {train: " + quoted(path);
    CHECK(contains(tagger_refusal(data + "}"), path.string() + ": " + problem));
    const auto task = tagger(data + ", on_bad_line: skip}");
    CHECK(whole_batch(*task, 8).ids.size(0) == 2);
    CHECK(contains(task->summary().back(), "1 line left out"));
  }
}

TEST_CASE("token classification: what is judged has known tags, or the run ends, whatever becomes of bad lines",
          "[unit]") {
  const Scratch scratch;
  const auto train = scratch.write("train.conll", "a X\n\nb Y\n");
  const auto judged = scratch.write("judged.conll", "a X\n\nb Z\n");
  for (const std::string split : {"validation", "test"})
    CHECK(contains(tagger_refusal("tokenizer: byte, data: {train: " + quoted(train) + ", " + split + ": " +
                                  quoted(judged) + ", on_bad_line: skip}"),
                   judged.string() + ": line 3: there is no class 'Z'"));
}

TEST_CASE("token classification: settings that cannot hold together are refused", "[unit]") {
  const struct {
    std::string yaml, said;
  } cases[] = {
      {"tokenizer: byte, data: {}", "(found: none)"},
      {"tokenizer: byte, data: {train: a, generate: {}}", "(found: both)"},
      {"tokenizer: byte, data: {train: a, tag: 1}", "are one column"},
      {"tokenizer: byte, data: {train: a, format: jsonl, tag: 3}", "only files of columns have"},
      {"tokenizer: byte, data: {train: a, format: columns, tags_key: pos}", "of JSON Lines alone"},
      {"tokenizer: byte, data: {generate: {}}, split: {kind: tail, test: 5}", "give one"},
  };
  for (const auto& [yaml, said] : cases) {
    INFO(yaml);
    CHECK(contains(thrown<ConfigError>([&] { tagger(yaml); }), said));
  }
  CHECK(contains(thrown<ConfigError>([&] { tagger(kMade + ", background: none")->summary(); }), "task.background"));
}

}  // namespace ordo::test
