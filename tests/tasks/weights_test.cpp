// SPDX-License-Identifier: Apache-2.0
// task.data.weights: each task that reads lists of files mixes them.
#include "support/catch.h"

#include <ATen/TensorOperators.h>

#include <algorithm>

#include "ordo/config/config.h"
#include "ordo/tasks/task.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

struct WeightedTask {
  Choice<Task> task{"language_modeling"};
};
void fields(Fields& f, WeightedTask& c) { f("task", c.task, "the task"); }

std::shared_ptr<Task> built(const std::string& yaml) {
  WeightedTask read;
  load_config_text("task: {" + yaml + "}", walk_of(read), {.name = "test.yaml"});
  return tasks().build(read.task, {.seed = 1, .causal = yaml.find("masked") == std::string::npos});
}

std::string repeated(int64_t count, const std::string& line) {
  std::string text;
  for (int64_t i = 0; i < count; ++i) text += line;
  return text;
}

// A file of a's and a file of b's make five times as many rows of b's as of a's: `count` and `5 count`.
struct Mixed {
  std::string kind, options;
  std::string of_a, of_b;
  std::string train = "train: [FEW, MANY]";
};
std::vector<Mixed> all_mixed() {
  const auto lines = [](const std::string& kind, const std::string& options, const std::string& line) {
    std::string other = line;
    std::replace(other.begin(), other.end(), 'a', 'b');
    return Mixed{kind, options, repeated(12, line), repeated(60, other)};
  };
  // Windows of four, and one token that is asked for behind the last.
  const std::string a(12 * 4 + 1, 'a'), b(60 * 4 + 1, 'b');
  std::vector<Mixed> all{{"language_modeling", "tokenizer: byte, sampling: packed", a, b},
                         {"language_modeling", "tokenizer: byte, sampling: random", a, b},
                         {"masked_language_modeling", "tokenizer: byte, masked: 0, random: 0", a, b},
                         {"span_corruption", "tokenizer: byte, share: 0.2, sentinels: 4", a, b},
                         lines("text_classification", "tokenizer: byte", "a\tX\na\tY\n"),
                         lines("token_classification", "tokenizer: byte", "a X\na Y\n\n"),
                         lines("translation", "tokenizer: byte", "a\ta\n"),
                         lines("translation", "tokenizer: byte", "a\n"),
                         lines("dialogue", "tokenizer: byte, answer_tokens: 4",
                               R"({"turns": [{"role": "user", "text": "a"}, {"role": "system", "text": "a"}]})"
                               "\n")};
  all[6].train = "train: {files: [FEW, MANY]}";
  all[7].train = "train: {source: [FEW, MANY], target: [FEW2, MANY2]}";
  return all;
}

std::string with_files(const Scratch& scratch, const Mixed& mixed) {
  const std::string ending = mixed.kind == "dialogue" ? ".jsonl" : ".txt";
  std::string yaml = "kind: " + mixed.kind + ", " + mixed.options + ", data: {" + mixed.train;
  for (const auto& [name, text] : {std::pair{"FEW2", mixed.of_a}, std::pair{"MANY2", mixed.of_b},
                                   std::pair{"FEW", mixed.of_a}, std::pair{"MANY", mixed.of_b}})
    if (const size_t at = yaml.find(name); at != std::string::npos)
      yaml.replace(at, std::string_view(name).size(), scratch.write(name + ending, text).string());
  return yaml;
}

int64_t train_length(const Mixed& mixed) {
  return mixed.kind.find("modeling") != std::string::npos || mixed.kind == "span_corruption" ? 4 : 16;
}

// Of an epoch: rows with an a, and all.
std::pair<int64_t, int64_t> rows_of_epoch(BatchStream& stream) {
  std::pair<int64_t, int64_t> rows;
  for (const int64_t epoch = stream.epoch(); stream.epoch() == epoch;) {
    const Batch batch = *stream.next();
    const Tensor& ids = batch.source.ids.defined() ? batch.source.ids : batch.ids;
    rows.first += ids.eq(int64_t{'a'}).any(1).sum().item<int64_t>();
    rows.second += ids.size(0);
  }
  return rows;
}

}  // namespace

TEST_CASE("weights: rows come in the given proportions, whatever the sizes of the files, in every task", "[unit]") {
  for (const auto& mixed : all_mixed()) {
    const Scratch scratch;
    const std::string yaml = with_files(scratch, mixed);
    const int64_t length = train_length(mixed);
    INFO(yaml);
    const int64_t all = mixed.kind == "text_classification" ? 144 : 72;
    const auto unweighted = built(yaml + "}");
    const auto plain = unweighted->open({.batch_size = 4, .length = length, .seed = 3});
    const auto shares = rows_of_epoch(*plain);
    CHECK(shares.second >= all);
    if (mixed.options.find("random") == std::string::npos || mixed.kind != "language_modeling")
      CHECK(shares.first <= all / 6 + 1);
    const auto task = built(yaml + ", weights: [3, 1]}");
    const auto stream = task->open({.batch_size = 4, .length = length, .seed = 3});
    for (int epoch = 0; epoch < 3; ++epoch) CHECK(rows_of_epoch(*stream) == std::pair{all * 3 / 4, all});
  }
}

TEST_CASE("weights: a summary tells of each part what becomes of it, and a fingerprint which weights they are",
          "[unit]") {
  for (const auto& mixed : all_mixed()) {
    const Scratch scratch;
    const std::string yaml = with_files(scratch, mixed);
    INFO(yaml);
    const auto task = built(yaml + ", weights: [3, 1]}");
    int told = 0;
    for (const auto& line : task->summary()) {
      if (contains(line, "FEW") && contains(line, ", weight 3: 7")) ++told;
      if (contains(line, "MANY") && contains(line, ", weight 1: 2")) ++told;
    }
    CHECK(told == 2);
    CHECK(task->fingerprint() == built(yaml + ", weights: [3, 1]}")->fingerprint());
    CHECK(task->fingerprint() != built(yaml + ", weights: [1, 1]}")->fingerprint());
    CHECK(task->fingerprint() != built(yaml + "}")->fingerprint());
  }
}

TEST_CASE("weights: one for each entry, of files alone, in every task", "[unit]") {
  for (const auto& mixed : all_mixed()) {
    const Scratch scratch;
    const std::string yaml = with_files(scratch, mixed);
    INFO(yaml);
    CHECK(contains(thrown<ConfigError>([&] { built(yaml + ", weights: [1, 2, 3]}"); }),
                   "task.data.weights are 3, and task.data.train names 2 files or patterns"));
    CHECK(contains(thrown<ConfigError>([&] { built(yaml + ", weights: [1, 0]}"); }), "weights"));
  }
  for (const auto* made :
       {"kind: language_modeling, tokenizer: byte, data: {generate: {kind: chase, sentences: 2, held_out: 1}",
        "kind: text_classification, tokenizer: byte, data: {generate: {sentences: 2, held_out: 2}",
        "kind: text_classification, tokenizer: byte, data: {by_class: [{class: a, files: x}, {class: b, files: y}]",
        "kind: token_classification, tokenizer: byte, data: {generate: {sentences: 2, held_out: 2}",
        "kind: dialogue, tokenizer: byte, answer_tokens: 4, data: {generate: {dialogues: 2, held_out: 1, exchanges: "
        "2}"})
    CHECK(contains(thrown<ConfigError>([&] { built(std::string(made) + ", weights: [1, 1]}"); }),
                   "task.data.weights are of the files of task.data.train, and there are none"));
}

TEST_CASE("weights: with a rule that divides the files, they are of what training has of each", "[unit]") {
  const Scratch scratch;
  const Mixed mixed{"text_classification", "tokenizer: byte, split: {kind: number, modulus: 3, test: [0]}",
                    repeated(12, "a\tX\na\tY\na\tX\n"), repeated(60, "b\tX\nb\tY\nb\tX\n")};
  const auto task = built(with_files(scratch, mixed) + ", weights: [1, 1]}");
  const auto stream = task->open({.batch_size = 4, .length = 16, .seed = 3});
  CHECK(rows_of_epoch(*stream) == std::pair<int64_t, int64_t>{72, 144});
}

}  // namespace ordo::test
