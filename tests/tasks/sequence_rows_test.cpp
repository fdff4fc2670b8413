// SPDX-License-Identifier: Apache-2.0
// Examples of sequence tasks told one by one.
#include "support/catch.h"

#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ordo/config/config.h"
#include "ordo/models/decoder.h"
#include "ordo/models/encoder.h"
#include "ordo/tasks/chase.h"
#include "ordo/tasks/copy.h"
#include "ordo/tasks/lag.h"
#include "ordo/tasks/scan.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

std::shared_ptr<Model> told_model(const Task& task, bool causal, int64_t length) {
  StackConfig stack{.dim = 16, .layers = 1, .attention = {.heads = 2}, .init = {.std = 0.5}, .tie_embeddings = false};
  Choice<Model> choice(causal ? "decoder" : "encoder");
  if (causal)
    choice.config = std::make_shared<Decoder::Config>(Decoder::Config{stack});
  else
    choice.config = std::make_shared<Encoder::Config>(Encoder::Config{stack});
  const auto model = models().build(choice, task.complete({.max_length = length, .seed = 1}));
  model->eval();
  return model;
}

StreamOptions told(int64_t length, int64_t batch_size) {
  return {.split = Split::test, .batch_size = batch_size, .length = length, .training = false, .details = true};
}

Evaluation without_details(const Task& task, Model& model, StreamOptions options) {
  options.details = false;
  return task.evaluate(model, options);
}

}  // namespace

TEST_CASE("sequence rows: what was given and asked, what the model holds likeliest at each place, and its loss",
          "[unit]") {
  const Copy task({.drawn = {.held_out = 9}, .symbols = 4}, {.seed = 1, .causal = true});
  const auto model = told_model(task, true, 3);
  const Evaluation made = task.evaluate(*model, told(3, 1));
  REQUIRE(made.rows.size() == 9);
  const auto stream = task.open(told(3, 1));
  const std::vector<std::string> names{"0", "1", "2", "3", "<padding>", "<equals>", "<slot>", "<question>", "<start>"};
  int64_t all_right = 0;
  for (size_t i = 0; i < 9; ++i) {
    const Batch batch = *stream->next();
    const Tensor logs = model->head().logits(model->forward(input_of(batch))).detach().to(at::kDouble).log_softmax(2);
    std::string likeliest;
    double loss = 0.0, right = 0.0;
    for (int64_t place = 4; place < 7; ++place) {
      const auto target = batch.targets[0][place].item<int64_t>(), best = logs[0][place].argmax().item<int64_t>();
      likeliest += (place > 4 ? " " : "") + names[static_cast<size_t>(best)];
      loss -= logs[0][place][target].item<double>() / 3.0;
      right += best == target ? 1.0 / 3.0 : 0.0;
    }
    all_right += right > 0.99 ? 1 : 0;
    const Json row = parse_json(made.rows[i], "a row");
    const Example example = task.held_out_example(Split::test, i, 3);
    CHECK(row["example"] == i);
    CHECK(row["from"] == fmt::format("test example {}", i));
    CHECK(row["given"].get<std::string>() + " -> " + row["asked"].get<std::string>() == task.text(example));
    CHECK(row["likeliest"] == likeliest);
    CHECK(row["right"] == (right > 0.99));
    CHECK(row["loss"].get<double>() == Approx(loss).epsilon(1e-5));
    CHECK(row["accuracy"].get<double>() == Approx(right));
  }
  CHECK(made.metrics.at("exact_match") == Approx(static_cast<double>(all_right) / 9.0));
}

TEST_CASE("sequence rows: details leave the metrics as they are to the last bit, and rows do not depend on the batch",
          "[unit]") {
  const Copy task({.drawn = {.held_out = 70}, .symbols = 3}, {.seed = 1, .causal = true});
  const auto model = told_model(task, true, 2);
  std::vector<std::string> first;
  for (const int64_t batch_size : {1, 7, 64}) {
    CAPTURE(batch_size);
    const Evaluation made = task.evaluate(*model, told(2, batch_size));
    const Evaluation plain = without_details(task, *model, told(2, batch_size));
    CHECK(made.metrics == plain.metrics);
    CHECK(plain.rows.empty());
    CHECK(plain.intervals.empty());
    for (const char* name : {"loss", "perplexity", "accuracy"})
      CHECK(made.intervals.at(name).contains(made.metrics.at(name)));
    if (first.empty()) first = made.rows;
    REQUIRE(made.rows.size() == first.size());
    for (size_t i = 0; i < first.size(); ++i) {
      Json row = parse_json(made.rows[i], "a row"), one = parse_json(first[i], "a row");
      for (const char* name : {"loss", "perplexity"}) {
        CHECK(std::abs(row[name].get<double>() - one[name].get<double>()) < 1e-5);
        row.erase(name);
        one.erase(name);
      }
      CHECK(row == one);
    }
  }
}

TEST_CASE("sequence rows: a two-sided model's label is told, and has no exact match", "[unit]") {
  const Chase task({.drawn = {.held_out = 8}, .bare = true}, {.seed = 1, .causal = false});
  const auto model = told_model(task, false, 3);
  const Evaluation made = task.evaluate(*model, told(3, 3));
  REQUIRE(made.rows.size() == 8);
  CHECK_FALSE(made.intervals.contains("exact_match"));
  const Json row = parse_json(made.rows[0], "a row");
  CHECK(row["tokens"] == 1);
  CHECK(row["right"] == (row["asked"] == row["likeliest"]));
}

TEST_CASE("sequence rows: twins are drawn together", "[unit]") {
  const Chase task({.drawn = {.held_out = 8}, .bare = true}, {.seed = 1, .causal = true});
  const auto model = told_model(task, true, 3);
  const Evaluation made = task.evaluate(*model, told(3, 4));
  CHECK(made.outcomes.twins == 2);
  REQUIRE(made.notes.size() == 1);
  CHECK(contains(made.notes[0], "2 examples at a time belong together"));
  // Of pairs the mean of two losses is drawn: no draw reaches the largest loss of one.
  double largest_pair = 0.0, largest = 0.0;
  for (size_t i = 0; i < made.rows.size(); i += 2) {
    const double a = parse_json(made.rows[i], "a row")["loss"].get<double>(),
                 b = parse_json(made.rows[i + 1], "a row")["loss"].get<double>();
    largest_pair = std::max(largest_pair, 0.5 * (a + b));
    largest = std::max({largest, a, b});
  }
  REQUIRE(largest > largest_pair);
  CHECK(made.intervals.at("loss").high <= largest_pair * (1.0 + 1e-9));
}

TEST_CASE("sequence rows: a place where nothing is asked is a dot", "[unit]") {
  const Lag task({.drawn = {.held_out = 2}, .lag = 2}, {.seed = 1, .causal = true});
  const auto model = told_model(task, true, 6);
  const Evaluation made = task.evaluate(*model, told(6, 2));
  for (const auto& line : made.rows) {
    const Json row = parse_json(line, "a row");
    CHECK(row["asked"].get<std::string>().starts_with(". "));
    const auto asked = row["asked"].get<std::string>(), likeliest = row["likeliest"].get<std::string>();
    CHECK(std::count(asked.begin(), asked.end(), '.') == std::count(likeliest.begin(), likeliest.end(), '.'));
    CHECK(std::count(asked.begin(), asked.end(), ' ') == std::count(likeliest.begin(), likeliest.end(), ' '));
  }
}

TEST_CASE("sequence rows: pairs say the line that they stand in, also those held out of the training file", "[unit]") {
  const Scratch scratch;
  const std::string text = "IN: jump twice OUT: I_JUMP I_JUMP\nIN: walk OUT: I_WALK\n";
  const fs::path train = scratch.write("train.txt", text), test = scratch.write("test.txt", text);
  const Scan task({.files = {.train = train, .test = test}}, {});
  const Evaluation made = task.evaluate(*told_model(task, true, 4), told(4, 2));
  REQUIRE(made.rows.size() == 2);
  const Json row = parse_json(made.rows[0], "a row");  // the shorter answers come first
  CHECK(row["from"] == test.string() + ": line 2");
  CHECK(row["given"] == "walk");
  CHECK(row["asked"] == "I_WALK <end>");
  const Scan held_out({.files = {.train = train, .validation_fraction = 0.5}}, {.seed = 1});
  CHECK(contains(held_out.where(Split::validation, 0), train.string() + ": line "));
  CHECK(held_out.where(Split::validation, 0) != held_out.where(Split::train, 0));
}

}  // namespace ordo::test
