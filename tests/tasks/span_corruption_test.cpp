// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/tasks/span_corruption.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "ordo/config/config.h"
#include "support/program.h"
#include "support/thrown.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

using Ids = std::vector<int64_t>;

struct SpanFile {
  Choice<Task> task;
  Choice<Model> model;
};
void fields(Fields& f, SpanFile& c) {
  f("task", c.task, "task");
  f("model", c.model, "model");
}

SpanFile span_file(const std::string& settings, const std::string& model = "encoder_decoder") {
  SpanFile file;
  load_config_text(
      "task: {kind: span_corruption, tokenizer: byte, data: {generate: {kind: chase, sentences: 40, held_out: 10}}" +
          settings + "}\nmodel: {kind: " + model +
          ", dim: 16, layers: 1, attention: {heads: 2}, init: {std: 0.3}, position: rope}",
      walk_of(file), {});
  return file;
}

Ids span_values(const Tensor& t) { return {t.data_ptr<int64_t>(), t.data_ptr<int64_t>() + t.numel()}; }

}  // namespace

TEST_CASE("spans: sentinels stand for what is cut out, and the answer is each with its span", "[unit]") {
  // Thank you for inviting me to your party last week (Raffel et al. 2020, figure 2).
  const Ids text{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<bool> cut(10, false);
  cut[2] = cut[3] = cut[8] = true;
  const SpanRow row = span_row(text, cut, {100, 101, 102});
  CHECK(row.source == Ids{0, 1, 100, 4, 5, 6, 7, 101, 9});
  CHECK(row.target == Ids{100, 2, 3, 101, 8, 102});
}

TEST_CASE("spans: 15 % in spans of three on average, in counts that a window's length alone decides", "[unit]") {
  const auto counts = [](int64_t length) { return span_counts(length, 0.15, 3.0); };
  CHECK(counts(512).cut == 77);
  CHECK(counts(512).spans == 26);
  CHECK(counts(1).cut == 1);
  CHECK(counts(1).spans == 1);
  CHECK(counts(2).cut == 1);
  CHECK(span_counts(4, 0.9, 1.0).spans == 1);  // one token stays: before the span
  for (uint64_t key = 0; key < 50; ++key)
    for (const int64_t length : {1, 2, 3, 10, 100}) {
      KeyedSequence draw(key);
      const auto cut = cut_tokens(length, counts(length), draw);
      REQUIRE(std::ssize(cut) == length);
      CHECK(std::count(cut.begin(), cut.end(), true) == counts(length).cut);
      int64_t spans = 0;
      for (size_t i = 0; i < cut.size(); ++i) spans += cut[i] && (i == 0 || !cut[i - 1]);
      CHECK(spans == counts(length).spans);
    }
}

TEST_CASE("spans: every way to cut is equally likely", "[unit]") {
  std::map<std::vector<bool>, int> seen;
  constexpr int kDraws = 6000;
  for (uint64_t key = 0; key < kDraws; ++key) {
    KeyedSequence draw(key);
    ++seen[cut_tokens(7, {.cut = 4, .spans = 2}, draw)];  // 3 x 2 ways
  }
  REQUIRE(seen.size() == 6);
  double chi_square = 0.0;
  for (const auto& [cut, count] : seen) chi_square += std::pow(count - kDraws / 6.0, 2) / (kDraws / 6.0);
  CHECK(chi_square < 20.5);  // 5 degrees of freedom: exceeded once in a thousand
}

TEST_CASE("span corruption: source and target together hold the window, and nothing that is asked is read", "[unit]") {
  const auto task = tasks().build(span_file("").task, {});
  const auto stream = task->open({.batch_size = 4, .length = 40, .seed = 1});
  const int64_t first = 256,
                start = 356;  // sentinels behind the bytes, the start behind them
  CHECK(task->complete({}).vocab_size == 357);
  for (int batches = 0; batches < 5; ++batches) {
    const Batch batch = *stream->next();
    CHECK(batch.ids.size(1) == 6 + 2 + 1);
    CHECK(batch.source.ids.size(1) == 40 - 6 + 2);
    CHECK(task->row_length(40) == 36);
    CHECK(batch.weight == 4.0 * 9.0);
    for (int64_t row = 0; row < 4; ++row) {
      const Ids source = span_values(batch.source.ids[row]), read = span_values(batch.ids[row]),
                written = span_values(batch.targets[row]);
      CHECK(read[0] == start);
      CHECK(std::equal(read.begin() + 1, read.end(), written.begin()));
      CHECK(written.front() == first);
      CHECK(written.back() == first + 2);
      Ids sentinels;
      std::copy_if(source.begin(), source.end(), std::back_inserter(sentinels), [](int64_t id) { return id >= 256; });
      CHECK(sentinels == Ids{first, first + 1});
    }
  }
}

TEST_CASE("span corruption: an evaluation is the same for every batch size, and each time", "[unit]") {
  const SpanFile file = span_file("");
  const auto task = tasks().build(file.task, {});
  const auto model = models().build(file.model, task->complete({.max_length = 32, .seed = 1}));
  model->eval();
  const auto judged = [&](int64_t batch_size, uint64_t seed) {
    return task->evaluate(*model, {.split = Split::validation, .batch_size = batch_size, .length = 32, .seed = seed});
  };
  const auto one = judged(1, 1);
  CHECK(one.tokens > 50.0);
  for (const int64_t batch_size : {7, 64}) {
    CHECK(judged(batch_size, 2).tokens == one.tokens);
    CHECK(std::abs(judged(batch_size, 2).metrics.at("loss") - one.metrics.at("loss")) < 1e-6);
  }
}

TEST_CASE("span corruption: with details each window is told, and the metrics stay to the last bit", "[unit]") {
  const SpanFile file = span_file("");
  const auto task = tasks().build(file.task, {});
  const auto model = models().build(file.model, task->complete({.max_length = 32, .seed = 1}));
  model->eval();
  StreamOptions options{.split = Split::validation, .batch_size = 7, .length = 32};
  const Metrics plain = task->evaluate(*model, options).metrics;
  options.details = true;
  const Evaluation found = task->evaluate(*model, options);
  CHECK(found.metrics == plain);
  CHECK(found.intervals.at("loss").contains(plain.at("loss")));
  double tokens = 0.0;
  for (const auto& row : found.rows) tokens += parse_json(row, "a row")["tokens"].get<double>();
  CHECK(tokens == found.tokens);  // sentinels are written too
}

TEST_CASE("span corruption: spans are drawn anew each epoch", "[unit]") {
  const auto task = tasks().build(span_file("").task, {});
  const auto stream = task->open({.batch_size = 2, .length = 40, .seed = 1});
  std::map<std::string, std::set<Ids>> sources;  // by place
  while (stream->epoch() < 40) {
    const Batch batch = *stream->next();
    for (int64_t row = 0; row < batch.ids.size(0); ++row)
      sources[batch.examples[static_cast<size_t>(row)]].insert(span_values(batch.source.ids[row]));
  }
  // A window that was met more than once, from the same start, had other spans each time.
  CHECK(std::any_of(sources.begin(), sources.end(), [](const auto& entry) { return entry.second.size() > 1; }));
}

TEST_CASE("span corruption: a tokenizer's own <pad> starts what is written, and its sentinels need no new ids",
          "[unit]") {
  const Scratch scratch;
  const std::string text = scratch.write("a.txt", "some words of a text that is long enough for a window").string();
  const auto task_with = [&](const std::string& tokenizer) {
    SpanFile file;
    load_config_text("task: {kind: span_corruption, sentinels: 20, tokenizer: " + tokenizer +
                         ", data: {train: " + text +
                         "}}\nmodel: {kind: encoder_decoder, dim: 16, layers: 1, "
                         "attention: {heads: 2}}",
                     walk_of(file), {});
    return tasks().build(file.task, {});
  };
  const auto t5 = task_with("{kind: hf, file: " + std::string(ORDO_SOURCE_DIR) +
                            "/tests/goldens/tokenizers/unigram_t5/tokenizer.json}");
  CHECK(t5->complete({}).vocab_size == t5->tokenizer()->vocab_size() + 20);
  CHECK(t5->open({.batch_size = 1, .length = 10, .seed = 1})->next()->ids[0][0].item<int64_t>() ==
        t5->tokenizer()->find("<pad>"));
  std::string vocabulary = "<unk>\nsome\nwords\n";
  for (int i = 0; i < 20; ++i) vocabulary += fmt::format("<extra_id_{}>\n", i);
  const auto own = task_with("{kind: word, file: " + scratch.write("words.txt", vocabulary).string() + "}");
  CHECK(own->complete({}).vocab_size == 3 + 20 + 1);  // the start alone is new
  CHECK(own->open({.batch_size = 1, .length = 10, .seed = 1})->next()->targets[0][0].item<int64_t>() == 3);
}

TEST_CASE("span corruption: what it cannot be trained on or with is said in words", "[unit]") {
  const SpanFile file = span_file("", "decoder");
  const auto task = tasks().build(file.task, {});
  const auto model = models().build(file.model, task->complete({.max_length = 32, .seed = 1}));
  CHECK(contains(task->refuses(*model).value_or(""), "use model.kind: encoder_decoder"));
  const auto few = tasks().build(span_file(", sentinels: 3").task, {});
  CHECK_FALSE(few->refuses_length(Split::train, 40));
  CHECK(contains(few->refuses_length(Split::train, 64).value_or(""), "takes 4 sentinels; task.sentinels is 3"));
  CHECK(contains(thrown<ConfigError>([&] { few->open({.batch_size = 1, .length = 64}); }), "takes 4 sentinels"));
}

}  // namespace ordo::test
