// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "config/sample.h"
#include "ordo/config/writer.h"

namespace ordo::sample {

namespace {

// The text of a config after one trip through YAML.
std::string again(const std::string& yaml) {
  Root root = load(yaml).root;
  return dump_yaml(walk_of(root));
}

std::string name_after_a_trip(const std::string& name) {
  Root root = load("model: {dim: 3}").root;
  root.name = name;
  return load(dump_yaml(walk_of(root))).root.name;
}

}  // namespace

TEST_CASE("dump: every key stands there with its default", "[unit]") {
  CHECK(again("model: {dim: 3, position: [rope, {kind: alibi, bias_max: 4}]}") ==
        "name: run\n"
        "data: ''\n"
        "model:\n"
        "  dim: 3\n"
        "  heads: 2\n"
        "  window: []\n"
        "  position:\n"
        "    - kind: rope\n"
        "      theta: 10000\n"
        "      interleaved: false\n"
        "    - kind: alibi\n"
        "      bias_max: 4\n"
        "  feed_forward:\n"
        "    hidden: 0\n"
        "    activation: gelu\n"
        "    gated: false\n"
        "    dropout: 0\n"
        "  norm:\n"
        "    kind: layer\n"
        "    bias: true\n"
        "  softcap: null\n"
        "train:\n"
        "  steps: 2000 steps\n"
        "  memory: 4 GB\n"
        "  optimizer:\n"
        "    kind: adamw\n"
        "    lr: 0.001\n"
        "    weight_decay: 0.01\n"
        "    betas: [0.9, 0.999]\n");
}

TEST_CASE("dump: what was written reads back to the same", "[unit]") {
  for (const char* yaml :
       {"model: {dim: 3}",
        "model: {dim: 3, softcap: 1e-300, window: [1, 2, 3]}\ntrain: {steps: 1e8 tokens, memory: 512}",
        "model: {dim: 3, position: {kind: chain, parts: [alibi, {kind: chain, parts: [{kind: rope, scaling: yarn}]}]}}",
        "name: 'a: b'\ndata: some where/x.txt\nmodel: {dim: 3}\ntrain: {optimizer: {kind: sgd, lr: 3e-4}}"}) {
    INFO(yaml);
    const std::string once = again(yaml);
    CHECK(again(once) == once);
  }
}

TEST_CASE("dump: text of any look reads back as it was", "[unit]") {
  const std::vector<std::string> texts{
      "no",   "yes",     "true",     "null",    "~",          "010",     "1e3",  "0x1F",   "1_000",    "3",
      "-3",   ".5",      "",         " a",      "a ",         "a: b",    "a:b",  "#x",     "a #b",     "a#b",
      "- a",  "-",       "--- a",    "...",     "?",          "? a",     "[a]",  "{a: b}", "a, b",     "&a",
      "*a",   "!a",      "|",        ">",       "%a",         "@a",      "`a`",  "'",      "''",       "it's",
      "\"",   "\\",      "a\nb",     "\n",      "a\n",        "\ta",     "a\tb", "日本",   "naïve",    "e\u0301",
      "😀",    "\u00a0x", "\u0085",   "\u2028x", "\ufeffx",    "\x1b[0m", "\x7f", "\x04",   "/a/b c.x", "../a",
      ".",    "..",      "a.b-c_d+", "5 GB",    "2024-01-01", "=",       "<<",   "12:30",  ".inf",     ".nan",
      "0o17", "y",       "On",       "C:\\x",   "key: |",     "$x",      "a  b", "“q”"};
  for (const auto& text : texts) {
    INFO("'" << text << "'");
    CHECK(name_after_a_trip(text) == text);
  }
}

TEST_CASE("dump: text is in quotes only where it must be", "[unit]") {
  CHECK(yaml_inline("runs/a-b_c.txt") == "runs/a-b_c.txt");
  CHECK(yaml_inline("5 epochs") == "5 epochs");
  CHECK(yaml_inline("日本 語") == "日本 語");
  CHECK(yaml_inline("no") == "'no'");
  CHECK(yaml_inline(".nan") == "'.nan'");
  CHECK(yaml_inline("it's: x") == "'it''s: x'");
  CHECK(yaml_inline("a\nb") == "\"a\\nb\"");
}

TEST_CASE("dump: numbers are the shortest text that reads back to the same double", "[unit]") {
  Root root = load("model: {dim: 3, softcap: 1}").root;
  const double smallest = std::numeric_limits<double>::min();
  for (const double value : {3e-4, 0.1, 1.0 / 3.0, 1e16, 1e300, 123456789.0, smallest,
                             std::numeric_limits<double>::max(), 2.0, 0.1F * 1.0}) {
    root.model.softcap = value;
    CHECK(load(dump_yaml(walk_of(root))).root.model.softcap == value);
  }
  root.model.softcap = 3e-4;
  CHECK(dump_yaml(walk_of(root)).find("softcap: 0.0003\n") != std::string::npos);
}

TEST_CASE("dump: with sources, each line says where its value came from", "[unit]") {
  Loaded loaded = load("name: x\nmodel:\n  dim: 3\n  window: [1, 2]\n  position: {kind: rope, theta: 5}\n",
                       {"model.heads=4", "model.position.interleaved=true"});
  const std::string text = dump_yaml(walk_of(loaded.root), &loaded.sources);
  for (const char* line :
       {"name: x  # lm.yaml:1\n", "  dim: 3  # lm.yaml:3\n", "  heads: 4  # command line\n",
        "  window: [1, 2]  # lm.yaml:4\n", "    - kind: rope  # lm.yaml:5\n", "      theta: 5  # lm.yaml:5\n",
        "      interleaved: true  # command line\n", "    activation: gelu  # default\n", "  norm:\n"}) {
    INFO(line);
    CHECK(text.find(line) != std::string::npos);
  }
  CHECK(load(text).root.model.heads == 4);
}

TEST_CASE("dump: long lists and lists of maps stand in blocks", "[unit]") {
  Json list = Json::array();
  for (int i = 0; i < 60; ++i) list.push_back(i);
  CHECK(yaml_block({{"a", list}}, nullptr).starts_with("a:\n  - 0\n  - 1\n"));
  CHECK(yaml_block({{"a", {{{"b", 1}, {"c", {1, 2}}}, {{"b", 2}}}}}, nullptr) ==
        "a:\n  - b: 1\n    c: [1, 2]\n  - b: 2\n");
  CHECK(yaml_block({{"a", {{1, 2}, {3, 4}}}}, nullptr) == "a:\n  - [1, 2]\n  - [3, 4]\n");
}

TEST_CASE("dump: as JSON the same keys hold the same values", "[unit]") {
  Root root = load("model: {dim: 3, softcap: 2.5, position: alibi}\ntrain: {steps: 5 epochs}").root;
  const Json json = dump_json(walk_of(root));
  CHECK(json["model"]["dim"] == 3);
  CHECK(json["model"]["softcap"] == 2.5);
  CHECK(json["model"]["position"][0]["kind"] == "alibi");
  CHECK(json["train"]["steps"] == "5 epochs");
  CHECK(json["train"]["optimizer"]["betas"] == Json({0.9, 0.999}));
}

TEST_CASE("dump: a choice that was never read is dumped with its kind's defaults", "[unit]") {
  Root root;
  CHECK(dump_json(walk_of(root))["train"]["optimizer"]["lr"] == 1e-3);
}

}  // namespace ordo::sample
