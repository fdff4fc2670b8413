// SPDX-License-Identifier: Apache-2.0
// train.certify: the certificate comes before the first step.
#include "support/catch.h"

#include <nlohmann/json.hpp>

#include "ordo/certify/certify.h"
#include "ordo/core/files.h"
#include "ordo/core/json.h"
#include "ordo/train/certified.h"
#include "support/program.h"
#include "train/sample.h"

namespace ordo::test {

TEST_CASE("train.certify: a model that holds trains, and its certificate lies in the run folder", "[unit]") {
  const Scratch scratch;
  const RunConfig config = sample_config({"train.certify=true", "train.steps=2"});
  TrainerParts parts = sample_parts(config);
  parts.run = scratch.path();
  const RunReport report = Trainer(config, parts).run();
  CHECK(report.step == 2);
  const Json certificate = parse_json(read_file(scratch / "certificate.json"), "certificate.json");
  CHECK(certificate["holds"] == true);
  CHECK(certificate["properties"].size() == certified_properties().size());
}

TEST_CASE("train.certify: without it nothing is certified", "[unit]") {
  const Scratch scratch;
  const RunConfig config = sample_config({"train.steps=2"});
  TrainerParts parts = sample_parts(config);
  parts.run = scratch.path();
  Trainer(config, parts).run();
  CHECK_FALSE(fs::exists(scratch / "certificate.json"));
}

TEST_CASE("train.certify: what does not hold is named, with exit 1, and no step is made", "[unit]") {
  const RunConfig config = sample_config({"train.certify=true"});
  const TrainerParts parts = sample_parts(config);
  // Weights so large that their products overflow: as of a run that went wrong.
  const at::NoGradGuard no_grad;
  for (const auto& p : parts.model->parameters()) p.fill_(1e30);
  try {
    require_certificate(config, parts, /*step=*/3);
    FAIL("it was certified");
  } catch (const Error& error) {
    CHECK(error.exit_code() == 1);
    CHECK_THAT(error.what(),
               Catch::Matchers::Contains("train.certify") && Catch::Matchers::Contains("finite_beyond_length"));
  }
}

}  // namespace ordo::test
