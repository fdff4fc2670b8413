// SPDX-License-Identifier: Apache-2.0
// What ordo check says of a config, and what it refuses as a training would.
#include "support/catch.h"

#include "support/program.h"

namespace ordo::test {

TEST_CASE("check refuses a kernel that the first step would refuse, with its place", "[cli]") {
  const std::string tiny = std::string(ORDO_SOURCE_DIR) + "/configs/tiny.yaml";
  const Outcome refused = run_ordo({"check", tiny, "device=cpu", "model.attention.kernel=flash"});
  INFO(refused.out << refused.err);
  CHECK(refused.code == 2);
  CHECK(refused.err.find("command line: attention kernel flash cannot serve layer 0: it computes in bf16 or fp16, not "
                         "in fp32; use model.attention.kernel=auto") != std::string::npos);
  CHECK(refused.out.find("the config holds") == std::string::npos);
  CHECK(run_ordo({"check", tiny, "model.attention.kernel=sdpa", "model.position=t5_bias"}).code == 2);
}

TEST_CASE("check says of each encoding what it acts on, where, and how much it learns", "[cli]") {
  const std::string tiny = std::string(ORDO_SOURCE_DIR) + "/configs/tiny.yaml";
  const auto check = [&](const std::string& position) {
    const Outcome outcome = run_ordo({"check", tiny, "device=cpu", "model.position=" + position});
    CHECK(outcome.code == 0);
    return outcome.out + outcome.err;
  };
  const std::string several = check("[learned, {kind: rope, layers: [1, 0]}, t5_bias]");
  INFO(several);
  CHECK(several.find("position     learned: acts on input, 2048 parameters\n") != std::string::npos);
  CHECK(several.find("position     rope: acts on query and key in layer 0, no parameters\n") != std::string::npos);
  CHECK(several.find("position     t5_bias: acts on scores in all layers, ") != std::string::npos);
  CHECK(check("none").find("position     none: acts on nothing, no parameters\n") != std::string::npos);
  CHECK(check("randomized").find("so it changes nothing") != std::string::npos);
  CHECK(check("[randomized, rope]").find("so it changes nothing") == std::string::npos);
}

}  // namespace ordo::test
