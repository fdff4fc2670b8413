// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "config/sample.h"
#include "support/program.h"

namespace ordo::sample {

namespace {

Loaded load_file(const std::filesystem::path& file) {
  Loaded loaded;
  loaded.sources = load_config(file, walk_of(loaded.root), {});
  return loaded;
}

std::string file_complaint(const std::filesystem::path& file) {
  try {
    load_file(file);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("include: the including file wins, and maps merge", "[unit]") {
  const test::Scratch scratch;
  scratch.write("base.yaml", "name: base\nmodel: {dim: 3, heads: 4, window: [1, 2]}\n");
  const Root root = load_file(scratch.write("lm.yaml", "include: base.yaml\nmodel: {heads: 8, window: [5]}\n")).root;
  CHECK(root.name == "base");
  CHECK(root.model.dim == 3);
  CHECK(root.model.heads == 8);
  CHECK(root.model.window == std::vector<int64_t>{5});
}

TEST_CASE("include: of several files the later wins", "[unit]") {
  const test::Scratch scratch;
  scratch.write("a.yaml", "name: a\nmodel: {dim: 3, heads: 1}\n");
  scratch.write("b.yaml", "name: b\n");
  const Root root = load_file(scratch.write("lm.yaml", "include: [a.yaml, b.yaml]\n")).root;
  CHECK(root.name == "b");
  CHECK(root.model.heads == 1);
}

TEST_CASE("include: a choice of another kind replaces the included one whole", "[unit]") {
  const test::Scratch scratch;
  scratch.write("base.yaml",
                "model: {dim: 3, position: {kind: rope, theta: 5}}\ntrain: {optimizer: {kind: adamw, weight_decay: "
                "0.5, lr: 0.3}}\n");
  const Root root =
      load_file(
          scratch.write("lm.yaml", "include: base.yaml\nmodel: {position: {kind: alibi}}\ntrain: {optimizer: sgd}\n"))
          .root;
  CHECK(root.model.position[0].kind == "alibi");
  CHECK(root.train.optimizer.as<Sgd::Config>().lr == 0.1);
}

TEST_CASE("include: a choice of the same kind merges", "[unit]") {
  const test::Scratch scratch;
  scratch.write("base.yaml", "model: {dim: 3, position: {kind: rope, theta: 5}}\n");
  const Root root =
      load_file(scratch.write("lm.yaml", "include: base.yaml\nmodel: {position: {kind: rope, interleaved: true}}\n"))
          .root;
  CHECK(root.model.position[0].as<Rope::Config>().theta == 5.0);
  CHECK(root.model.position[0].as<Rope::Config>().interleaved);
}

TEST_CASE("include: paths are relative to the file that names them", "[unit]") {
  const test::Scratch scratch;
  scratch.write("sub/base.yaml", "include: deeper/more.yaml\ndata: corpus.txt\n");
  scratch.write("sub/deeper/more.yaml", "model: {dim: 3}\n");
  const auto file = scratch.write("lm.yaml", "include: sub/base.yaml\n");
  CHECK(load_file(file).root.data == scratch / "sub" / "corpus.txt");
  scratch.write("lm.yaml", "include: sub/base.yaml\ndata: own.txt\n");
  CHECK(load_file(file).root.data == scratch / "own.txt");
}

TEST_CASE("include: every value keeps the file it stands in", "[unit]") {
  const test::Scratch scratch;
  const auto base = scratch.write("base.yaml", "# first\nmodel: {dim: 3}\n");
  const Sources sources = load_file(scratch.write("lm.yaml", "include: base.yaml\nname: x\n")).sources;
  CHECK(sources.at("model.dim").file == base.string());
  CHECK(sources.at("model.dim").line == 2);
  CHECK(sources.at("name").file == scratch / "lm.yaml");
}

TEST_CASE("include: problems of all files are reported, each at its place", "[unit]") {
  const test::Scratch scratch;
  const auto base = scratch.write("base.yaml", "model: {dim: x}\n");
  const auto file = scratch.write("lm.yaml", "include: base.yaml\nnmae: 3\n");
  const std::string report = file_complaint(file);
  CHECK(report.starts_with(file.string() + ":2:1: unknown key 'nmae'"));
  CHECK(report.find("\n" + base.string() + ":1:14: model.dim must be a whole number") != std::string::npos);
}

TEST_CASE("include: what cannot be included is told where it is named", "[unit]") {
  const test::Scratch scratch;
  scratch.write("self.yaml", "include: self.yaml\n");
  scratch.write("a.yaml", "include: b.yaml\n");
  scratch.write("b.yaml", "include: [a.yaml]\n");
  scratch.write("list.yaml", "[1]\n");
  scratch.write("broken.yaml", "a: [1\n");
  struct Case {
    std::string text, phrase;
  };
  const std::vector<Case> table{
      {"include: absent.yaml\n", "lm.yaml:1:10: there is no file"},
      {"include: lsit.yaml\n", "did you mean"},
      {"include: [self.yaml]\n", "self.yaml:1:10: "},
      {"include: self.yaml\n", "self.yaml includes itself"},
      {"include: a.yaml\n", "b.yaml:1:11: "},
      {"include: lm.yaml\n", "lm.yaml includes itself"},
      {"include: list.yaml\n", "list.yaml is no map of keys"},
      {"include: .\n", "is a folder; a config is a YAML file"},
      {"include: broken.yaml\n", "broken.yaml:1:4: a list opened with '['"},
      {"include: {a: b}\n", "lm.yaml:1:10: include must be the path of a file"},
      {"include: ~\n", "include must be the path of a file"},
      {"include: ''\n", "include must be the path of a file"},
      {"include: /dev/zero\n", "/dev/zero is a device"},
  };
  for (const auto& [text, phrase] : table) {
    INFO(text);
    const std::string report = file_complaint(scratch.write("lm.yaml", text + "model: {dim: 3}\n"));
    INFO(report);
    CHECK(report.find(phrase) != std::string::npos);
  }
}

TEST_CASE("include: a tree of files that doubles with each level is refused", "[unit]") {
  const test::Scratch scratch;
  scratch.write("f0.yaml", "model: {dim: 3}\n");
  for (int i = 1; i <= 20; ++i)
    scratch.write(fmt::format("f{}.yaml", i), fmt::format("include: [f{0}.yaml, f{0}.yaml]\n", i - 1));
  CHECK(file_complaint(scratch / "f20.yaml").find("more than 100 files are included") != std::string::npos);
}

TEST_CASE("load: a file that cannot be read is a config error that names it", "[unit]") {
  const test::Scratch scratch;
  scratch.write("config.yaml", "model: {dim: 3}\n");
  CHECK(file_complaint(scratch / "confg.yaml") == fmt::format("there is no file {}; did you mean {}?",
                                                              (scratch / "confg.yaml").string(),
                                                              (scratch / "config.yaml").string()));
  CHECK(file_complaint(scratch.path()).ends_with("is a folder; a config is a YAML file"));
}

TEST_CASE("load: relations are checked once every option is sound, and find their places", "[unit]") {
  Root root;
  const auto check = [&](Problems& problems) {
    problems.add("model.heads", "heads ({}) must divide model.dim ({})", root.model.heads, root.model.dim);
  };
  const auto report = [&](const std::string& text, const std::vector<std::string>& overrides) -> std::string {
    try {
      load_config_text(text, walk_of(root), {.overrides = overrides, .name = "lm.yaml"}, check);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(report("model:\n  dim: 3\n  heads: 2\n", {}).starts_with("lm.yaml:3:3: heads (2) must divide model.dim (3)"));
  CHECK(report("model:\n  dim: 3\n", {}).starts_with("lm.yaml:1:1: heads (2)"));  // the nearest parent
  CHECK(report("model:\n  dim: 3\n", {"model.heads=2"}) ==
        "command line: model.heads=2: heads (2) must divide model.dim (3)");
  CHECK(report("model:\n  dim: x\n", {}).find("must divide") == std::string::npos);
}

}  // namespace ordo::sample
