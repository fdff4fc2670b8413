// SPDX-License-Identifier: Apache-2.0
// The known families at their originals' sizes, counted without the memory that their weights would take.
#include "support/catch.h"

#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "ordo/core/json.h"
#include "support/program.h"

namespace ordo::test {

namespace {

constexpr int64_t kMostResident = int64_t{1} << 20;  // KiB

// What ordo check counts, at the overrides that a family's own comment gives.
Json counted(const std::string& family, const Arguments& overrides) {
  Arguments words{"check", std::string(ORDO_SOURCE_DIR) + "/configs/models/" + family + ".yaml", "--json",
                  "device=cpu"};
  words.insert(words.end(), overrides.begin(), overrides.end());
  const Outcome outcome = run_ordo(words);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  rusage children{};
  REQUIRE(::getrusage(RUSAGE_CHILDREN, &children) == 0);
  CHECK(children.ru_maxrss < kMostResident);  // of the largest one
  return parse_json(outcome.out, "check --json");
}

}  // namespace

TEST_CASE("check counts GPT-2", "[cli]") {
  CHECK(counted("gpt2", {"model.dim=768", "model.layers=12", "model.attention.heads=12", "train.length=1024",
                         "task.vocab_size=50257"})["parameters"] == 124'439'808);
}

TEST_CASE("check counts T5 small", "[cli]") {
  CHECK(counted("t5", {"model.dim=512", "model.layers=6", "model.attention.heads=8", "model.feed_forward.hidden=2048",
                       "train.length=512", "task.vocab_size=32128"})["parameters"] == 60'506'624);
}

TEST_CASE("check counts LLaMA 7B, whose weights alone are 25 GiB, within 1 GiB", "[cli]") {
  const Json found =
      counted("llama", {"model.dim=4096", "model.layers=32", "model.attention.heads=32",
                        "model.feed_forward.hidden=11008", "train.length=2048", "task.vocab_size=32000"});
  CHECK(found["parameters"] == 6'738'415'616);
  CHECK(found["memory"]["weights"].get<double>() == 4.0 * 6'738'415'616.0);
  CHECK(found["memory"]["optimizer"].get<double>() >= 8.0 * 6'738'415'616.0);
}

TEST_CASE("check counts BERT base with its pooler, without a head", "[cli]") {
  const Scratch scratch;
  std::string words = "<unk>\n";
  for (int i = 1; i < 30'522; ++i) words += "w" + std::to_string(i) + "\n";
  const Json found =
      counted("bert", {"model.dim=768", "model.layers=12", "model.attention.heads=12", "train.length=512",
                       "task.tokenizer.file=" + scratch.write("vocab.txt", words).string()});
  CHECK(found["parameters"].get<int64_t>() - found["parameters_by_part"]["head"].get<int64_t>() == 109'482'240);
}

}  // namespace ordo::test
