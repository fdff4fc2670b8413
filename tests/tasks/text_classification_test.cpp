// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/text_classification.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ordo/config/config.h"
#include "ordo/data/split_rules.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

// The task of a config as a user writes it, under `task`.
struct WrittenTask {
  Choice<Task> task{"text_classification"};
};
void fields(Fields& f, WrittenTask& c) { f("task", c.task, "the task"); }

struct WrittenModel {
  Choice<Model> model{"encoder"};
};
void fields(Fields& f, WrittenModel& c) { f("model", c.model, "the model"); }

std::shared_ptr<Task> written(const std::string& yaml, uint64_t seed = 1) {
  WrittenTask read;
  load_config_text("task: {kind: text_classification, " + yaml + "}", walk_of(read), {.name = "test.yaml"});
  return tasks().build(read.task, {.seed = seed});
}
std::string kept(const fs::path& path) { return "'" + path.string() + "'"; }

// What reading its data says.
std::string refusal(const std::string& yaml) {
  return thrown<DataError>([&] { written(yaml)->summary(); });
}
std::string contradiction(const std::string& yaml) {
  return thrown<ConfigError>([&] { written(yaml); });
}

std::vector<Batch> all_batches(const Task& task, Split split, int64_t length, int64_t batch_size = 100) {
  std::vector<Batch> all;
  const auto stream = task.open({.split = split, .batch_size = batch_size, .length = length, .training = false});
  while (auto batch = stream->next()) all.push_back(std::move(*batch));
  return all;
}
std::vector<int64_t> targets_of(const Batch& batch) {
  return {batch.targets.data_ptr<int64_t>(), batch.targets.data_ptr<int64_t>() + batch.targets.numel()};
}
std::vector<int64_t> row_ids(const Batch& batch, int64_t b) {
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < batch.ids.size(1); ++i)
    if (!batch.mask.keys.defined() || batch.mask.keys[b][i].item<bool>())
      ids.push_back(batch.ids[b][i].item<int64_t>());
  return ids;
}

}  // namespace

TEST_CASE("text classification: a table of texts and labels becomes padded rows and class numbers", "[unit]") {
  const Scratch scratch;
  const auto train = scratch.write("a.tsv", "good film\tyes\nbad\tno\na good good film\tyes\n");
  const auto task = written("tokenizer: word, data: {train: " + kept(train) + "}");
  const auto batches = all_batches(*task, Split::train, 8);
  REQUIRE(batches.size() == 1);
  const Batch& batch = batches[0];
  CHECK(batch.ids.sizes() == at::IntArrayRef({3, 4}));
  CHECK(batch.mask.keys.sum(1).equal(at::tensor({2, 1, 4})));
  CHECK(targets_of(batch) == std::vector<int64_t>{1, 0, 1});  // no, yes: in the order of their bytes
  CHECK(batch.weight == 3.0);
  CHECK(batch.examples[1] == train.string() + ": line 2");
  CHECK(task->tokenizer()->decode(row_ids(batch, 2)) == "a good good film");
  const ModelFacts facts = task->complete({.max_length = 8});
  CHECK(facts.outputs == 2);
  CHECK(facts.pools);
  CHECK(facts.vocab_size == task->tokenizer()->vocab_size());
}

TEST_CASE("text classification: CSV with a header, quotes and any columns, and JSON Lines, say the same", "[unit]") {
  const Scratch scratch;
  const auto csv =
      scratch.write("a.csv", "id,stars,body\n7,5,\"good, \"\"very\"\" good\"\n8,1,bad\n9,2,\"two\nlines\"\n");
  const auto json = scratch.write("a.jsonl", R"({"stars": 5, "body": "good, \"very\" good"}
{"stars": 1, "body": "bad"}
{"body": "two\nlines", "stars": "2"}
)");
  const auto columns = ", text: body, label: stars}, tokenizer: byte";
  const auto from_csv = written("data: {train: " + kept(csv) + ", header: true" + columns);
  const auto from_json = written("data: {train: " + kept(json) + columns);
  const Batch a = all_batches(*from_csv, Split::train, 32)[0], b = all_batches(*from_json, Split::train, 32)[0];
  CHECK(at::equal(a.ids, b.ids));
  CHECK(targets_of(a) == std::vector<int64_t>{2, 0, 1});  // labels 1, 2, 5
  CHECK(targets_of(b) == targets_of(a));
  CHECK(a.examples[2] == csv.string() + ": line 4");
}

TEST_CASE("text classification: files of one class each are divided by line number", "[unit]") {
  const Scratch scratch;
  std::string good, bad;
  for (int i = 0; i < 10; ++i) {
    good += fmt::format("good {}\n", i);
    bad += fmt::format("bad {}\n", i);
  }
  const auto yes = scratch.write("yes.txt", good), no = scratch.write("no.txt", bad);
  const auto task =
      written(fmt::format("tokenizer: word, split: {{kind: number, modulus: 5, test: 0, validation: 1}}, "
                          "data: {{by_class: [{{class: no, files: {}}}, {{class: yes, files: {}}}]}}",
                          kept(no), kept(yes)));
  CHECK(task->has(Split::test));
  const Batch test = all_batches(*task, Split::test, 4)[0];
  CHECK(test.examples == std::vector<std::string>{no.string() + ": line 1", no.string() + ": line 6",
                                                  yes.string() + ": line 1", yes.string() + ": line 6"});
  CHECK(targets_of(test) == std::vector<int64_t>{0, 0, 1, 1});
  CHECK(all_batches(*task, Split::train, 4)[0].ids.size(0) == 12);
}

TEST_CASE("text classification: label numbers index the lines of a file of classes", "[unit]") {
  const Scratch scratch;
  const auto names = scratch.write("labels.txt", "ambiguous\nnegative\npositive\n");
  const auto train = scratch.write("a.tsv", "x\t2\ty\nz\tnegative\tw\nu\t0\tv\n");
  const auto task = written("tokenizer: byte, data: {train: " + kept(train) + "}, classes_file: " + kept(names));
  CHECK(targets_of(all_batches(*task, Split::train, 4)[0]) == std::vector<int64_t>{2, 1, 0});
  const auto wrong = scratch.write("b.tsv", "x\t2\nz\t3\nu\t0\nu\t1\n");
  const std::string said = refusal("tokenizer: byte, data: {train: " + kept(wrong) + "}, classes_file: " + kept(names));
  CHECK(contains(said, "b.tsv: line 2: there is no class '3'"));
  CHECK(contains(said, "ambiguous, negative, positive"));
}

TEST_CASE("text classification: where classes are named by numbers, a label is a name and never an index", "[unit]") {
  const Scratch scratch;
  const auto train = scratch.write("a.tsv", "x\t1\ny\t2\nz\t0\n");
  CHECK(contains(refusal("tokenizer: byte, data: {train: " + kept(train) + "}, classes: ['1', '2']"),
                 "a.tsv: line 3: there is no class '0'"));
}

TEST_CASE("text classification: several labels are marks of each class, or are left out, counted and told", "[unit]") {
  const Scratch scratch;
  const auto train = scratch.write("a.tsv", "x\ta,c\ny\tb\nz\t\nw\tc\n");
  const auto multi = written("tokenizer: byte, labels: multi, data: {train: " + kept(train) + "}");
  const Batch batch = all_batches(*multi, Split::train, 4)[0];
  CHECK(batch.targets.equal(
      at::tensor({1.0F, 0.0F, 1.0F, 0.0F, 1.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 1.0F}).view({4, 3})));
  CHECK(batch.weight == 12.0);

  const auto some = scratch.write("b.tsv", "x\ta,c\ny\tb\nw\tc\n");
  const auto single = written("tokenizer: byte, only_single: true, data: {train: " + kept(some) + "}");
  CHECK(targets_of(all_batches(*single, Split::train, 4)[0]) == std::vector<int64_t>{0, 1});
  CHECK(contains(single->summary().back(), "1 examples with several labels left out"));
  CHECK(contains(refusal("tokenizer: byte, classes: [a, b, c], data: {train: " + kept(some) + "}"),
                 "b.tsv: line 1: there is no class 'a,c'"));
}

TEST_CASE("text classification: a pair is one row, apart by a mark of its own where the tokenizer has none", "[unit]") {
  const Scratch scratch;
  const auto train = scratch.write("a.tsv", "one two\tyes\tthree\nfour\tno\tfive six\n");
  const auto task = written("tokenizer: word, data: {train: " + kept(train) + ", pair: 3}");
  const int64_t words = task->tokenizer()->vocab_size();
  CHECK(task->complete({.max_length = 4}).vocab_size == words + 1);
  const Batch batch = all_batches(*task, Split::train, 4)[0];
  const auto ids = row_ids(batch, 1);
  REQUIRE(ids.size() == 4);
  CHECK(ids[1] == words);
  CHECK(task->tokenizer()->decode(std::span(ids).subspan(2)) == "five six");
  CHECK(batch.types.equal(at::tensor({0, 0, 0, 1, 0, 0, 1, 1}).view({2, 4})));
  const auto blank = scratch.write("b.tsv", "one\tyes\ttwo\nthree\tno\t \n");
  CHECK(contains(refusal("tokenizer: word, data: {train: " + kept(blank) + ", pair: 3}"),
                 "b.tsv: line 2: the second text of the pair is empty"));
}

TEST_CASE("text classification: a row that is too long ends the run, or is cut, which is told", "[unit]") {
  const Scratch scratch;
  const auto train = scratch.write("a.tsv", "a b c d e\tyes\na\tno\n");
  const std::string data = "tokenizer: word, data: {train: " + kept(train) + "}";
  const auto stop = written(data);
  const auto why = stop->refuses_length(Split::train, 4);
  REQUIRE(why);
  CHECK(contains(*why, "has 5 tokens (" + train.string() + ": line 1)"));
  CHECK(contains(*why, "task.too_long: cut"));
  CHECK_FALSE(stop->refuses_length(Split::train, 5));
  CHECK(contains(thrown<ConfigError>([&] { stop->open({.split = Split::train, .length = 4}); }), "5 tokens"));

  const auto task = written(data + ", too_long: cut");
  CHECK_FALSE(task->refuses_length(Split::train, 3));
  const Batch batch = all_batches(*task, Split::train, 3)[0];
  CHECK(task->tokenizer()->decode(row_ids(batch, 0)) == "a b c");
  const auto* const classes = dynamic_cast<const ClassTask*>(task.get());
  CHECK(classes->examples({.length = 3})->notes() ==
        std::vector<std::string>{"1 of 2 rows had more than 3 tokens and were cut"});
  CHECK(classes->examples({.length = 5})->notes().empty());
}

TEST_CASE("text classification: bad lines end the run with their place, or are left out, counted and told", "[unit]") {
  const Scratch scratch;
  const struct {
    std::string name, content, problem;
  } cases[] = {
      {"blank.tsv", "x\tyes\n\ny\tno\n", "line 2: expected 2 cells, found a blank line"},
      {"tabs.tsv", "x\tyes\ny\tno\tmore\nz\tno\n", "line 2: expected 2 cells, found 3"},
      {"text.tsv", "x\tyes\n  \tyes\ny\tno\n", "line 2: the text is empty"},
      {"label.tsv", "x\tyes\nz\t \ny\tno\n", "line 2: the label is empty"},
      {"keys.jsonl", "{\"text\": \"x\", \"label\": \"yes\"}\n{\"text\": \"z\"}\n{\"text\": \"y\", \"label\": \"no\"}\n",
       "line 2: 'label' is missing"},
      {"type.jsonl",
       "{\"text\": \"x\", \"label\": \"yes\"}\n{\"text\": 1.5, \"label\": \"no\"}\n{\"text\": \"y\", \"label\": "
       "\"no\"}\n",
       "line 2: text: expected a string"},
      {"quote.csv", "x,yes\nan \"odd\" one,no\ny,no\n", "line 2: a quote stands inside a cell"},
      {"class.tsv", "x\tyes\nz\tperhaps\ny\tno\n", "line 2: there is no class 'perhaps'"},
  };
  for (const auto& [name, content, problem] : cases) {
    INFO(name);
    const auto path = scratch.write(name, content);
    const std::string data = "tokenizer: byte, classes: [no, yes], data: {train: " + kept(path);
    CHECK(contains(refusal(data + "}"), path.string() + ": " + problem));
    const auto task = written(data + ", on_bad_line: skip}");
    CHECK(all_batches(*task, Split::train, 64)[0].ids.size(0) == 2);
    const std::string told = task->summary().back();
    CHECK(contains(told, "1 line left out"));
    CHECK(contains(told, problem));
  }
}

TEST_CASE("text classification: what is judged has a class, or the run ends, whatever becomes of bad lines", "[unit]") {
  const Scratch scratch;
  const auto train = scratch.write("train.tsv", "x\tyes\ny\tno\n");
  const auto judged = scratch.write("judged.tsv", "x\tyes\nz\tperhaps\n");
  for (const std::string split : {"validation", "test"})
    CHECK(contains(refusal("tokenizer: byte, data: {train: " + kept(train) + ", " + split + ": " + kept(judged) +
                           ", on_bad_line: skip}"),
                   judged.string() + ": line 2: there is no class 'perhaps'"));
  const auto all = scratch.write("all.tsv", "x\tyes\ny\tno\nz\tperhaps\n");
  CHECK(contains(refusal("tokenizer: byte, classes: [no, yes], data: {train: " + kept(all) +
                         ", on_bad_line: skip}, split: {kind: number, modulus: 3, test: [2]}"),
                 all.string() + ": line 3: there is no class 'perhaps'"));
}

TEST_CASE("text classification: whole files that cannot be used are refused, whatever becomes of bad lines", "[unit]") {
  const Scratch scratch;
  const auto good = scratch.write("good.tsv", "x\tyes\ny\tno\n");
  const struct {
    std::string name, content, problem;
  } cases[] = {
      {"empty.tsv", "", "is empty"},
      {"utf16.tsv", std::string("\xFF\xFEx\0\t\0a\0\n\0", 10), "UTF-16"},
      {"latin.tsv", "x\tyes\n\xE9t\xE9\tno\n", "line 2: byte 0xE9"},
      {"bad.tsv", "only text\nmore text\n", "there is no column '2'"},
      {"one.tsv", "x\tyes\ny\tyes\n", "the training split has no example of class no"},
      {"what.dat", "x\tyes\n", "what it is cannot be told by its name"},
  };
  for (const auto& [name, content, problem] : cases) {
    INFO(name);
    const auto path = scratch.write(name, content);
    CHECK(contains(refusal("tokenizer: byte, classes: [no, yes], data: {on_bad_line: skip, train: " + kept(path) + "}"),
                   problem));
  }
  CHECK(
      contains(refusal("tokenizer: byte, data: {train: " + kept(scratch.path()) + "}"), "cannot be told by its name"));
  CHECK(contains(refusal("tokenizer: byte, data: {format: tsv, train: " + kept(scratch.path()) + "}"),
                 scratch.path().string()));
  CHECK(contains(refusal("tokenizer: byte, data: {train: " + kept(scratch / "none.tsv") + "}"), "none.tsv"));
  CHECK(contains(refusal("tokenizer: byte, data: {header: true, text: txt, train: " + kept(good) + "}"),
                 "there is no column 'txt'"));
  CHECK(contains(refusal("tokenizer: char, data: {train: " + kept(good) +
                         ", test: " + kept(scratch.write("test.tsv", "x\tyes\nq\tno\n")) + "}"),
                 "test.tsv: line 2: unknown character 'q'"));
}

TEST_CASE("text classification: odd but lawful files are read as they are", "[unit]") {
  const Scratch scratch;
  const struct {
    std::string name, content;
  } cases[] = {
      {"end.tsv", "x\tyes\ny\tno"},
      {"crlf.tsv", "x\tyes\r\ny\tno\r\n"},
      {"mark.tsv", "\xEF\xBB\xBFx\tyes\ny\tno\n"},
      {"breaks.tsv", "x\xE2\x80\xA8z\tyes\ny\x0B\x0Cz\xC2\x85\tno\n"},  // U+2028, VT, FF, U+0085 end no line
      {"cr.tsv", "x\rz\tyes\ny\tno\n"},
      {"nul.tsv", std::string("x\0z\tyes\ny\tno\n", 13)},
      {"twice.tsv", "x\tyes\nx\tyes\ny\tno\n"},
  };
  for (const auto& [name, content] : cases) {
    INFO(name);
    const auto task = written("tokenizer: byte, data: {train: " + kept(scratch.write(name, content)) + "}");
    const Batch batch = all_batches(*task, Split::train, 64)[0];
    CHECK(batch.ids.size(0) == (name == "twice.tsv" ? 3 : 2));
    CHECK(targets_of(batch).front() == 1);
    CHECK(targets_of(batch).back() == 0);
    CHECK(row_ids(batch, 0).front() == 'x');
  }
}

TEST_CASE("text classification: a header that was taken for an example is noticed", "[unit]") {
  const Scratch scratch;
  const auto path = scratch.write("a.csv", "text,label\nx,yes\ny,no\nz,no\nu,yes\n");
  const std::string said = refusal("tokenizer: byte, data: {train: " + kept(path) + "}");
  CHECK(contains(said, "a.csv: line 1: 'label' is the label of this line alone"));
  CHECK(contains(said, "task.data.header: true"));
  const auto two = scratch.write("b.csv", "x,yes\ny,no\nz,no\n");
  CHECK_NOTHROW(written("tokenizer: byte, data: {train: " + kept(two) + "}")->summary());
}

TEST_CASE("text classification: of held-out texts it is told which training has, too, and how many words it lacks",
          "[unit]") {
  const Scratch scratch;
  const auto train = scratch.write("a.tsv", "x\tyes\ny\tno\n"), test = scratch.write("b.tsv", "y\tno\nz\tno\n");
  const auto task = written("tokenizer: byte, data: {train: " + kept(train) + ", test: " + kept(test) + "}");
  CHECK(contains(task->summary()[2], "test: 2 examples"));
  CHECK(contains(task->summary()[2], "the text of 1 is among those of train"));
  const auto words = written("tokenizer: word, data: {train: " + kept(train) + ", test: " + kept(test) + "}");
  CHECK(contains(words->summary()[2], "50.0 % of the tokens stand for unknown words"));
  CHECK_FALSE(contains(words->summary()[1], "unknown"));
}

TEST_CASE("text classification: settings that cannot hold together are refused", "[unit]") {
  const struct {
    std::string yaml, said;
  } cases[] = {
      {"tokenizer: byte, data: {}", "give exactly one of task.data.train"},
      {"tokenizer: byte, data: {train: a.tsv, by_class: [{class: a, files: b}]}", "(found: 2)"},
      {"tokenizer: byte, data: {generate: {}, header: true}", "leave them out"},
      {"tokenizer: byte, data: {generate: {}, test: a.tsv}", "of its own"},
      {"tokenizer: byte, data: {train: a.jsonl, format: jsonl, header: true}", "task.data.header is of tables"},
      {"tokenizer: byte, data: {train: a.tsv}, classes: [a, b], classes_file: c", "give one"},
      {"tokenizer: byte, data: {train: a.tsv}, labels: multi, only_single: true", "task.only_single leaves them out"},
      {"tokenizer: byte, data: {generate: {}}, labels: multi", "task.labels: multi needs"},
      {"tokenizer: byte, data: {generate: {}}, only_single: true", "task.only_single"},
      {"tokenizer: byte, data: {generate: {}}, split: {kind: tail, test: 5}", "task.split divides files"},
      {"tokenizer: byte, data: {train: a.tsv, test: b.tsv}, split: {kind: tail, test: 5}",
       "task.data.test gives files"},
  };
  for (const auto& [yaml, said] : cases) {
    INFO(yaml);
    CHECK(contains(contradiction(yaml), said));
  }
}

TEST_CASE("text classification: an evaluation is the same for batches of 1, 7 and 64, whatever reads the rows",
          "[unit]") {
  const auto task = written("tokenizer: word, data: {generate: {sentences: 40, held_out: 70}}");
  for (const std::string model : {"{kind: encoder, dim: 16, layers: 1, attention: {heads: 2}, position: rope}",
                                  "{kind: lstm, dim: 16, layers: 1, bidirectional: true, pool: max}",
                                  "{kind: cnn, dim: 16, layers: 0, causal: false}"}) {
    WrittenModel read;
    load_config_text("model: " + model, walk_of(read), {.name = "test.yaml"});
    const auto reader = models().build(read.model, task->complete({.max_length = 16, .seed = 1}));
    reader->eval();
    const auto judged = [&](int64_t size) {
      return task->evaluate(*reader, {.split = Split::test, .batch_size = size, .length = 16, .training = false});
    };
    const Evaluation by_one = judged(1);
    for (const int64_t size : {7, 64}) {
      INFO(model << " at batch size " << size);
      const Evaluation many = judged(size);
      CHECK(std::abs(many.metrics.at("loss") - by_one.metrics.at("loss")) < 1e-6);
      CHECK(many.outcomes.accuracy == by_one.outcomes.accuracy);
    }
  }
}

TEST_CASE("text classification: made sentences are a function of seed and split, and their classes are learnable",
          "[unit]") {
  const std::string made = "tokenizer: word, data: {generate: {sentences: 40, held_out: 10}}";
  const auto task = written(made);
  CHECK(task->fingerprint() == written(made)->fingerprint());
  CHECK(task->fingerprint() != written(made, 2)->fingerprint());
  CHECK(task->draws_examples());
  CHECK(all_batches(*task, Split::test, 12)[0].ids.size(0) == 10);
  CHECK(dynamic_cast<const ClassTask*>(task.get())->classes() == std::vector<std::string>{"animal", "person"});
}

}  // namespace ordo::test
