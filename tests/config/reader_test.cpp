// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <nlohmann/json.hpp>

#include "config/sample.h"

namespace ordo::sample {

namespace {

struct Defaults {
  std::vector<Choice<Position>> position{Choice<Position>("rope")};
  Quantity steps{7, ""};
};
void fields(Fields& f, Defaults& c) {
  f("position", c.position, "where tokens stand");
  f("steps", c.steps, "how long", kHorizonUnits);
}

struct Wrong {
  const char* claim;
  const char* text;
  const char* place;                 // of the first problem
  std::vector<const char*> phrases;  // that the report holds
};

const std::vector<Wrong>& wrong_values() {
  static const std::vector<Wrong> table{
      {"an unknown key gets the nearest name and the names there are",
       "model: {dim: 3}\ntrian: {steps: 3}\n",
       "lm.yaml:2:1: ",
       {"unknown key 'trian'", "did you mean 'train'?", "a config takes: name, data, model, train"}},
      {"an unknown key in a section names the section",
       "model:\n  dim: 3\n  feed_forward:\n    hiden: 4\n",
       "lm.yaml:4:5: ",
       {"unknown key 'hiden' in model.feed_forward", "did you mean 'hidden'?", "hidden, activation, gated, dropout"}},
      {"an unknown key in a choice names its kind",
       "model:\n  dim: 3\n  position: {kind: rope, tehta: 3}\n",
       "lm.yaml:3:26: ",
       {"unknown key 'tehta' in model.position (kind: rope)", "did you mean 'theta'?",
        "rope takes: theta, interleaved, scaling"}},
      {"a setting of another kind is traced to it",
       "model: {dim: 3, position: {kind: alibi, theta: 3}}",
       "lm.yaml:1:41: ",
       {"'theta' is a setting of: rope", "alibi takes: bias_max"}},
      {"a kind without settings says so",
       "model: {dim: 3, position: {kind: none, theta: 3}}",
       "lm.yaml:1:40: ",
       {"none takes no settings"}},
      {"a key of another section is traced to it",
       "gated: true\nmodel: {dim: 3}",
       "lm.yaml:1:1: ",
       {"there is: model.feed_forward.gated"}},
      {"include below the top level is explained",
       "model: {dim: 3, include: x.yaml}",
       "lm.yaml:1:17: ",
       {"`include` stands at the top level"}},
      {"a duplicate key names the first one's line",
       "model:\n  dim: 3\n  heads: 1\n  dim: 4\n",
       "lm.yaml:4:3: ",
       {"duplicate key 'dim'", "first given in line 2"}},
      {"a missing key is told at its section",
       "name: x\nmodel:\n  heads: 3\n",
       "lm.yaml:2:1: ",
       {"missing key 'model.dim'"}},
      {"a missing section is told at the top", "name: x\n", "lm.yaml:1:1: ", {"missing key 'model'"}},
      {"a missing setting of a kind is told at its choice",
       "model: {dim: 3, position: {kind: rope, scaling: linear}}",
       "lm.yaml:1:40: ",
       {"missing key 'model.position.scaling.factor'"}},
      {"an empty file lacks what is required", "", "lm.yaml:1:1: ", {"missing key 'model'"}},
      {"a file of comments lacks what is required", "# nothing\n", "lm.yaml:1:1: ", {"missing key 'model'"}},
      {"a file that is a list is refused",
       "- 1\n- 2\n",
       "lm.yaml:1:1: ",
       {"a config must be a map of keys, found a list"}},
      {"a file that is text is refused",
       "hello",
       "lm.yaml:1:1: ",
       {"a config must be a map of keys, found 'hello'", "a space after the ':'"}},
      {"an unknown kind gets the nearest and all kinds",
       "model: {dim: 3, position: rpoe}",
       "lm.yaml:1:27: ",
       {"unknown kind 'rpoe' in model.position", "did you mean 'rope'?", "kinds: rope, alibi, none, chain"}},
      {"an unknown kind in a map is told at the kind",
       "model: {dim: 3, position: {kind: sinus}}",
       "lm.yaml:1:34: ",
       {"unknown kind 'sinus'", "kinds: rope, alibi"}},
      {"a choice without a kind lists the kinds",
       "model: {dim: 3, position: [{theta: 3}]}",
       "lm.yaml:1:28: ",
       {"missing key 'model.position.0.kind'", "kinds: rope"}},
      {"a kind that is a list is refused",
       "model: {dim: 3, position: {kind: [rope]}}",
       "lm.yaml:1:34: ",
       {"model.position.kind must be one of rope"}},
      {"a choice that is null is refused",
       "model: {dim: 3}\ntrain: {optimizer: ~}",
       "lm.yaml:2:20: ",
       {"train.optimizer must be a kind (adamw, sgd)", "found nothing"}},
      {"null where kinds are due names the kind for nothing",
       "model: {dim: 3, position: ~}",
       "lm.yaml:1:27: ",
       {"model.position must be a kind, or a list of kinds, found nothing", "for none at all, use none"}},
      {"an unknown name of an enum gets the nearest and all names",
       "model: {dim: 3, feed_forward: {activation: rleu}}",
       "lm.yaml:1:44: ",
       {"model.feed_forward.activation must be one of gelu, relu, silu, found 'rleu'", "did you mean 'relu'?"}},
      {"no is not a bool",
       "model: {dim: 3, feed_forward: {gated: no}}",
       "lm.yaml:1:39: ",
       {"gated must be true or false, found 'no'", "write false"}},
      {"True is not a bool", "model: {dim: 3, feed_forward: {gated: True}}", "lm.yaml:1:39: ", {"write true"}},
      {"1 is not a bool", "model: {dim: 3, feed_forward: {gated: 1}}", "lm.yaml:1:39: ", {"write true"}},
      {"a quoted bool is text",
       "model: {dim: 3, feed_forward: {gated: 'true'}}",
       "lm.yaml:1:39: ",
       {"without the quotes"}},
      {"a list is not a bool",
       "model: {dim: 3, feed_forward: {gated: [true]}}",
       "lm.yaml:1:39: ",
       {"must be true or false, found a list"}},
      {"text is not a number",
       "model: {dim: big}",
       "lm.yaml:1:14: ",
       {"model.dim must be a whole number, found 'big'"}},
      {"a quoted number is text",
       "model: {dim: '3'}",
       "lm.yaml:1:14: ",
       {"found the text '3' (in quotes)", "without the quotes"}},
      {"a fraction is not whole", "model: {dim: 2.5}", "lm.yaml:1:14: ", {"must be a whole number, found '2.5'"}},
      {"a leading zero is refused", "model: {dim: 010}", "lm.yaml:1:14: ", {"without the leading zero: 10"}},
      {"hexadecimal is refused", "model: {dim: 0x10}", "lm.yaml:1:14: ", {"write it as 16"}},
      {"separators are refused", "model: {dim: 1_000}", "lm.yaml:1:14: ", {"without separators: 1000"}},
      {"an integer beyond 64 bits is refused",
       "model: {dim: 9223372036854775808}",
       "lm.yaml:1:14: ",
       {"9223372036854775807"}},
      {"NaN is refused",
       "model: {dim: 3, softcap: .nan}",
       "lm.yaml:1:26: ",
       {"softcap must be a number", "NaN and infinity"}},
      {"infinity is refused", "model: {dim: 3, softcap: -.inf}", "lm.yaml:1:26: ", {"NaN and infinity"}},
      {"a number beyond a double is refused",
       "model: {dim: 3, softcap: 1e400}",
       "lm.yaml:1:26: ",
       {"beyond what a double holds"}},
      {"a number too small for a double is refused",
       "model: {dim: 3, softcap: 1e-400}",
       "lm.yaml:1:26: ",
       {"beyond what a double holds"}},
      {"below the limit", "model: {dim: 0}", "lm.yaml:1:14: ", {"model.dim is 0, must be at least 1"}},
      {"at an open limit", "model: {dim: 3, softcap: 0}", "lm.yaml:1:26: ", {"model.softcap is 0, must be above 0"}},
      {"at the open end of a range",
       "model: {dim: 3, feed_forward: {dropout: 1.0}}",
       "lm.yaml:1:41: ",
       {"dropout is 1.0, must be in [0, 1)"}},
      {"limits hold for each item of a list",
       "model:\n  dim: 3\n  window: [3, -1]\n",
       "lm.yaml:3:15: ",
       {"model.window.1 is -1, must be at least 0"}},
      {"null where a value is due",
       "model: {dim: ~}",
       "lm.yaml:1:14: ",
       {"model.dim must be a whole number, found nothing", "give a value, or leave the key out"}},
      {"a value left out is told at its key",
       "model:\n  dim:\n  heads: 2\n",
       "lm.yaml:2:3: ",
       {"model.dim must be a whole number, found nothing"}},
      {"a value left out before a key with n",
       "model:\n  dim:\n  norm: {}\n",
       "lm.yaml:2:3: ",
       {"model.dim", "found nothing"}},
      {"a section left empty", "model:\n", "lm.yaml:1:1: ", {"model must be a map of keys, found nothing"}},
      {"null is no text",
       "name: null\nmodel: {dim: 3}",
       "lm.yaml:1:7: ",
       {"name must be text, found nothing", "'' is the empty text"}},
      {"a list is no text", "name: [a]\nmodel: {dim: 3}", "lm.yaml:1:7: ", {"name must be text, found a list"}},
      {"null is no list",
       "model: {dim: 3, window: ~}",
       "lm.yaml:1:25: ",
       {"model.window must be a list, found nothing", "an empty list is []"}},
      {"a section is no bare name",
       "model: {dim: 3, norm: rms}",
       "lm.yaml:1:23: ",
       {"model.norm must be a map of keys, found 'rms'"}},
      {"an unknown unit gets the units",
       "model: {dim: 3}\ntrain: {steps: 5 epchs}",
       "lm.yaml:2:16: ",
       {"train.steps must be a number, alone or with a unit (steps, epochs, tokens), found '5 epchs'",
        "did you mean 'epochs'?"}},
      {"units are spelled exactly",
       "model: {dim: 3}\ntrain: {memory: 4gb}",
       "lm.yaml:2:17: ",
       {"unknown unit 'gb'", "units: MB, GB"}},
      {"an amount without its number", "model: {dim: 3}\ntrain: {steps: epochs}", "lm.yaml:2:16: ", {"found 'epochs'"}},
      {"a quoted amount without unit is text",
       "model: {dim: 3}\ntrain: {steps: '5'}",
       "lm.yaml:2:16: ",
       {"without the quotes"}},
      {"an amount out of range",
       "model: {dim: 3}\ntrain: {steps: 0 epochs}",
       "lm.yaml:2:16: ",
       {"train.steps is 0 epochs, must be above 0"}},
  };
  return table;
}

// A text in which '?' is a mistake, and '$' one at its end.
struct Riddle {
  std::string text = "fine?";
};
void fields(Fields& f, Riddle& c) {
  f("text", c.text, "no questions", [](std::string_view text) -> std::optional<TextProblem> {
    if (text.ends_with('$')) return TextProblem{text.size(), 1, "it ends too soon"};
    const size_t at = text.find('?');
    if (at == std::string_view::npos) return std::nullopt;
    return TextProblem{at, 1, "a question", "say it"};
  });
}
// Names of what there is to be.
struct Norms {
  std::vector<NormKind> kinds = {};
};
void fields(Fields& f, Norms& c) { f("kinds", c.kinds, "which", kNormKinds); }

template <class Config>
std::string complaint_of(const std::string& yaml, const std::vector<std::string>& overrides) {
  Config read;
  try {
    load_config_text(yaml, walk_of(read), {.overrides = overrides, .name = "r.yaml"});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}
std::string riddle(const std::string& yaml, const std::vector<std::string>& overrides = {}) {
  return complaint_of<Riddle>(yaml, overrides);
}

}  // namespace

TEST_CASE("reader: a mistake inside a text is shown at its very character, however the text is written", "[unit]") {
  CHECK(riddle("text: ab?c") == "r.yaml:1:9: text: a question\n    1 | text: ab?c\n                ^ say it");
  for (const auto& [yaml, place] : std::vector<std::pair<std::string, std::string>>{{"text: 'ab?c'", "1:10"},
                                                                                    {"text: \"a\\\"b?\"", "1:12"},
                                                                                    {"text: 'a''b?'", "1:12"},
                                                                                    {"text: aé?", "1:9"},
                                                                                    {"text: a b\n  c  ?d", "2:6"},
                                                                                    {"text: |\n  ab\n  c?\n", "3:4"},
                                                                                    {"text: >-\n\n    ab?\n", "3:7"},
                                                                                    {"text: &x 'a?'", "1:12"},
                                                                                    {"# first\n{text: 'a ?'}", "2:11"},
                                                                                    {"text: 'ab$'", "1:11"},
                                                                                    {"text: ab$", "1:10"}}) {
    INFO(yaml);
    CHECK(riddle(yaml).starts_with("r.yaml:" + place + ": "));
  }
}

TEST_CASE("reader: a mistake inside a text behind a coded character is shown at the text's start", "[unit]") {
  CHECK(riddle(R"(text: "\x41?")").starts_with("r.yaml:1:7: "));
}

TEST_CASE("reader: a mistake inside a text of the command line is counted in characters", "[unit]") {
  CHECK(riddle("text: a", {"text=aé?"})
            .starts_with("command line: text=aé?: text (character 3): a question\n"
                         "        aé?\n"
                         "          ^ say it"));
}

TEST_CASE("reader: a default text is not examined, nor one of the wrong type", "[unit]") {
  CHECK(riddle("{}").empty());
  CHECK(riddle("text: [a?]").find("a question") == std::string::npos);
}

TEST_CASE("reader: a list of names has each once", "[unit]") {
  CHECK(complaint_of<Norms>("kinds: [rms, layer]", {}).empty());
  CHECK(complaint_of<Norms>("kinds: [rms, layer, rms]", {}).starts_with("r.yaml:1:21: kinds names rms twice"));
  CHECK(complaint_of<Norms>("{}", {"kinds=[rms, rms]"}).ends_with(": kinds names rms twice"));
  Norms any;
  CHECK(schema_json(walk_of(any), "")["properties"]["kinds"]["anyOf"][0]["uniqueItems"] == true);
}

TEST_CASE("reader: each wrong value is told with its place, what was found and what is due", "[unit]") {
  for (const auto& [claim, text, place, phrases] : wrong_values()) {
    INFO(claim << "\n" << text);
    const std::string report = complaint(text);
    INFO(report);
    CHECK(report.substr(0, std::string_view(place).size()) == place);
    CHECK(report.find("\nlm.yaml") == std::string::npos);  // nothing but this problem
    for (const char* phrase : phrases) {
      INFO(phrase);
      CHECK(report.find(phrase) != std::string::npos);
    }
  }
}

TEST_CASE("reader: all problems of a file are reported together, in the order of the file", "[unit]") {
  const std::string report = complaint(
      "modle: 3\nmodel:\n  dim: no\n  position: {kind: rope, tehta: 5}\n  feed_forward: {dropout: 2, gated: yes}\n  "
      "dim: 4\n");
  std::vector<std::string> places;
  for (size_t at = 0; at != std::string::npos; at = report.find("\nlm.yaml:", at + 1)) {
    const size_t start = at == 0 ? 0 : at + 1;
    places.push_back(report.substr(start, report.find(": ", start) - start));
  }
  CHECK(places == std::vector<std::string>{"lm.yaml:1:1", "lm.yaml:3:8", "lm.yaml:4:26", "lm.yaml:5:27", "lm.yaml:5:37",
                                           "lm.yaml:6:3"});
}

TEST_CASE("reader: a problem shows the line, a caret under the key and the hint", "[unit]") {
  CHECK(complaint("model:\n  dim: 3\n  position:\n    kind: rope\n    tehta: 500000   # base\n") ==
        "lm.yaml:5:5: unknown key 'tehta' in model.position (kind: rope)\n"
        "    5 |     tehta: 500000   # base\n"
        "            ^~~~~ did you mean 'theta'? rope takes: theta, interleaved, scaling");
}

TEST_CASE("reader: scalars of any look are text where text is due", "[unit]") {
  for (const char* text : {"no", "3", "1e-4", "true", "'null'", "\"~\"", "a: b'", "2024-01-01", "5 epochs"}) {
    INFO(text);
    const std::string quoted = std::string(text) == "a: b'" ? "\"a: b'\"" : text;
    std::string plain = text;
    if (plain.front() == '\'' || plain.front() == '"') plain = plain.substr(1, plain.size() - 2);
    CHECK(load("name: " + quoted + "\nmodel: {dim: 3}").root.name == plain);
  }
}

TEST_CASE("reader: numbers follow YAML 1.2", "[unit]") {
  const auto softcap = [](const std::string& text) {
    return load("model: {dim: 3, softcap: " + text + "}").root.model.softcap;
  };
  CHECK(softcap("1e-4") == 1e-4);
  CHECK(softcap("1E+3") == 1000.0);
  CHECK(softcap(".5") == 0.5);
  CHECK(softcap("5.") == 5.0);
  CHECK(softcap("+2") == 2.0);
  CHECK(softcap("0.1") == 0.1);
}

TEST_CASE("reader: whole numbers may be written with exponent or point when they are whole", "[unit]") {
  const auto heads = [](const std::string& text) {
    return load("model: {dim: 3, heads: " + text + "}").root.model.heads;
  };
  CHECK(heads("1e3") == 1000);
  CHECK(heads("2.0") == 2);
  CHECK(heads("1.5e1") == 15);
  CHECK(heads("9223372036854775807") == INT64_MAX);
  CHECK(heads("9007199254740993.0") == 9007199254740993);  // not a double
}

TEST_CASE("reader: one value alone goes on from a default that is a list of one, a list starts afresh", "[unit]") {
  const auto read = [](const std::string& text) {
    Defaults defaults;
    load_config_text(text, walk_of(defaults), {});
    return defaults;
  };
  CHECK(read("position: {theta: 3}").position[0].as<Rope::Config>().theta == 3.0);
  CHECK(read("").position[0].as<Rope::Config>().theta == 10000.0);
  CHECK_THROWS_WITH(read("position: [{theta: 3}]"), Catch::Contains("missing key 'position.0.kind'"));
}

TEST_CASE("reader: a default amount without a unit gets the first one", "[unit]") {
  Defaults defaults;
  load_config_text("", walk_of(defaults), {});
  CHECK(defaults.steps == Quantity{7, "steps"});
}

TEST_CASE("reader: where a list is due, one bare value is a list of one", "[unit]") {
  const Root root = load("model: {dim: 3, window: 7, position: {kind: alibi, bias_max: 4}}").root;
  CHECK(root.model.window == std::vector<int64_t>{7});
  REQUIRE(root.model.position.size() == 1);
  CHECK(root.model.position[0].as<Alibi::Config>().bias_max == 4);
}

TEST_CASE("reader: a list replaces the default list", "[unit]") {
  CHECK(load("model: {dim: 3}\ntrain: {optimizer: {betas: [0.5]}}").root.train.optimizer.as<Adamw::Config>().betas ==
        std::vector<double>{0.5});
  CHECK(
      load("model: {dim: 3}\ntrain: {optimizer: {betas: []}}").root.train.optimizer.as<Adamw::Config>().betas.empty());
}

TEST_CASE("reader: a default kind gets its settings when the key is absent", "[unit]") {
  const Root root = load("model: {dim: 3}").root;
  CHECK(root.train.optimizer.kind == "adamw");
  REQUIRE(root.train.optimizer.config != nullptr);
  CHECK(root.train.optimizer.as<Adamw::Config>().lr == 1e-3);
}

TEST_CASE("reader: a choice with settings but no kind is of the default kind", "[unit]") {
  const Root root = load("model: {dim: 3}\ntrain: {optimizer: {lr: 0.5}}").root;
  CHECK(root.train.optimizer.kind == "adamw");
  CHECK(root.train.optimizer.as<Adamw::Config>().lr == 0.5);
}

TEST_CASE("reader: a choice knows where its kind was written", "[unit]") {
  const Root root = load("model: {dim: 3}\ntrain:\n  optimizer:\n    kind: sgd\n").root;
  CHECK(root.train.optimizer.source.file == "lm.yaml");
  CHECK(root.train.optimizer.source.line == 4);
  CHECK(root.train.optimizer.source.column == 11);
}

TEST_CASE("reader: kinds may hold choices of their like", "[unit]") {
  const Root root = load("model: {dim: 3, position: {kind: chain, parts: [rope, {kind: chain, parts: alibi}]}}").root;
  const auto& outer = root.model.position[0].as<Chain::Config>();
  REQUIRE(outer.parts.size() == 2);
  CHECK(outer.parts[1].as<Chain::Config>().parts[0].kind == "alibi");
}

TEST_CASE("reader: null empties an optional", "[unit]") {
  CHECK_FALSE(load("model: {dim: 3, softcap: ~}").root.model.softcap.has_value());
  CHECK(load("model: {dim: 3, softcap: 3}").root.model.softcap == 3.0);
}

TEST_CASE("reader: amounts take a unit, the first one when none is given", "[unit]") {
  const auto steps = [](const std::string& text) {
    return load("model: {dim: 3}\ntrain: {steps: " + text + "}").root.train.steps;
  };
  CHECK(steps("500") == Quantity{500, "steps"});
  CHECK(steps("1e3") == Quantity{1000, "steps"});
  CHECK(steps("5 epochs") == Quantity{5, "epochs"});
  CHECK(steps("1 epoch") == Quantity{1, "epochs"});
  CHECK(steps("1e8 tokens") == Quantity{1e8, "tokens"});
  CHECK(steps("1e8tokens") == Quantity{1e8, "tokens"});
  CHECK(steps("'2.5 epochs'") == Quantity{2.5, "epochs"});
  const auto memory = [](const std::string& text) {
    return load("model: {dim: 3}\ntrain: {memory: " + text + "}").root.train.memory;
  };
  CHECK(memory("4GB") == Quantity{4, "GB"});
  CHECK(memory("512") == Quantity{512, "MB"});
}

TEST_CASE("reader: the place of every given value is returned, and of no other", "[unit]") {
  const Sources sources =
      load("model:\n  dim: 3\n  position: [rope, {kind: alibi,\n    bias_max: 4}]\n", {"train.steps=3"}).sources;
  const auto line = [&](const std::string& path) { return sources.contains(path) ? sources.at(path).line : -1; };
  CHECK(line("model.dim") == 2);
  CHECK(line("model.position.0.kind") == 3);
  CHECK(line("model.position.1.bias_max") == 4);
  CHECK(line("train.steps") == 0);
  CHECK(sources.at("train.steps").file == "command line");
  CHECK(line("model.heads") == -1);
  CHECK(line("train.optimizer.kind") == -1);
}

TEST_CASE("reader: a text's relative paths start in the current folder, and the empty one stays empty", "[unit]") {
  CHECK(load("data: a/../b.txt\nmodel: {dim: 3}").root.data == std::filesystem::current_path() / "b.txt");
  CHECK(load("data: /x/y\nmodel: {dim: 3}").root.data == "/x/y");
  CHECK(load("data: ''\nmodel: {dim: 3}").root.data.empty());
}

TEST_CASE("reader: a long report is cut, with the number of problems left out", "[unit]") {
  std::string text = "model: {dim: 3}\n";
  for (int i = 0; i < 70; ++i) text += fmt::format("zzzzzzzz{}: 1\n", i);
  CHECK(complaint(text).ends_with("\nand 20 more problems"));
}

}  // namespace ordo::sample
