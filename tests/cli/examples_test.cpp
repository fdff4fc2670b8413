// SPDX-License-Identifier: Apache-2.0
// ordo eval --examples of language models and of tasks whose examples are drawn: intervals, and a line per example.
#include "support/catch.h"

#include <nlohmann/json.hpp>

#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "ordo/core/text.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

constexpr std::string_view kWindows = R"(seed: 1
task: {kind: language_modeling, tokenizer: byte, data: {generate: {kind: chase, sentences: 60, held_out: 20}}}
model: {kind: decoder, dim: 16, layers: 1, attention: {heads: 2}, position: rope}
train: {steps: 2, batch_size: 4, length: 16, schedule: constant}
)";
constexpr std::string_view kReversed = R"(seed: 1
task: {kind: reverse, held_out: 12}
model: {kind: decoder, dim: 16, layers: 1, attention: {heads: 2}, position: rope}
train: {steps: 2, batch_size: 4, length: 5, schedule: constant}
)";

std::string trained(const Scratch& scratch, std::string_view recipe) {
  const std::string run = (scratch / "run").string();
  const Outcome outcome =
      run_ordo({"train", scratch.write("tiny.yaml", std::string(recipe)).string(), "--run", run, "device=cpu"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return run;
}

std::vector<Json> lines_of(const fs::path& file) {
  std::vector<Json> lines;
  for (const auto& line : split(read_file(file), '\n'))
    if (!line.empty()) lines.push_back(parse_json(line, "a line"));
  return lines;
}

}  // namespace

TEST_CASE("eval --examples tells each window of a language model, and the table what the intervals draw", "[cli]") {
  const Scratch scratch;
  const std::string run = trained(scratch, kWindows);
  const fs::path file = scratch / "windows.jsonl";
  const Outcome plain = run_ordo({"eval", run, "--examples", file.string()});
  INFO(plain.out << plain.err);
  REQUIRE(plain.code == 0);
  CHECK(contains(plain.out, "95% intervals by drawing windows: loss "));
  CHECK(contains(plain.out, "windows next to each other are not independent"));
  const auto lines = lines_of(file);
  REQUIRE(lines.size() > 20);
  int64_t tokens = 0;
  for (const auto& line : lines) tokens += line["tokens"].get<int64_t>();
  CHECK(contains(lines[1]["from"].get<std::string>(), ", offset 16"));
  for (const char* key : {"example", "loss", "perplexity", "accuracy", "bits_per_character"})
    CHECK(lines[1].contains(key));
  const Outcome judged = run_ordo({"eval", run, "--json", "--stride", "4", "--examples", file.string()});
  REQUIRE(judged.code == 0);
  const Json one = parse_json(judged.out, "stdout").at("results")[0];
  CHECK(one["tokens"] == tokens);
  CHECK(one["intervals"]["loss"]["kind"] == "bootstrap");
  CHECK_FALSE(one.contains("items"));
  const auto sliding = lines_of(file);
  CHECK(sliding.size() > 3 * lines.size());
  CHECK(sliding[1]["tokens"] == 4);
}

TEST_CASE("eval --examples tells what a drawn example gives and asks, and what the model holds likeliest", "[cli]") {
  const Scratch scratch;
  const std::string run = trained(scratch, kReversed);
  const fs::path file = scratch / "examples.jsonl";
  const Outcome outcome = run_ordo({"eval", run, "--lengths", "3,5", "--examples", file.string()});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(contains(outcome.out, "at length 3: 95% intervals by drawing examples: loss "));
  const auto lines = lines_of(file);
  REQUIRE(lines.size() == 24);
  CHECK(lines[0]["length"] == 3);
  CHECK(lines[12]["from"] == "validation example 0");
  const auto given = split(lines[12]["given"].get<std::string>(), ' ');
  CHECK(lines[12]["asked"] == join(std::vector<std::string>(given.rbegin(), given.rend()), " "));
  CHECK(split(lines[12]["likeliest"].get<std::string>(), ' ').size() == 5);
  CHECK(lines[12]["right"].is_boolean());
}

TEST_CASE("eval --examples into a folder that is a file ends in one clear error", "[cli]") {
  const Scratch scratch;
  const std::string run = trained(scratch, kReversed);
  const Outcome outcome = run_ordo({"eval", run, "--examples", (scratch / "tiny.yaml" / "a.jsonl").string()});
  CHECK(outcome.code == 1);
  CHECK(contains(outcome.err, "a.jsonl"));
  CHECK(run_ordo({"eval", run, "--split", "train", "--examples", (scratch / "a.jsonl").string()}).code == 3);
}

}  // namespace ordo::test
