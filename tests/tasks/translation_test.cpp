// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/ops/equal.h>

#include <nlohmann/json.hpp>

#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "ordo/data/split_rules.h"
#include "ordo/data/word_tokenizer.h"
#include "ordo/models/encoder_decoder.h"
#include "ordo/tasks/text_writer.h"
#include "ordo/tasks/translation.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

// 60 pairs "a b … -> B A …" of two to nine words; every tenth is test, the next one validation.
std::string reversed_pairs() {
  const std::string low = "abcdefgh", high = "ABCDEFGH";
  std::string text;
  for (size_t i = 0; i < 60; ++i) {
    std::string source, target;
    for (size_t j = 0; j < 2 + i % 8; ++j) {
      const size_t letter = (i * 5 + j * j) % 8;
      source += std::string(j > 0 ? " " : "") + low[letter];
      target.insert(0, std::string(1, high[letter]) + (j > 0 ? " " : ""));
    }
    text += source + "\t" + target + "\n";
  }
  return text;
}

Choice<Tokenizer> words() {
  Choice<Tokenizer> choice("word");
  choice.config = std::make_shared<WordTokenizer::Config>();
  return choice;
}

Translation::Config config_of(const fs::path& file, bool shared) {
  Translation::Config config;
  if (shared) config.tokenizer = words();
  if (!shared) config.source_tokenizer = config.target_tokenizer = words();
  config.data.train.files = {file};
  config.split.emplace("number");
  auto rule = std::make_shared<NumberSplit::Config>();
  rule->modulus = 10;
  rule->test = {0};
  rule->validation = {1};
  config.split->config = rule;
  config.written.beam = 2;
  return config;
}

fs::path pair_file(const Scratch& scratch) {
  write_file(scratch / "pairs.tsv", reversed_pairs());
  return scratch / "pairs.tsv";
}

const TaskFacts kWrites{.seed = 1, .causal = true, .reads_source = true};

std::shared_ptr<EncoderDecoder> small_pair(const Task& task) {
  EncoderDecoder::Config config;
  config.dim = 16;
  config.layers = 1;
  config.attention.heads = 2;
  config.position = {Choice<PositionEncoding>("sinusoidal")};
  config.init.std = 0.3;
  auto model = std::make_shared<EncoderDecoder>(config, task.complete({.max_length = 64, .seed = 1}));
  model->eval();
  return model;
}

}  // namespace

TEST_CASE("translation: batches of like lengths, the source for the encoder, the target behind a mark", "[unit]") {
  const Scratch scratch;
  const Translation task(config_of(pair_file(scratch), /*shared=*/true), kWrites);
  const auto stream = task.open({.split = Split::train, .batch_size = 4, .length = 16, .seed = 1});
  const Batch batch = *stream->next();
  CHECK(batch.source.ids.size(0) == 4);
  const auto by_tokens =
      task.open({.split = Split::train, .batch_size = 1, .length = 16, .batch_tokens = 24, .seed = 1});
  for (int i = 0; i < 20; ++i) {
    const Batch some = *by_tokens->next();
    const Tensor lengths = some.targets.ne(kIgnore).sum(1);
    CHECK(lengths.max().item<int64_t>() - lengths.min().item<int64_t>() <= 1);
    CHECK(some.source.ids.numel() <= 24);
  }
  CHECK(batch.ids.size(1) == batch.targets.size(1));
  const int64_t end = task.tokenizer()->vocab_size();
  CHECK(batch.targets.eq(end).sum().item<int64_t>() == 4);
  CHECK(contains(batch.examples.at(0), "pairs.tsv: line "));
  const ModelFacts facts = task.complete({.max_length = 16});
  CHECK(facts.vocab_size == end + 1 + 5);
  CHECK(facts.source_vocab_size == 0);
}

TEST_CASE("translation: pairs longer than the length are left out, and an evaluation says how many", "[unit]") {
  const Scratch scratch;
  const Translation task(config_of(pair_file(scratch), /*shared=*/true), kWrites);
  const auto model = small_pair(task);
  const Evaluation made =
      task.evaluate(*model, {.split = Split::test, .batch_size = 4, .length = 5, .training = false});
  REQUIRE(made.notes.size() == 1);
  CHECK(contains(made.notes[0], "of 6 pairs have more than 5 tokens on a side"));
  CHECK(contains(task.refuses_length(Split::test, 1).value_or(""), "no pair of at most 1 tokens"));
  const auto said = task.left_out(5);
  REQUIRE(said.size() == 3);
  CHECK(contains(said[0], "train: 24 of 48 pairs have more than 5 tokens on a side and are left out"));
  CHECK(contains(said[2], "left out at that length"));
  CHECK(task.left_out(9).empty());
}

TEST_CASE("translation: too_long: stop ends the run for a pair that is longer, with its place", "[unit]") {
  const Scratch scratch;
  Translation::Config config = config_of(pair_file(scratch), /*shared=*/true);
  config.too_long = LongPairs::stop;
  const Translation task(config, kWrites);
  const std::string said = task.refuses_length(Split::train, 8).value_or("");
  CHECK(contains(said, "the longest pair of the train split has 9 tokens on a side"));
  CHECK(contains(said, "pairs.tsv: line "));
  CHECK_FALSE(task.refuses_length(Split::train, 9));
}

TEST_CASE("translation: words that the targets' vocabulary lacks are never right, and are told", "[unit]") {
  const Scratch scratch;
  write_file(scratch / "new.tsv", "a b\tB new\n");
  Translation::Config config = config_of(pair_file(scratch), /*shared=*/true);
  config.split = {};
  config.data.test.files = {scratch / "new.tsv"};
  const Translation task(config, kWrites);
  CHECK(task.never_right() == task.tokenizer()->find("<unk>"));
  CHECK(contains(task.summary().at(2), "33.3 % of the tokens stand for unknown words in targets"));
}

TEST_CASE("translation: an evaluation with details writes and judges whole texts, the same at any batch size",
          "[unit]") {
  const Scratch scratch;
  for (const bool shared : {true, false}) {
    CAPTURE(shared);
    const Translation task(config_of(pair_file(scratch), shared), kWrites);
    const auto model = small_pair(task);
    std::optional<Evaluation> first;
    for (const int64_t rows : {1, 7, 64}) {
      const Evaluation made = task.evaluate(
          *model, {.split = Split::test, .batch_size = rows, .length = 16, .training = false, .details = true});
      REQUIRE(made.metrics.contains("bleu"));
      REQUIRE(made.metrics.contains("chrf"));
      CHECK(made.rows.size() == 6);
      if (!first) first = made;
      CHECK(made.metrics.at("loss") == Approx(first->metrics.at("loss")).epsilon(1e-6));
      CHECK(made.metrics.at("chrf") == first->metrics.at("chrf"));
      CHECK(made.rows == first->rows);
    }
    const Json row = parse_json(first->rows[0], "a row");
    for (const char* key : {"source", "reference", "written", "from", "bleu"}) CHECK(row.contains(key));
    CHECK_FALSE(row.contains("likeliest"));
    CHECK(first->intervals.contains("loss"));
    const Evaluation plain =
        task.evaluate(*model, {.split = Split::test, .batch_size = 4, .length = 16, .training = false});
    CHECK_FALSE(plain.metrics.contains("bleu"));
    CHECK(
        plain.metrics.at("loss") ==
        task.evaluate(*model, {.split = Split::test, .batch_size = 4, .length = 16, .training = false, .details = true})
            .metrics.at("loss"));
  }
}

TEST_CASE("translation: where nothing is written, the pieces of the references are told", "[unit]") {
  const Scratch scratch;
  Translation::Config config = config_of(pair_file(scratch), /*shared=*/true);
  config.written.metrics.clear();
  const Translation task(config, kWrites);
  const Evaluation made = task.evaluate(
      *small_pair(task), {.split = Split::test, .batch_size = 4, .length = 16, .training = false, .details = true});
  REQUIRE(made.rows.size() == 6);
  const Json row = parse_json(made.rows[0], "a row");
  CHECK(contains(row["from"].get<std::string>(), "pairs.tsv: line "));
  CHECK(contains(row["asked"].get<std::string>(), "<end>"));
  CHECK(row.contains("likeliest"));
}

TEST_CASE("translation: vocabularies of their own give the source an embedding of its own, and are kept together",
          "[unit]") {
  const Scratch scratch;
  const Translation task(config_of(pair_file(scratch), /*shared=*/false), kWrites);
  const ModelFacts facts = task.complete({.max_length = 16});
  CHECK(facts.source_vocab_size > 0);
  const auto model = small_pair(task);
  CHECK(model->named_parameters()["source_embedding.weight"].size(0) == facts.source_vocab_size);
  task.tokenizer()->save(scratch / "kept");
  TaskFacts again = kWrites;
  again.saved_tokenizer = scratch / "kept";
  const Translation reopened(config_of(pair_file(scratch), /*shared=*/false), again);
  CHECK(reopened.tokenizer()->fingerprint() == task.tokenizer()->fingerprint());
  CHECK(reopened.fingerprint() == task.fingerprint());
  const auto writer = task.writer();
  const Prompt prompt = writer->prompt("a b c");
  CHECK(prompt.source.size() == 3);
  CHECK(writer->text(std::vector<int64_t>{prompt.source[0]}).size() == 1);
}

TEST_CASE("translation: two halves of a batch are together the whole, with label smoothing and unequal lengths",
          "[unit]") {
  const Scratch scratch;
  const Translation task(config_of(pair_file(scratch), /*shared=*/true), kWrites);
  const auto model = small_pair(task);
  const auto read = [&](int64_t rows) {
    return task.open({.split = Split::test, .batch_size = rows, .length = 16, .training = false});
  };
  const LossOptions options{.smoothing = 0.1, .scale = 0.25};
  const Loss whole = task.loss(*model, *read(6)->next(), options);
  double sum = 0.0, weight = 0.0;
  const auto halves = read(3);
  while (const auto half = halves->next()) {
    const Loss part = task.loss(*model, *half, options);
    sum += part.sum.item<double>();
    weight += part.weight;
  }
  CHECK(weight == whole.weight);
  CHECK(sum == Approx(whole.sum.item<double>()).epsilon(1e-6));
}

TEST_CASE("translation: contradictions are told before anything is read", "[unit]") {
  Translation::Config config = config_of("nowhere.tsv", true);
  const auto told = [&] { return thrown<ConfigError>([&] { Translation(config, kWrites); }); };
  config.source_tokenizer = words();
  CHECK(contains(told(), "task.source_tokenizer"));
  config = config_of("nowhere.tsv", true);
  config.data.test.files = {"test.tsv"};
  CHECK(contains(told(), "task.split takes the test split"));
  config.tokenizer.reset();
  CHECK(contains(told(), "task.tokenizer is missing"));
}

TEST_CASE("translation: tasks of one config share what was read", "[unit]") {
  const Scratch scratch;
  const fs::path file = pair_file(scratch);
  const auto tokens = [&] { return Translation(config_of(file, true), kWrites).tokenizer()->vocab_size(); };
  const auto before = tokens();
  const auto time = fs::last_write_time(file);
  std::string text = read_file(file);
  text.replace(text.find('\t') - 1, 1, "q");  // of the same size
  write_file(file, text);
  fs::last_write_time(file, time);
  CHECK(tokens() == before);
}

}  // namespace ordo::test
