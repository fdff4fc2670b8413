// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <nlohmann/json.hpp>

#include "ordo/config/layers.h"
#include "ordo/config/node.h"
#include "sample.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

struct Free {
  Tree vary;
  int64_t seed = 1;
};
void fields(Fields& f, Free& c) {
  f("vary", c.vary, "the factors", "FACTOR: {LEVEL: {KEY: value}}");
  f("seed", c.seed, "of the draw");
}
Free read_free(const std::string& text) {
  Free config;
  load_config_text(text, walk_of(config), {.name = "study.yaml"});
  return config;
}

constexpr const char* kBase = "model: {dim: 8, position: {kind: rope, theta: 5}}\ndata: corpus.txt\n";

// A base config and another file whose settings are laid over it.
struct Files {
  Scratch scratch;
  Folders folders;
  Problems problems;
  Node base, over;

  explicit Files(const std::string& settings) {
    base = *read_tree(scratch.write("base.yaml", kBase), folders, problems);
    over = *read_tree(scratch.write("levels/over.yaml", settings), folders, problems);
  }
  std::vector<ordo::Setting> settings() const {
    std::vector<ordo::Setting> all;
    for (const auto& item : over.items)
      all.push_back({item.key, inline_yaml(item.value), item.at, std::make_shared<const Node>(item.value)});
    return all;
  }
  sample::Root read() {
    lay_over(base, settings(), problems);
    sample::Root root;
    read_into(base, walk_of(root), folders, problems);
    return root;
  }
};

}  // namespace

TEST_CASE("a free form keeps what was written, with its places", "[unit]") {
  const Free config = read_free("seed: 2\nvary:\n  a.b: [1, {x: \"2\"}]\n");
  REQUIRE(config.vary.node != nullptr);
  const auto& item = config.vary.node->items.at(0);
  CHECK(item.key == "a.b");
  CHECK(item.value.items.at(1).value.items.at(0).at.text() == "study.yaml:3:13");
  CHECK(read_free("seed: 2").vary.node == nullptr);
}

TEST_CASE("a free form is written as it was read, and needs a value", "[unit]") {
  Free config = read_free("vary: {a.b: [1, 2.5, \"3\", true, text, {c: }], d: []}\n");
  CHECK(inline_yaml(*config.vary.node) == "{a.b: [1, 2.5, '3', true, text, {c: null}], d: []}");
  Free again = read_free(dump_yaml(walk_of(config)));
  CHECK(inline_yaml(*again.vary.node) == inline_yaml(*config.vary.node));
  CHECK(differ(walk_of(config), walk_of(again)).empty());
  CHECK(contains(thrown<ConfigError>([] { read_free("vary:\n"); }),
                 "vary must be of the form FACTOR: {LEVEL: {KEY: value}}, found nothing"));
}

TEST_CASE("manual and schema know a free form", "[unit]") {
  Free config;
  CHECK(contains(manual(walk_of(config), ""), "vary: FACTOR: {LEVEL: {KEY: value}}"));
  CHECK(contains(manual(walk_of(config), "vary"), "values: FACTOR: {LEVEL: {KEY: value}}"));
  CHECK(schema_json(walk_of(config), "free").at("properties").contains("vary"));
}

TEST_CASE("settings of another file are laid over a config, broader keys first", "[unit]") {
  Files files("model.position.bias_max: 4\nmodel.position: alibi\nmodel.dim: 16\ndata: other.txt\n");
  const auto root = files.read();
  INFO(files.problems.report());
  CHECK(files.problems.empty());
  CHECK(root.model.dim == 16);
  CHECK(root.model.position.at(0).kind == "alibi");
  CHECK(root.model.position.at(0).as<sample::Alibi::Config>().bias_max == 4);
  CHECK(root.data == files.scratch / "levels" / "other.txt");
}

TEST_CASE("what is wrong with a setting is shown in the file in which it is written", "[unit]") {
  Files files("model.position: {kind: rope, thta: 7}\nmodel.dmi: 3\nmodel.dim: wide\n");
  files.read();
  const std::string report = files.problems.report();
  INFO(report);
  CHECK(contains(report, "over.yaml:1:30: unknown key 'thta' in model.position (kind: rope)"));
  CHECK(contains(report, "over.yaml:2:1: unknown key 'dmi' in model"));
  CHECK(contains(report, "over.yaml:3:12: model.dim must be a whole number, found 'wide'"));
  CHECK(contains(report, "model.position: {kind: rope, thta: 7}"));
}

TEST_CASE("problems of several readings are told once", "[unit]") {
  Files files("model.dim: 0\n");
  files.read();
  REQUIRE(files.problems.all().size() == 1);
  Problems all;
  all.adopt(files.problems);
  all.adopt(files.problems);
  CHECK(all.all().size() == 1);
  CHECK(contains(all.report(), "    1 | model.dim: 0"));
}

}  // namespace ordo::test
