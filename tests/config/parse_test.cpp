// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "config/sample.h"

namespace ordo::sample {

namespace {

const std::string kSound = "model: {dim: 3}\n";

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// `name: [*before, *before, …]`, level upon level.
std::string alias_bomb(int levels, int width, const std::string& seed) {
  std::string text = "a0: &a0 " + seed + "\n";
  for (int i = 1; i <= levels; ++i) {
    text += fmt::format("a{}: &a{} [", i, i);
    for (int k = 0; k < width; ++k) text += fmt::format("{}*a{}", k == 0 ? "" : ", ", i - 1);
    text += "]\n";
  }
  return text;
}

}  // namespace

TEST_CASE("yaml: what is not YAML is told at its place, in words for people", "[unit]") {
  struct Case {
    std::string text, start, phrase;
  };
  const std::vector<Case> table{
      {"model:\n\tdim: 3\n", "lm.yaml:2:1: ", "a tab stands where the line is indented"},
      {"model: [1, 2\n", "lm.yaml:1:8: ", "a list opened with '['"},
      {"model: {dim: 3\n", "lm.yaml:1:8: ", "a map opened with '{'"},
      {"name: 'abc\n", "lm.yaml:1:7: ", "a quote is opened and never closed"},
      {"name: 'a''\nmodel: {dim: 3}\n", "lm.yaml:1:7: ", "a quote is opened and never closed"},
      {"name: &x \"a\\\"\n\n", "lm.yaml:1:7: ", "a quote is opened and never closed"},
      {"name: ]\n", "lm.yaml:1:7: ", "a closing bracket without its opening one"},
      {"a: b: c\n", "lm.yaml:1:5: ", "a value with ': ' in it needs quotes"},
      {"model:\n  dim: 3\n heads: 3\n", "lm.yaml:3:2: ", "an indent is out of place"},
      {"model:\n  dim: 3\n  heads 4\n  x: 3\n", "lm.yaml:4:4: ", "a space after the ':'"},
      {"- 1\nmodel: 3\n", "lm.yaml:2:1: ", "does not go on with what stands above"},
      {"model:\n  - 1\n  dim: 3\n", "lm.yaml:3:3: ", "an indent is out of place"},
      {"name: @x\n", "lm.yaml:1:7: ", "cannot start a value"},
      {"name: *x\n", "lm.yaml:1:7: ", "names no anchor before it"},
      {"name: &x [*x]\n", "lm.yaml:1:11: ", "inside the value that it names"},
      {"name: \"\\q\"\n", "lm.yaml:1:", "unknown escape character"},
      {kSound + "---\n" + kSound, "lm.yaml:2:1: ", "a second document starts here"},
      {kSound + "name: !custom x\n", "lm.yaml:2:7: ", "tags are not taken"},
      {kSound + "name: !!str 3\n", "lm.yaml:2:7: ", "tags are not taken"},
      {kSound + "<<: {name: x}\n", "lm.yaml:2:1: ", "merge keys ('<<') are not taken"},
      {kSound + "? [1, 2]\n: 3\n", "lm.yaml:2:3: ", "a key must be a name"},
      {kSound + ": 3\n", "lm.yaml:2:", "a key must be a name"},
      {kSound + "name: a\x01z\n", "lm.yaml:2:8: ", "the control character 0x01"},
      {kSound + "name: a\x04\nmodle: 3\n", "lm.yaml:2:8: ", "the control character 0x04"},
      {kSound + "name: \xC3\x28\n", "lm.yaml:2:7: ", "byte 0xc3 is not valid UTF-8"},
      {kSound + "name: \xED\xA0\x80\n", "lm.yaml:2:7: ", "not valid UTF-8"},
      {std::string("\xFF\xFEm\0o\0", 6), "lm.yaml:1:1: ", "byte 0xff is not valid UTF-8"},
  };
  for (const auto& [text, start, phrase] : table) {
    INFO(text);
    const std::string report = complaint(text);
    INFO(report);
    CHECK(report.starts_with(start));
    CHECK(report.find(phrase) != std::string::npos);
  }
}

TEST_CASE("yaml: broken text is reported alone, without keys that would only seem to be missing", "[unit]") {
  CHECK(complaint("train: [1\n").find("missing") == std::string::npos);
}

TEST_CASE("yaml: a byte-order mark and line ends of Windows change nothing", "[unit]") {
  const std::string unix_text = "name: x\nmodel:\n  dim: 3\n  heads: 4\n";
  std::string windows = "\xEF\xBB\xBF";
  for (const char c : unix_text) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const Loaded a = load(unix_text), b = load(windows);
  CHECK(differ(walk_of(const_cast<Root&>(a.root)), walk_of(const_cast<Root&>(b.root))).empty());
  CHECK(complaint("\xEF\xBB\xBF"
                  "nmae: 3\r\nmodel: {dim: 3}\r\n")
            .starts_with("lm.yaml:1:1: "));
}

TEST_CASE("yaml: columns count characters, and the caret stands under wide ones", "[unit]") {
  const std::string report = complaint("name: \"日本\"\nmodel: {dim: 3, 日本: 4}");
  CHECK(report.starts_with("lm.yaml:2:17: "));
  CHECK(report.find("\n" + std::string(8 + 16, ' ') + "^~~~ model takes") != std::string::npos);
  CHECK(complaint("model: {\"名\": 1, dim: x}").starts_with("lm.yaml:1:9: "));
}

TEST_CASE("yaml: anchors and aliases copy a value", "[unit]") {
  const Root root = load("model: {dim: 3, heads: &n 4, window: [*n, *n]}").root;
  CHECK(root.model.window == std::vector<int64_t>{4, 4});
}

TEST_CASE("yaml: changing what an alias named does not change its copies", "[unit]") {
  const Root root = load("model: {dim: 3, position: [&p {kind: alibi}, *p]}", {"model.position.0.bias_max=4"}).root;
  CHECK(root.model.position[0].as<Alibi::Config>().bias_max == 4);
  CHECK(root.model.position[1].as<Alibi::Config>().bias_max == 8);
}

TEST_CASE("yaml: twelve bombs are refused in words", "[unit]") {
  std::string doubled = "a0: &a0 {x: 1}\n";  // maps inside maps
  for (int i = 1; i < 30; ++i) doubled += fmt::format("a{0}: &a{0} {{l: *a{1}, r: *a{1}}}\n", i, i - 1);
  std::string chain = "a0: &a0 [1]\n";  // deep by aliases alone
  for (int i = 1; i < 120; ++i) chain += fmt::format("a{0}: &a{0} [*a{1}]\n", i, i - 1);
  std::string indents;
  for (int i = 0; i < 120; ++i) indents += std::string(static_cast<size_t>(i), ' ') + "a:\n";
  const std::vector<std::string> bombs{alias_bomb(9, 10, "[1]"),
                                       alias_bomb(1, 2000, "[" + repeated("1, ", 99) + "1]"),
                                       alias_bomb(3, 100, "[a, b]"),
                                       alias_bomb(5, 20, "{k: v}"),
                                       "name: " + repeated("[", 101) + repeated("]", 101),
                                       "name: " + repeated("[", 5000),
                                       "name: " + repeated("{a: ", 5000),
                                       repeated("- ", 5000) + "x",
                                       indents + std::string(120, ' ') + "b: 1\n",
                                       "name: [" + repeated("1, ", 100'001) + "1]\n",
                                       doubled,
                                       chain};
  CHECK(bombs.size() == 12);
  for (size_t i = 0; i < bombs.size(); ++i) {
    INFO("bomb " << i);
    const std::string report = complaint(bombs[i]);
    INFO(report.substr(0, 300));
    const bool refused = report.find("more than 100000 values") != std::string::npos ||
                         report.find("deeper than 100 levels") != std::string::npos;
    CHECK(refused);
    CHECK(report.find("with this file") == std::string::npos);  // refused while it was expanded, not after
    CHECK(report.size() < 1000);
  }
}

TEST_CASE("yaml: a thousand repeated keys are told as duplicates in no time", "[unit]") {
  const std::string report = complaint(kSound + repeated("name: x\n", 50'000));
  CHECK(report.find("duplicate key 'name'") != std::string::npos);
}

TEST_CASE("yaml: a very long line is shown in part", "[unit]") {
  const std::string report = complaint("model: {dim: 3, window: [" + repeated("1, ", 5000) + "x]}");
  CHECK(report.starts_with("lm.yaml:1:15026: "));
  CHECK(report.size() < 600);
  CHECK(report.find("…") != std::string::npos);
}

TEST_CASE("yaml: more than 10 MB are no config", "[unit]") {
  const std::string report = complaint(kSound + "#" + std::string(10'000'000, 'x'));
  CHECK(report == "lm.yaml is larger than 10 MB; that is no config");
}

TEST_CASE("yaml: escapes in quoted text cannot reach the terminal", "[unit]") {
  const std::string report = complaint("model: {dim: \"a\\e[31m\"}");
  CHECK(report.find('\x1b') == std::string::npos);
  CHECK(report.find("found the text 'a\\x1b[31m'") != std::string::npos);
}

}  // namespace ordo::sample
