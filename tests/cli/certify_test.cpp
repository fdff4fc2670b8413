// SPDX-License-Identifier: Apache-2.0
// ordo certify as a user runs it: of configs, of runs, and the worked example.
#include "support/catch.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "ordo/certify/certify.h"
#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "support/program.h"

namespace ordo::test {
namespace {

constexpr std::string_view kSmall = R"(name: small
device: cpu
task: {kind: language_modeling, tokenizer: byte, data: {generate: {kind: chase, sentences: 40, held_out: 4}}}
model: {kind: decoder, dim: 32, layers: 2, attention: {heads: 2}, position: learned}
train: {steps: 2, batch_size: 2, length: 24}
)";

Setting one_thread() { return {.environment = {"OMP_NUM_THREADS=1"}}; }

}  // namespace

TEST_CASE("certify tells a config's properties in a table, ends with one line, and exits with 0", "[cli]") {
  const Scratch scratch;
  const fs::path file = scratch.write("small.yaml", std::string(kSmall));
  const Outcome outcome = run_ordo({"certify", file.string()}, one_thread());
  INFO(outcome.out << outcome.err);
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, Catch::Matchers::Contains("certificate of " + file.string()));
  CHECK_THAT(outcome.out, Catch::Matchers::Contains("cache_equals_full"));
  CHECK(outcome.out.rfind("holds: ") > outcome.out.rfind("gradients"));
}

TEST_CASE("certify --json is one document, of overrides too", "[cli]") {
  const Scratch scratch;
  std::string two_sided(kSmall);
  two_sided.replace(two_sided.find("decoder"), 7, "encoder");
  const fs::path file = scratch.write("small.yaml", two_sided);
  const Outcome outcome = run_ordo({"certify", file.string(), "--json", "model.position=none"}, one_thread());
  INFO(outcome.err);
  CHECK(outcome.code == 0);
  const Json certificate = parse_json(outcome.out, "certify --json");
  CHECK(certificate["subject"] == file.string());
  CHECK(certificate["holds"] == true);
  CHECK(certificate["properties"][0]["name"] == "permutation_equivariance");
  CHECK(certificate["properties"][0]["expected"] == "holds");
  CHECK(certificate["properties"][0]["verdict"] == "pass");
}

TEST_CASE("certify of a run takes its weights, leaves its checkpoints valid, and writes certificate.json", "[cli]") {
  const Scratch scratch;
  const fs::path file = scratch.write("small.yaml", std::string(kSmall));
  const std::string run = (scratch / "run").string();
  REQUIRE(run_ordo({"train", file.string(), "--run", run, "train.certify=true"}, one_thread()).code == 0);
  CHECK(parse_json(read_file(scratch / "run/certificate.json"), "of train.certify")["holds"] == true);
  CHECK_THAT(read_file(scratch / "run/log.txt"), Catch::Matchers::Contains("certificate: holds"));
  fs::remove(scratch / "run/certificate.json");

  const Outcome outcome = run_ordo({"certify", run}, one_thread());
  INFO(outcome.out << outcome.err);
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, Catch::Matchers::Contains("with the trained weights"));
  CHECK_THAT(outcome.out, Catch::Matchers::EndsWith("not applicable\n"));
  CHECK(parse_json(read_file(scratch / "run/certificate.json"), "of certify")["holds"] == true);
  CHECK(run_ordo({"eval", run}, one_thread()).code == 0);

  fs::remove(scratch / "run/certificate.json");
  CHECK(run_ordo({"certify", run, "model.position.kind=rope"}, one_thread()).code == 0);
  CHECK_FALSE(fs::exists(scratch / "run/certificate.json"));
}

TEST_CASE("train.certify: a config that does not hold ends with 1, by name, before any step", "[cli]") {
  const Scratch scratch;
  const fs::path file = scratch.write("small.yaml", std::string(kSmall));
  // A formula that never adds anything.
  const Arguments words{"train",
                        file.string(),
                        "--run",
                        (scratch / "run").string(),
                        "train.certify=true",
                        "model.position={kind: expression, bias: 0*distance}"};
  const Outcome outcome = run_ordo(words, one_thread());
  INFO(outcome.err);
  CHECK(outcome.code == 1);
  CHECK_THAT(outcome.err, Catch::Matchers::Contains("train.certify") && Catch::Matchers::Contains("order_sensitivity"));
  CHECK_FALSE(fs::exists(scratch / "run/last"));
  CHECK(parse_json(read_file(scratch / "run/certificate.json"), "of train.certify")["holds"] == false);
}

TEST_CASE("certify refuses a kernel that cannot train the model, as training would", "[cli]") {
  const Scratch scratch;
  const fs::path file = scratch.write("small.yaml", std::string(kSmall));
  const Outcome outcome =
      run_ordo({"certify", file.string(), "model.position=t5_bias", "model.attention.kernel=sdpa"}, one_thread());
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, Catch::Matchers::Contains("attention kernel sdpa cannot serve"));
}

TEST_CASE("certify --explain prints the worked example, as text and as JSON", "[cli]") {
  const Scratch scratch;
  const fs::path file = scratch.write("small.yaml", std::string(kSmall));
  const Outcome text = run_ordo({"certify", file.string(), "--explain", "model.position=rope"}, one_thread());
  INFO(text.err);
  CHECK(text.code == 0);
  for (const auto* part : {"cat chases mouse / 猫追老鼠", "mouse chases cat / 老鼠追猫", "softmax", "With rope"})
    CHECK_THAT(text.out, Catch::Matchers::Contains(part));
  const Outcome json = run_ordo({"certify", file.string(), "--explain", "--json"}, one_thread());
  CHECK(json.code == 0);
  CHECK(parse_json(json.out, "certify --explain --json")["encoding"] == "learned");
}

TEST_CASE("certify --explain of a run says that it is not about the run's weights", "[cli]") {
  const Scratch scratch;
  const fs::path file = scratch.write("small.yaml", std::string(kSmall)), run = scratch / "run";
  REQUIRE(run_ordo({"train", file.string(), "--run", run.string(), "train.steps=1"}, one_thread()).code == 0);
  const Outcome of_run = run_ordo({"certify", run.string(), "--explain"}, one_thread());
  CHECK_THAT(of_run.out, Catch::Matchers::StartsWith("This uses a fresh encoding of the kind that " + run.string() +
                                                     " has, 4 numbers wide, not the run's weights."));
  CHECK_THAT(run_ordo({"certify", file.string(), "--explain"}, one_thread()).out,
             !Catch::Matchers::Contains("the run's weights"));
  CHECK(run_ordo({"certify", file.string(), "--layer", "1"}, one_thread()).code == 2);
}

TEST_CASE("certify --explain of a run knows the length that its weights were trained at", "[cli]") {
  const Scratch scratch;
  const fs::path file = scratch.write("small.yaml", std::string(kSmall)), run = scratch / "run";
  REQUIRE(run_ordo({"train", file.string(), "--run", run.string(), "train.steps=1"}, one_thread()).code == 0);
  const Arguments words{"certify",
                        run.string(),
                        "--explain",
                        "model.position.kind=rope",
                        "model.position.scaling.kind=yarn",
                        "model.position.scaling.factor=4"};
  const Outcome outcome = run_ordo(words, one_thread());
  INFO(outcome.err);
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, Catch::Matchers::Contains("With rope, scaling yarn (factor 4)"));
}

TEST_CASE("certify: what the manual says is proved is what a certificate holds, in its order", "[cli]") {
  const Scratch scratch;
  const fs::path file = scratch.write("small.yaml", std::string(kSmall));
  std::vector<std::string> told, proved;
  std::istringstream page(run_ordo({"help", "certificate"}).out);
  for (std::string line; std::getline(page, line);)
    if (line.starts_with("  ") && line.size() > 2 && line[2] != ' ')
      told.push_back(line.substr(2, line.find(' ', 2) - 2));
  const Outcome outcome = run_ordo({"certify", file.string(), "--json"}, one_thread());
  const Json certificate = parse_json(outcome.out, "certify --json");
  for (const Json& property : certificate["properties"]) proved.push_back(property["name"].get<std::string>());
  CHECK(told == proved);
  const auto names = certified_properties();
  CHECK(std::equal(told.begin(), told.end(), names.begin(), names.end()));
}

TEST_CASE("certify: a config that cannot be read or assembled exits with 2", "[cli]") {
  const Scratch scratch;
  const fs::path file = scratch.write("small.yaml", std::string(kSmall));
  CHECK(run_ordo({"certify", (scratch / "missing.yaml").string()}, one_thread()).code != 0);
  CHECK(run_ordo({"certify", file.string(), "model.position=rpoe"}, one_thread()).code == 2);
  CHECK(run_ordo({"certify", file.string(), "--jsn"}, one_thread()).code == 2);
  CHECK(run_ordo({"certify"}, one_thread()).code == 2);
}

}  // namespace ordo::test
