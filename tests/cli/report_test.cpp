// SPDX-License-Identifier: Apache-2.0
// ordo report, as a user types it: of a study that was made, and of runs that were not planned together.
#include "support/catch.h"

#include <nlohmann/json.hpp>

#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "support/program.h"

namespace ordo::test {
namespace {

constexpr const char* kTiny = R"(name: tiny
device: cpu
task:
  kind: language_modeling
  tokenizer: byte
  data: {generate: {kind: chase, sentences: 30, held_out: 5}}
model: {kind: decoder, dim: 8, layers: 1, attention: {heads: 2}, position: none}
train: {steps: 4, batch_size: 2, length: 16, log_every: 1, optimizer: {kind: adamw, lr: 3e-3}, schedule: constant}
)";
constexpr const char* kTinyStudy = R"(name: pair
base: base.yaml
vary: {encoding: {none: {model.position: {kind: none}}, rope: {model.position: {kind: rope}}}}
seeds: [1]
evaluate: {lengths: [16, 32]}
compare: {metric: loss, length: 16, against: none}
)";

bool told(const fs::path& file, const std::string& part) { return read_file(file).find(part) != std::string::npos; }

}  // namespace

TEST_CASE("report makes a study's page anew, there or elsewhere, with links to its runs", "[cli]") {
  const Scratch scratch;
  scratch.write("base.yaml", kTiny);
  scratch.write("pair.yaml", kTinyStudy);
  const Setting here{.folder = scratch.path(), .environment = {"OMP_NUM_THREADS=1"}};
  const Outcome made = run_ordo({"ablate", "pair.yaml"}, here);
  INFO(made.err);
  REQUIRE(made.code == 0);
  const fs::path study = scratch / "studies/pair";
  const std::string page = read_file(study / "report.html"), summary = read_file(study / "summary.json");
  CHECK(page.find("<a href=\"runs/rope-seed1/\"") != std::string::npos);
  CHECK_FALSE(told(study / "table.md", "solved"));  // of a loss, when no threshold was given
  fs::remove(study / "report.html");

  const Outcome again = run_ordo({"report", "studies/pair"}, here);
  INFO(again.err);
  CHECK(again.code == 0);
  CHECK(read_file(study / "report.html") == page);
  CHECK(read_file(study / "summary.json") == summary);

  const Outcome elsewhere = run_ordo({"report", "studies/pair", "-o", "out/page.html", "--json"}, here);
  CHECK(elsewhere.code == 0);
  CHECK(told(scratch / "out/page.html", "<a href=\"../studies/pair/runs/rope-seed1/\""));
  CHECK(elsewhere.out == summary);
  CHECK(run_ordo({"report", "studies/pair", "-o", "table.tex"}, here).code == 0);
  CHECK(told(scratch / "table.tex", "\\begin{tabular}"));
  CHECK(run_ordo({"report", "studies/pair", "studies/pair"}, here).code == 2);
}

TEST_CASE("report compares runs that were trained one by one: what their configs differ in is the factor", "[cli]") {
  const Scratch scratch;
  scratch.write("base.yaml", kTiny);
  const Setting here{.folder = scratch.path(), .environment = {"OMP_NUM_THREADS=1"}};
  for (const char* kind : {"rope", "alibi"}) {
    const Outcome trained = run_ordo(
        {"train", "base.yaml", "--run", std::string("own/") + kind, std::string("model.position.kind=") + kind}, here);
    INFO(trained.err);
    REQUIRE(trained.code == 0);
  }
  const Outcome outcome = run_ordo({"report", "own/rope", "own/alibi", "-o", "out"}, here);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  for (const char* file : {"report.html", "table.md", "table.tex", "results.csv", "summary.json"})
    CHECK(fs::exists(scratch / "out" / file));
  CHECK(told(scratch / "out/report.html", "<a href=\"../own/rope/\""));
  CHECK(told(scratch / "out/report.html", ">alibi<"));
  CHECK(run_ordo({"report", "out"}, here).code == 2);
}

}  // namespace ordo::test
