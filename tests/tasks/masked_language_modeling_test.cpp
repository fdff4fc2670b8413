// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/masked_language_modeling.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "ordo/config/config.h"
#include "support/program.h"
#include "support/thrown.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

struct MaskedFile {
  Choice<Task> task;
  Choice<Model> model;
};
void fields(Fields& f, MaskedFile& c) {
  f("task", c.task, "task");
  f("model", c.model, "model");
}

MaskedFile masked_file(const std::string& settings, const std::string& model = "kind: encoder, position: rope") {
  MaskedFile file;
  load_config_text("task: {kind: masked_language_modeling, " + settings + "}\nmodel: {" + model +
                       ", dim: 16, layers: 2, attention: {heads: 2}, init: {std: 0.3}}",
                   walk_of(file), {});
  return file;
}

std::string made_text(const std::string& more = "") {
  return "tokenizer: byte, data: {generate: {kind: chase, sentences: 40, held_out: 10}}" + more;
}

std::shared_ptr<Task> masked_task(const std::string& settings) { return tasks().build(masked_file(settings).task, {}); }

std::shared_ptr<Model> masked_model(const Task& task, const MaskedFile& file) {
  auto model = models().build(file.model, task.complete({.max_length = 16, .seed = 1}));
  model->eval();
  return model;
}

}  // namespace

TEST_CASE("masked language modeling: an evaluation is the same for every batch size, and each time", "[unit]") {
  const MaskedFile file = masked_file(made_text());
  const auto task = tasks().build(file.task, {});
  const auto model = masked_model(*task, file);
  const auto judged = [&](int64_t batch_size, uint64_t seed) {
    return task->evaluate(*model, {.split = Split::validation, .batch_size = batch_size, .length = 16, .seed = seed});
  };
  const auto one = judged(1, 1);
  CHECK(one.tokens > 20.0);
  CHECK(one.metrics.at("perplexity") == Approx(std::exp(one.metrics.at("loss"))));
  CHECK(one.metrics.contains("accuracy"));
  for (const int64_t batch_size : {7, 64}) {
    CHECK(judged(batch_size, 2).tokens == one.tokens);
    CHECK(std::abs(judged(batch_size, 2).metrics.at("loss") - one.metrics.at("loss")) < 1e-6);
  }
}

TEST_CASE("masked language modeling: with details each window is told, of its hidden tokens, for every batch size",
          "[unit]") {
  const MaskedFile file = masked_file(made_text());
  const auto task = tasks().build(file.task, {});
  const auto model = masked_model(*task, file);
  StreamOptions options{.split = Split::validation, .batch_size = 7, .length = 16};
  const Metrics plain = task->evaluate(*model, options).metrics;
  options.details = true;
  const Evaluation found = task->evaluate(*model, options);
  CHECK(found.metrics == plain);
  for (const char* name : {"loss", "perplexity"}) CHECK(found.intervals.at(name).contains(plain.at(name)));
  options.batch_size = 64;
  const Evaluation other = task->evaluate(*model, options);
  REQUIRE(found.rows.size() == other.rows.size());
  double tokens = 0.0, nats = 0.0;
  for (size_t i = 0; i < found.rows.size(); ++i) {
    const Json row = parse_json(found.rows[i], "a row"), again = parse_json(other.rows[i], "a row");
    CHECK(row["from"] == again["from"]);
    CHECK_FALSE(row.contains("bits_per_character"));
    tokens += row["tokens"].get<double>();
    if (row["loss"].is_null()) continue;  // nothing of it is hidden
    CHECK(std::abs(row["loss"].get<double>() - again["loss"].get<double>()) < 1e-6);
    nats += row["loss"].get<double>() * row["tokens"].get<double>();
  }
  CHECK(tokens == found.tokens);
  CHECK(nats / tokens == Approx(plain.at("loss")));
}

TEST_CASE("masked language modeling: masks are drawn anew each epoch, the same for any batch size", "[unit]") {
  const auto task = masked_task("tokenizer: byte, data: {generate: {kind: chase, sentences: 3, held_out: 2}}");
  // The masks that stand in the text, by epoch: windows are shuffled, so sets of rows are compared.
  const auto rows = [&](int64_t batch_size) {
    const auto stream = task->open({.batch_size = batch_size, .length = 8, .seed = 3});
    std::map<int64_t, std::set<std::string>> epochs;
    while (stream->epoch() < 3) {
      const int64_t epoch = stream->epoch();
      const Batch batch = *stream->next();
      for (int64_t row = 0; row < batch.ids.size(0); ++row) {
        std::string text = batch.examples[static_cast<size_t>(row)] + ":";
        for (int64_t i = 0; i < 8; ++i) text += " " + std::to_string(batch.ids[row][i].item<int64_t>());
        epochs[epoch].insert(text);
      }
    }
    return epochs;
  };
  const auto one = rows(1);
  CHECK(one == rows(4));
  CHECK(one.at(0) != one.at(1));
  CHECK(one.at(1) != one.at(2));
}

TEST_CASE("masked language modeling: the mask is the tokenizer's, or an id behind the text's", "[unit]") {
  CHECK(masked_task(made_text())->complete({}).vocab_size == 257);
  CHECK(masked_task(made_text(", vocab_size: 300"))->complete({}).vocab_size == 300);
  CHECK(contains(thrown<ConfigError>([] { masked_task(made_text(", vocab_size: 256"))->complete({}); }),
                 "task.vocab_size (256) is smaller than the vocabulary of the byte tokenizer (256) and 1 ids"));
  const std::string wordpiece = std::string(ORDO_SOURCE_DIR) + "/tests/goldens/tokenizers/wordpiece/tokenizer.json";
  const Scratch scratch;
  const auto own = masked_task("tokenizer: {kind: hf, file: " + wordpiece +
                               "}, data: {train: " + scratch.write("a.txt", "some words of a text").string() + "}");
  REQUIRE(own->tokenizer()->find("[MASK]"));
  CHECK(own->complete({}).vocab_size == own->tokenizer()->vocab_size());
}

TEST_CASE("masked language modeling: WordPiece's parts go on, its words and marks do not", "[unit]") {
  const std::string wordpiece = std::string(ORDO_SOURCE_DIR) + "/tests/goldens/tokenizers/wordpiece/tokenizer.json";
  const auto tokenizer = open_tokenizer(wordpiece);
  const auto parts = word_parts(*tokenizer);
  int starts = 0, more = 0;
  for (int64_t id = 0; id < tokenizer->vocab_size(); ++id) {
    const std::string piece = tokenizer->piece(id);
    starts += parts[static_cast<size_t>(id)] == WordPart::start;
    more += parts[static_cast<size_t>(id)] == WordPart::more;
    if (tokenizer->is_special(id)) CHECK(parts[static_cast<size_t>(id)] == WordPart::none);
  }
  CHECK(starts > 100);
  CHECK(more > 20);
  const auto of = [&](const char* token) { return parts[static_cast<size_t>(tokenizer->find(token).value())]; };
  CHECK(of("##s") == WordPart::more);
  CHECK(of("a") == WordPart::start);
}

TEST_CASE("masked language modeling: what it cannot be trained on or with is said in words", "[unit]") {
  const auto task = masked_task(made_text());
  const auto refusal = [&](const std::string& model) {
    const MaskedFile file = masked_file(made_text(), model);
    return task->refuses(*masked_model(*task, file)).value_or("");
  };
  CHECK(refusal("kind: encoder").empty());
  CHECK(contains(refusal("kind: decoder"), "use model.kind: encoder"));
  CHECK(contains(refusal("kind: encoder_decoder"), "use model.kind: encoder"));
  CHECK(contains(thrown<ConfigError>([] { masked_task(made_text(", masked: 0.8, random: 0.3")); }),
                 "together at most 1"));
  CHECK(contains(thrown<ConfigError>([] { masked_task("vocab_size: 9, whole_words: true, data: {train: a.bin}"); }),
                 "task.whole_words needs task.tokenizer"));
}

}  // namespace ordo::test
