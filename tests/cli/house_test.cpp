// SPDX-License-Identifier: Apache-2.0
// The rules of the house are kept, and the check of them can fail.
#include "support/catch.h"

#include "support/program.h"

namespace ordo::test {
namespace {

const fs::path kSource = ORDO_SOURCE_DIR;

Outcome check_layers(const fs::path& root) {
  return run_program("/usr/bin/env", {"python3", (kSource / "scripts/check_layers.py").string(), root.string()});
}

std::string source(const std::string& text) { return "// SPDX-License-Identifier: Apache-2.0\n" + text; }

}  // namespace

TEST_CASE("folders include only what is below them, and files look as they should", "[unit]") {
  const Outcome outcome = check_layers(kSource);
  INFO(outcome.out << outcome.err);
  CHECK(outcome.code == 0);
}

TEST_CASE("a breach of each rule of the house is found", "[unit]") {
  struct Breach {
    std::string file, text, told;
  };
  const std::vector<Breach> breaches{
      {"src/ordo/ops/a.cpp", source("#include \"ordo/nn/b.h\"\n"), "nn/ is not below ops/"},
      {"src/ordo/core/a.cpp", source("#include <ATen/core/Tensor.h>\n"), "core/ sees no tensors"},
      {"src/ordo/nn/a.cpp", source("#include <spdlog/spdlog.h>\n"), "spdlog"},
      {"src/ordo/nn/a.cpp", source("#include <torch/torch.h>\n"), "include single headers"},
      {"src/ordo/nn/a.cpp", source("#include <CLI/CLI.hpp>\n"), "CLI11"},
      {"src/ordo/nn/a.cpp", source("#include \"ordo/nn/missing.h\"\n"), "does not exist"},
      {"src/ordo/kitchen/a.cpp", source(""), "not in the table of layers"},
      {"src/ordo/nn/a.cpp", "int x;\n", "licence"},
      {"src/ordo/nn/a.h", source("int x;\n"), "#pragma once"},
      {"src/ordo/nn/BigName.cpp", source(""), "snake_case"},
      {"tests/nn/a_test.cpp", source("TEST_CASE(\"it works\") {}\n"), "exactly one of"},
      {"tests/nn/a_test.cpp", source("TEST_CASE(\"it works\", \"[unit][cli]\") {}\n"), "exactly one of"},
      {"tests/nn/a_test.cpp", source("#include <catch2/catch.hpp>\n"), "support/catch.h"},
  };
  for (const auto& breach : breaches) {
    const Scratch house;
    house.write("src/ordo/nn/b.h", source("#pragma once\n"));
    house.write(breach.file, breach.text);
    const Outcome outcome = check_layers(house.path());
    INFO(breach.file << ": " << breach.text << outcome.out << outcome.err);
    CHECK(outcome.code == 1);
    CHECK(outcome.out.find(breach.told) != std::string::npos);
  }
}

TEST_CASE("a circle of includes is found", "[unit]") {
  const Scratch house;
  house.write("src/ordo/nn/a.h", source("#pragma once\n#include \"ordo/nn/b.h\"\n"));
  house.write("src/ordo/nn/b.h", source("#pragma once\n#include \"ordo/nn/a.h\"\n"));
  const Outcome outcome = check_layers(house.path());
  CHECK(outcome.code == 1);
  CHECK(outcome.out.find("circle") != std::string::npos);
}

TEST_CASE("scripts say in --help what they do, and refuse what they do not know", "[unit]") {
  for (const auto* script : {"quickstart.sh", "test.sh", "check.sh"}) {
    const Outcome help = run_program("/usr/bin/env", {"bash", (kSource / "scripts" / script).string(), "--help"});
    INFO(script << help.err);
    CHECK(help.code == 0);
    CHECK_FALSE(help.out.empty());
  }
  for (const auto* script : {"quickstart.sh", "check.sh"})
    CHECK(run_program("/usr/bin/env", {"bash", (kSource / "scripts" / script).string(), "--wrong"}).code == 2);
}

}  // namespace ordo::test
