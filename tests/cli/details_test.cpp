// SPDX-License-Identifier: Apache-2.0
// What a study reads of its runs: each held-out example and the loss by place (ordo eval --details), and what a run
// began with (start.json).
#include "support/catch.h"

#include <nlohmann/json.hpp>
#include <numeric>

#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

constexpr std::string_view kTinyChase = R"(name: tiny
seed: 1
task: {kind: chase, held_out: 5}
model: {kind: decoder, dim: 16, layers: 1, attention: {heads: 2}, position: rope}
train: {steps: 2, batch_size: 4, length: 9, schedule: constant}
)";

fs::path train_tiny(const Scratch& scratch, const std::string& name, const Arguments& more = {}) {
  const fs::path run = scratch / name;
  Arguments words{"train", scratch.write("tiny.yaml", std::string(kTinyChase)).string(), "--run", run.string(),
                  "device=cpu"};
  words.insert(words.end(), more.begin(), more.end());
  const Outcome outcome = run_ordo(words);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return run;
}

Json details_of(const fs::path& run, const std::string& lengths) {
  const Outcome outcome = run_ordo({"eval", run.string(), "--lengths", lengths, "--json", "--details"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return parse_json(outcome.out, "ordo eval")["results"];
}

Json start_of(const fs::path& run) { return parse_json(read_file(run / "start.json"), "start.json"); }

}  // namespace

TEST_CASE("eval --details gives each held-out example and the loss by place, which are what the metrics are made of",
          "[cli]") {
  const Scratch scratch;
  const Json results = details_of(train_tiny(scratch, "run"), "7,9");
  REQUIRE(results.size() == 2);
  for (const Json& one : results) {
    const auto items = one["items"].get<std::vector<double>>();
    REQUIRE(items.size() == 6);  // five are held out, in pairs
    CHECK(one["twins"] == 2);
    CHECK(std::accumulate(items.begin(), items.end(), 0.0) / 6.0 == Approx(one["metrics"]["accuracy"].get<double>()));
    // A mark of the start, the words, and the closing ?, where the answer is asked.
    const Json& places = one["position_loss"];
    REQUIRE(places.size() == one["length"].get<size_t>() + 2);
    for (size_t place = 0; place + 1 < places.size(); ++place) CHECK(places[place].is_null());
    CHECK(places.back().get<double>() == Approx(one["metrics"]["loss"].get<double>()));
  }
}

TEST_CASE("eval --details needs --json, and without it the document holds no examples", "[cli]") {
  const Scratch scratch;
  const fs::path run = train_tiny(scratch, "run");
  const Outcome refused = run_ordo({"eval", run.string(), "--details"});
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "add --json"));
  const Outcome plain = run_ordo({"eval", run.string(), "--json"});
  const Json one = parse_json(plain.out, "ordo eval")["results"][0];
  CHECK(one.contains("metrics"));
  for (const char* key : {"items", "twins", "position_loss"}) CHECK_FALSE(one.contains(key));
}

TEST_CASE("start.json proves which runs began with the same weights", "[cli]") {
  const Scratch scratch;
  const Json first = start_of(train_tiny(scratch, "first")), again = start_of(train_tiny(scratch, "again")),
             other = start_of(train_tiny(scratch, "other", {"seed=2"})),
             learned = start_of(train_tiny(scratch, "learned", {"model.position=learned"}));
  CHECK(first == again);
  CHECK(first["parameters"] > 0);
  CHECK(first["flops_per_token"] > 0);
  CHECK(learned["parameters"] > first["parameters"]);
  size_t drawn = 0;
  for (const auto& [name, hash] : first["weights"].items()) {
    CAPTURE(name);
    CHECK(learned["weights"][name] == hash);  // shared weights do not depend on the encoding
    drawn += other["weights"][name] != hash ? 1 : 0;
  }
  CHECK(drawn >= 5);  // the embedding and the projections; gains and biases are not drawn
  CHECK(learned["weights"].size() == first["weights"].size() + 1);
}

}  // namespace ordo::test
