// SPDX-License-Identifier: Apache-2.0
// The commands of the README are run as they stand there.
#include "support/catch.h"

#include <sstream>

#include "ordo/core/files.h"
#include "support/program.h"

namespace ordo::test {
namespace {

// The lines "$ build/ordo …" of the blocks ```console, in order.
std::vector<std::string> readme_commands() {
  std::istringstream text(read_file(fs::path(ORDO_SOURCE_DIR) / "README.md"));
  std::vector<std::string> commands;
  bool inside = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("```"))
      inside = line == "```console";
    else if (inside && line.starts_with("$ build/ordo"))
      commands.push_back(line.substr(2));
  }
  return commands;
}

}  // namespace

TEST_CASE("the commands of the README run, in their order, from a folder with configs/ and build/", "[cli]") {
  const Scratch scratch;
  fs::create_directory_symlink(fs::path(ORDO_SOURCE_DIR) / "configs", scratch / "configs");
  fs::create_directory_symlink(ordo_program().parent_path(), scratch / "build");
  const auto commands = readme_commands();
  CHECK(commands.size() >= 8);
  for (const auto& command : commands) {
    const Outcome outcome = run_program("/usr/bin/env", {"bash", "-c", command}, {.folder = scratch.path()});
    INFO(command << "\n" << outcome.out << outcome.err);
    CHECK(outcome.code == 0);
  }
}

}  // namespace ordo::test
