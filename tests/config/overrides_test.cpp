// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "config/sample.h"
#include "ordo/core/files.h"
#include "ordo/core/log.h"
#include "support/program.h"

namespace ordo::sample {

namespace {

const std::string kRope = "model: {dim: 3, position: {kind: rope, theta: 5, interleaved: true}}\n";

const Choice<Position> first_position(const std::string& text, const std::vector<std::string>& overrides) {
  return load(text, overrides).root.model.position.at(0);
}

}  // namespace

TEST_CASE("override: a value of the command line wins over the file's", "[unit]") {
  const Root root = load("model: {dim: 3, heads: 2}", {"model.heads=8", "name=x y", "train.steps=5 epochs"}).root;
  CHECK(root.model.heads == 8);
  CHECK(root.name == "x y");
  CHECK(root.train.steps == Quantity{5, "epochs"});
}

TEST_CASE("override: of two for one key the last wins", "[unit]") {
  CHECK(load("model: {dim: 3}", {"model.heads=4", "model.heads=8"}).root.model.heads == 8);
}

TEST_CASE("override: its value is YAML", "[unit]") {
  const Root root =
      load("model: {dim: 3}", {"model.window=[1, 2]", "model.softcap=1e1", "train.optimizer={kind: sgd, lr: 0.5}"})
          .root;
  CHECK(root.model.window == std::vector<int64_t>{1, 2});
  CHECK(root.model.softcap == 10.0);
  CHECK(root.train.optimizer.as<Sgd::Config>().lr == 0.5);
}

TEST_CASE("override: null empties an optional", "[unit]") {
  CHECK_FALSE(load("model: {dim: 3, softcap: 4}", {"model.softcap=null"}).root.model.softcap.has_value());
}

TEST_CASE("override: a setting of the default kind needs no kind", "[unit]") {
  const Root root = load("model: {dim: 3}", {"train.optimizer.lr=1e-4"}).root;
  CHECK(root.train.optimizer.kind == "adamw");
  CHECK(root.train.optimizer.as<Adamw::Config>().lr == 1e-4);
}

TEST_CASE("override: another kind drops what the file gave to the old one", "[unit]") {
  for (const char* override : {"model.position.kind=alibi", "model.position=alibi", "model.position={kind: alibi}",
                               "model.position.0.kind=alibi"}) {
    INFO(override);
    CHECK(first_position(kRope, {override}).kind == "alibi");
  }
  CHECK(first_position(kRope, {"model.position={kind: alibi, bias_max: 3}"}).as<Alibi::Config>().bias_max == 3);
}

TEST_CASE("override: what is missing after another kind is told at the override that dropped it", "[unit]") {
  const std::string text = "model: {dim: 3, position: {kind: rope, scaling: {kind: yarn, factor: 2}}}\n";
  const std::string told = complaint(text, {"model.position.scaling.kind=linear"});
  CHECK_THAT(told, Catch::StartsWith("command line: model.position.scaling.kind=linear: missing key "
                                     "'model.position.scaling.factor'\n"));
  CHECK_THAT(told, Catch::Contains("kind linear here replaces yarn, and all that was set for it with it: factor"));
}

TEST_CASE("override: the kind's own settings count, wherever they stand on the command line", "[unit]") {
  CHECK(
      first_position(kRope, {"model.position.bias_max=3", "model.position.kind=alibi"}).as<Alibi::Config>().bias_max ==
      3);
  CHECK(first_position(kRope, {"model.position=alibi", "model.position.bias_max=3"}).as<Alibi::Config>().bias_max == 3);
}

TEST_CASE("override: the same kind keeps what the file gave", "[unit]") {
  for (const char* override : {"model.position.kind=rope", "model.position=rope", "model.position={kind: rope}"}) {
    INFO(override);
    CHECK(first_position(kRope, {override}).as<Rope::Config>().theta == 5.0);
  }
}

TEST_CASE("override: a kind other than the default one drops what was meant for the default", "[unit]") {
  const std::string text = "model: {dim: 3}\ntrain: {optimizer: {lr: 0.5, weight_decay: 0.3}}";
  CHECK(load(text, {"train.optimizer.kind=sgd"}).root.train.optimizer.as<Sgd::Config>().lr == 0.1);
  CHECK(load(text, {"train.optimizer.kind=adamw"}).root.train.optimizer.as<Adamw::Config>().lr == 0.5);
}

TEST_CASE("override: a section with an option named kind keeps its other options", "[unit]") {
  const Root root = load("model: {dim: 3, norm: {kind: layer, bias: false}}", {"model.norm.kind=rms"}).root;
  CHECK(root.model.norm.kind == NormKind::rms);
  CHECK_FALSE(root.model.norm.bias);
}

TEST_CASE("override: the log names the settings that go with the old kind", "[unit]") {
  const test::Scratch scratch;
  log::to_file(scratch / "log.txt");
  load(kRope, {"model.position.kind=alibi"});
  log::to_file("");
  const std::string text = read_file(scratch / "log.txt");
  CHECK(text.find("model.position: kind alibi replaces rope; dropped with it: theta, interleaved") !=
        std::string::npos);
}

TEST_CASE("override: a bare name in the file takes settings", "[unit]") {
  CHECK(first_position("model: {dim: 3, position: rope}", {"model.position.theta=9"}).as<Rope::Config>().theta == 9.0);
}

TEST_CASE("override: an index reaches into a list", "[unit]") {
  const std::string text = "model: {dim: 3, position: [alibi, {kind: rope, theta: 5}], window: [1, 2]}";
  const Root root = load(text, {"model.position.1.theta=7", "model.window.0=9", "model.position.0.kind=none"}).root;
  CHECK(root.model.position[1].as<Rope::Config>().theta == 7.0);
  CHECK(root.model.window == std::vector<int64_t>{9, 2});
  CHECK(root.model.position[0].kind == "none");
}

TEST_CASE("override: index 0 also names a value that stands alone for a list", "[unit]") {
  CHECK(first_position(kRope, {"model.position.0.theta=7"}).as<Rope::Config>().theta == 7.0);
  CHECK(first_position("model: {dim: 3, position: rope}", {"model.position.0.theta=7"}).as<Rope::Config>().theta ==
        7.0);
}

TEST_CASE("override: a list of one may be spoken to without an index", "[unit]") {
  CHECK(first_position("model: {dim: 3, position: [rope]}", {"model.position.theta=7"}).as<Rope::Config>().theta ==
        7.0);
}

TEST_CASE("override: nested choices change kind too", "[unit]") {
  const std::string text = "model: {dim: 3, position: {kind: rope, scaling: {kind: yarn, factor: 8, beta_fast: 3}}}";
  const auto scaling = first_position(text, {"model.position.scaling.kind=linear", "model.position.scaling.factor=2"})
                           .as<Rope::Config>()
                           .scaling;
  CHECK(scaling.kind == "linear");
  CHECK(scaling.as<Interpolated::Config>().factor == 2.0);
}

TEST_CASE("override: a plain value takes the place of a section that was wrong there", "[unit]") {
  CHECK(load("model: {dim: 3, heads: {a: 3}}", {"model.heads=5"}).root.model.heads == 5);
}

TEST_CASE("override: what is wrong on the command line is told there", "[unit]") {
  struct Case {
    const char* override;
    std::vector<const char*> phrases;
  };
  const std::vector<Case> table{
      {"=3", {"command line: =3: there is no key before the '='", "train.optimizer.lr=3e-4"}},
      {"a..b=1", {"command line: a..b=1: a name is missing in the key 'a..b'"}},
      {".a=1", {"a name is missing in the key '.a'"}},
      {"a.=1", {"a name is missing in the key 'a.'"}},
      {"model.heads", {"command line: model.heads: expected key=value"}},
      {"", {"expected key=value"}},
      {"model.heads=", {"model.heads must be a whole number, found nothing"}},
      {"model.heads=x", {"command line: model.heads=x: model.heads must be a whole number, found 'x'"}},
      {"model.heads=0", {"command line: model.heads=0: model.heads is 0, must be at least 1"}},
      {"model.haeds=3", {"command line: model.haeds=3: unknown key 'haeds' in model", "did you mean 'heads'?"}},
      {"model.position=rpoe", {"command line: model.position=rpoe: unknown kind 'rpoe'", "did you mean 'rope'?"}},
      {"model.position.theta=3", {"missing key 'model.position.kind'"}},
      {"model.window=[1", {"command line: model.window=[1: a list opened with '['"}},
      {"model.window.3=1", {"there is no item 3 in a list of 1"}},
      {"model.dim.x=3", {"command line: model.dim.x=3: model.dim must be a whole number, found a map"}},
      {"include=x.yaml", {"`include` can be given in a file only"}},
      {"name=a\nb\x01", {"the control character 0x01"}},
      {"model.norm=rms", {"model.norm must be a map of keys, found 'rms'"}},
      {"model.heads=1\n---\n2", {"a second document"}},
  };
  for (const auto& [override, phrases] : table) {
    INFO(override);
    const std::string report = complaint("model: {dim: 3}", {override});
    INFO(report);
    CHECK(report.starts_with("command line: "));
    for (const char* phrase : phrases) {
      INFO(phrase);
      CHECK(report.find(phrase) != std::string::npos);
    }
  }
}

TEST_CASE("override: a list of several needs the number of an item", "[unit]") {
  const std::string report = complaint("model: {dim: 3, position: [rope, alibi]}", {"model.position.theta=4"});
  CHECK(report.find("model.position is a list of 2, so 'theta' needs the number of an item") != std::string::npos);
  CHECK(report.find("as in model.position.0.theta=…") != std::string::npos);
}

TEST_CASE("override: the file's problems come before those of the command line", "[unit]") {
  const std::string report = complaint("model: {dim: x}", {"model.heads=x"});
  CHECK(report.starts_with("lm.yaml:1:14: "));
  CHECK(report.find("\ncommand line: model.heads=x: ") != std::string::npos);
}

}  // namespace ordo::sample
