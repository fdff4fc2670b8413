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

// What stands behind "position: " in the block of encodings, one a line, commented out or not.
std::vector<std::string> readme_encodings() {
  const std::string text = read_file(fs::path(ORDO_SOURCE_DIR) / "README.md");
  std::istringstream section(text.substr(text.find("## Choosing a position encoding")));
  std::vector<std::string> encodings;
  for (std::string line; std::getline(section, line) && !line.starts_with("## A proof");) {
    const size_t key = line.find("position: ");
    if (key == 2 || line.starts_with("  # position: ")) encodings.push_back(line.substr(key));
  }
  return encodings;
}

// The examples of `ordo help expression`: the lines from one "position:" to the empty one behind it.
std::vector<std::string> help_formulas() {
  std::istringstream page(run_ordo({"help", "expression"}).out);
  std::vector<std::string> examples;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("  position:")) examples.emplace_back();
    inside = (inside || line.starts_with("  position:")) && !line.empty();
    if (inside) examples.back() += line + "\n";
  }
  return examples;
}

}  // namespace

TEST_CASE("the encodings of the README hold, its formulas in stacks that see both sides too", "[cli]") {
  const Scratch scratch;
  const std::string base = "include: " + std::string(ORDO_SOURCE_DIR) + "/configs/tiny.yaml\nmodel:\n  ";
  const auto encodings = readme_encodings();
  CHECK(encodings.size() >= 6);
  for (const auto& encoding : encodings) {
    const std::string file = scratch.write("one.yaml", base + "layers: 4\n  " + encoding + "\n").string();
    const Outcome outcome = run_ordo({"check", file});
    INFO(encoding << "\n" << outcome.err);
    CHECK(outcome.code == 0);
    if (encoding.find("expression") == std::string::npos) continue;
    const std::string both =
        "{kind: encoder, dim: 32, layers: 2, attention: {heads: 2}, " + encoding.substr(0, encoding.find("  #")) + "}";
    CHECK(run_ordo({"certify", file, "model=" + both}).code == 0);
  }
}

TEST_CASE("the formulas of ordo help expression work as they stand there", "[cli]") {
  const Scratch scratch;
  const auto examples = help_formulas();
  CHECK(examples.size() == 3);
  for (const auto& example : examples) {
    const std::string file =
        scratch.write("one.yaml", "include: " + std::string(ORDO_SOURCE_DIR) + "/configs/tiny.yaml\nmodel:\n" + example)
            .string();
    const Outcome outcome = run_ordo({"check", file});
    INFO(example << outcome.err);
    CHECK(outcome.code == 0);
  }
}

TEST_CASE("the commands of the README run, in their order, from a folder with configs/ and build/", "[cli]") {
  const Scratch scratch;
  fs::create_directory_symlink(fs::path(ORDO_SOURCE_DIR) / "configs", scratch / "configs");
  fs::create_directory_symlink(ordo_program().parent_path(), scratch / "build");
  const auto commands = readme_commands();
  CHECK(commands.size() >= 8);
  for (auto command : commands) {
    if (command.find(" ablate ") != std::string::npos)
      command += " 'seeds=[1]' train.steps=50";  // a study takes minutes
    const Outcome outcome = run_program("/usr/bin/env", {"bash", "-c", command}, {.folder = scratch.path()});
    INFO(command << "\n" << outcome.out << outcome.err);
    CHECK(outcome.code == 0);
  }
}

}  // namespace ordo::test
