// SPDX-License-Identifier: Apache-2.0
// ordo tokenizer: the reference's ids through the program, vocabularies trained and used, and a run that keeps its own.
#include "support/catch.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "support/program.h"

namespace ordo::test {
namespace {

const fs::path kGoldens = fs::path(ORDO_SOURCE_DIR) / "tests/goldens/tokenizers";
constexpr std::string_view kText =
    "the cat chases the mouse .\nthe mouse was chased by a cat .\nthe old dog sees nobody else .\n";

std::vector<Json> json_lines(const std::string& text) {
  std::vector<Json> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(parse_json(line, "line"));
  return all;
}

Outcome tokenizer(Arguments words, const std::string& input = "") {
  words.insert(words.begin(), "tokenizer");
  return run_ordo(words, {.input = input});
}

}  // namespace

TEST_CASE("tokenizer encode prints the reference's ids and text for each line", "[cli]") {
  for (const char* name : {"bbpe_gpt2", "wordpiece", "spm_unigram", "spm_bpe_llama"}) {
    CAPTURE(name);
    std::vector<Json> rows;
    std::string input;
    for (Json& row : json_lines(read_file(kGoldens / name / "golden.jsonl"))) {
      if (row.contains("pair")) continue;
      input += json_line(row["text"]) + "\n";
      rows.push_back(std::move(row));
    }
    const Outcome outcome = tokenizer({"encode", "--tokenizer", (kGoldens / name).string(), "--jsonl"}, input);
    REQUIRE(outcome.code == 0);
    const auto lines = json_lines(outcome.out);
    REQUIRE(lines.size() == rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      CHECK(lines[i]["ids"] == rows[i]["ids"]);
      CHECK(lines[i]["text"] == rows[i]["decoded"]);
    }
  }
}

TEST_CASE("tokenizer encode --special adds special tokens, and takes pairs", "[cli]") {
  const Outcome outcome =
      tokenizer({"encode", "-t", (kGoldens / "wordpiece/tokenizer.json").string(), "--jsonl", "--special"},
                "\"a\"\n[\"The small model\", \"in 1987\"]\n");
  REQUIRE(outcome.code == 0);
  const auto lines = json_lines(outcome.out);
  CHECK(lines.at(0)["ids"] == Json({2, 39, 3}));
  CHECK(lines.at(0)["text"] == "[CLS] a [SEP]");
  CHECK(lines.at(1)["ids"] == Json({2, 277, 541, 406, 3, 335, 365, 3}));
  CHECK(lines.at(1)["types"] == Json({0, 0, 0, 0, 0, 1, 1, 1}));
}

TEST_CASE("a tokenizer.json that cuts and fills texts says that this is not done", "[cli]") {
  const Scratch scratch;
  Json file = parse_json(read_file(kGoldens / "wordpiece/tokenizer.json"), "tokenizer.json");
  const std::string path = scratch.write("plain.json", json_text(file)).string();
  CHECK(tokenizer({"encode", "-t", path}, "the small model\n").err.empty());
  file["truncation"] = {{"max_length", 1}, {"strategy", "LongestFirst"}, {"stride", 0}};
  const std::string cuts = scratch.write("cuts.json", json_text(file)).string();
  const Outcome outcome = tokenizer({"encode", "-t", cuts}, "the small model\n");
  CHECK(outcome.err.find("cuts.json: its `truncation` is not applied") != std::string::npos);
  CHECK(json_lines(outcome.out).at(0)["ids"].size() == 3);
}

TEST_CASE("tokenizer decode reads what encode prints, arrays and plain numbers", "[cli]") {
  const std::string words = (kGoldens / "wordpiece").string();
  const Outcome outcome =
      tokenizer({"decode", "-t", words, "--skip-special"}, "{\"ids\": [2, 39, 3], \"text\": \"x\"}\n[39]\n39 39\n\n");
  CHECK(outcome.code == 0);
  CHECK(outcome.out == "a\na\na a\n\n");
  CHECK(tokenizer({"decode", "-t", words, "--jsonl"}, "[2, 39]").out == "\"[CLS] a\"\n");
}

TEST_CASE("tokenizer train makes vocabularies that encode and decode their text", "[cli]") {
  const Scratch scratch;
  const std::string text = scratch.write("text.txt", std::string(kText)).string();
  const std::vector<Arguments> trainings{
      {"-o", (scratch / "u.model").string(), "--vocab-size", "26"},
      {"-o", (scratch / "b.model").string(), "--vocab-size", "60", "--algorithm", "bpe"},
      {"-o", (scratch / "w.txt").string(), "--kind", "word"},
      {"-o", (scratch / "h.json").string(), "--kind", "hf", "--vocab-size", "280", "--symbol", "<end>"}};
  for (const auto& training : trainings) {
    Arguments words{"train", text};
    words.insert(words.end(), training.begin(), training.end());
    const Outcome made = tokenizer(words);
    CAPTURE(training[1], made.err);
    REQUIRE(made.code == 0);
    CHECK(made.out.find("tokens") != std::string::npos);
    const Outcome encoded = tokenizer({"encode", "-t", training[1], text});
    REQUIRE(encoded.code == 0);
    CHECK(tokenizer({"decode", "-t", training[1]}, encoded.out).out == kText);
  }
}

TEST_CASE("tokenizer: wrong words and wrong input end in one line that says where and what", "[cli]") {
  const Scratch scratch;
  const std::string text = scratch.write("text.txt", std::string(kText)).string();
  const std::string good = (kGoldens / "wordpiece").string();
  struct Misuse {
    Arguments words;
    std::string input;
    int code;
    std::string told;
  };
  const std::vector<Misuse> misuses{
      {{"encdoe"}, "", 2, "did you mean 'encode'"},
      {{"encode"}, "", 2, "--tokenizer is missing"},
      {{"encode", "-t", "nowhere"}, "", 3, "nowhere"},
      {{"encode", "-t", text + "x"}, "", 3, "no such file"},
      {{"encode", "-t", scratch.write("tokenizer.json", "{\"model\": {\"type\": \"X\"}}").string()},
       "",
       3,
       "model.type"},
      {{"encode", "-t", scratch.write("t.model", "nothing").string()}, "", 3, "SentencePiece"},
      {{"encode", "-t", good, "nowhere.txt"}, "", 3, "nowhere.txt"},
      {{"encode", "-t", good}, "a\n\xFF\n", 3, "standard input: line 2"},
      {{"encode", "-t", good, "--jsonl"}, "\"a\"\n[1]\n", 3, "line 2: expected a JSON string"},
      {{"encode", "-t", good, "--jsonl"}, "\"a\"\n\"b\n", 3, "line 2"},
      {{"decode", "-t", good}, "1 x\n", 3, "line 1: a token id"},
      {{"decode", "-t", good}, "[1, 5000000]\n", 3, "5000000"},
      {{"decode", "-t", good}, "[1, \"a\"]\n", 3, "whole numbers"},
      {{"train", text}, "", 2, "--output is missing"},
      {{"train", text, "-o", "x.json"}, "", 2, ".model"},
      {{"train", text, "-o", "x.model", "--at-least", "2"}, "", 2, "--at-least"},
      {{"train", text, "-o", "x.json", "--kind", "hf", "--vocab-size", "200"}, "", 2, "at least 256"},
      {{"train", text, "-o", "x.txt", "--kind", "word", "--algorithm", "bpe"}, "", 2, "--algorithm"},
      {{"train", text, "-o", (scratch / "x.model").string()}, "", 2, "Vocabulary size too high"},
      {{"train", "nowhere.txt", "-o", "x.model"}, "", 3, "nowhere.txt"}};
  for (const auto& misuse : misuses) {
    const Outcome outcome = tokenizer(misuse.words, misuse.input);
    INFO(misuse.told << "\n" << outcome.out << outcome.err);
    CHECK(outcome.code == misuse.code);
    CHECK(outcome.err.find(misuse.told) != std::string::npos);
  }
}

TEST_CASE("a run keeps its tokenizer: it is used when the file it came from is gone", "[cli]") {
  const Scratch scratch;
  const fs::path file = scratch.write("tok/tokenizer.json", read_file(kGoldens / "bbpe_gpt2/tokenizer.json"));
  scratch.write("text.txt", std::string(kText) + std::string(kText));
  const fs::path config = scratch.write("lm.yaml", R"(name: lm
task: {kind: language_modeling, tokenizer: {kind: hf, file: tok/tokenizer.json}, data: {train: text.txt}}
model: {kind: decoder, dim: 16, layers: 1, attention: {heads: 2}, position: rope}
train: {steps: 2, batch_size: 2, length: 8, schedule: constant}
)");
  const std::string run = (scratch / "run").string();
  const Outcome trained = run_ordo({"train", config.string(), "--run", run, "device=cpu"});
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  const std::string before = tokenizer({"encode", "-t", file.string()}, "the cat\n").out;
  fs::remove_all(scratch / "tok");
  CHECK(tokenizer({"encode", "-t", run}, "the cat\n").out == before);
  const Outcome written = run_ordo({"generate", run, "--prompt", "the cat", "--max-new-tokens", "4"});
  INFO(written.err);
  CHECK(written.code == 0);
  CHECK(written.out.starts_with("the cat"));
  CHECK(run_ordo({"eval", run, "--split", "train"}).code == 0);
  const Arguments longer{"train", config.string(), "--run", run, "device=cpu", "train.steps=3"};
  const Outcome resumed = run_ordo(longer);
  INFO(resumed.err);
  CHECK(resumed.code == 0);
  scratch.write("tok/tokenizer.json", read_file(kGoldens / "wordpiece/tokenizer.json"));
  const Outcome refused = run_ordo(longer);
  CHECK(refused.code == 2);
  CHECK(refused.err.find("another tokenizer") != std::string::npos);
}

TEST_CASE("of a run whose sources and targets have a tokenizer each, one is asked for by its side", "[cli]") {
  const Scratch scratch;
  scratch.write("pairs.tsv", "the cat\tdie Katze\nthe dog\tder Hund\n");
  const fs::path config = scratch.write("two.yaml", R"(name: two
task:
  kind: translation
  source_tokenizer: word
  target_tokenizer: char
  data: {train: {files: pairs.tsv}}
model: {kind: encoder_decoder, dim: 8, layers: 1, attention: {heads: 2}, position: rope}
train: {steps: 1, batch_size: 2, length: 16, schedule: constant}
)");
  const std::string run = (scratch / "run").string();
  const Outcome trained = run_ordo({"train", config.string(), "--run", run, "--quiet", "device=cpu"});
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  CHECK(json_lines(tokenizer({"encode", "-t", run, "--side", "source"}, "the cat\n").out).at(0)["ids"].size() == 2);
  CHECK(json_lines(tokenizer({"encode", "-t", run, "--side", "target"}, "die\n").out).at(0)["ids"].size() == 3);
  CHECK(tokenizer({"decode", "-t", run, "--side", "target"},
                  tokenizer({"encode", "-t", run, "--side", "target"}, "die\n").out)
            .out == "die\n");
  const Outcome unsaid = tokenizer({"encode", "-t", run}, "the cat\n");
  CHECK(unsaid.code == 2);
  CHECK(unsaid.err.find("--side source or --side target") != std::string::npos);
  CHECK(tokenizer({"encode", "-t", "byte", "--side", "source"}, "a\n").code == 2);
}

}  // namespace ordo::test
