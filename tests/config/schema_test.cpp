// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <nlohmann/json.hpp>

#include "config/sample.h"

namespace ordo::sample {

namespace {

Json schema() {
  Root root;
  return schema_json(walk_of(root), "Ordo training config");
}

const Json& property(const Json& of, const std::string& name) { return of.at("properties").at(name); }

// Enough of JSON Schema to judge a value against what schema_json writes.
class Judge {
 public:
  explicit Judge(const Json& root) : root_(root) {}
  bool accepts(const Json& schema, const Json& value) const {
    if (schema.contains("$ref") && !accepts(resolve(schema.at("$ref")), value)) return false;
    if (schema.contains("anyOf") && matches(schema.at("anyOf"), value) == 0) return false;
    if (schema.contains("oneOf") && matches(schema.at("oneOf"), value) != 1) return false;
    if (schema.contains("not") && accepts(schema.at("not"), value)) return false;
    if (schema.contains("if") && accepts(schema.at("if"), value) && !accepts(schema.at("then"), value)) return false;
    if (schema.contains("enum") &&
        std::find(schema.at("enum").begin(), schema.at("enum").end(), value) == schema.at("enum").end())
      return false;
    if (schema.contains("const") && schema.at("const") != value) return false;
    return of_type(schema, value) && in_bounds(schema, value) && has_members(schema, value);
  }

 private:
  const Json& resolve(const std::string& reference) const {
    return root_.at("$defs").at(reference.substr(std::string("#/$defs/").size()));
  }
  int matches(const Json& schemas, const Json& value) const {
    return static_cast<int>(
        std::count_if(schemas.begin(), schemas.end(), [&](const Json& s) { return accepts(s, value); }));
  }
  static bool of_type(const Json& schema, const Json& value) {
    if (!schema.contains("type")) return true;
    const Json types = schema.at("type").is_array() ? schema.at("type") : Json::array({schema.at("type")});
    return std::any_of(types.begin(), types.end(), [&](const Json& type) {
      return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
             (type == "string" && value.is_string()) || (type == "integer" && value.is_number_integer()) ||
             (type == "number" && value.is_number()) || (type == "boolean" && value.is_boolean()) ||
             (type == "null" && value.is_null());
    });
  }
  static bool in_bounds(const Json& schema, const Json& value) {
    if (!value.is_number()) return true;
    const double v = value.get<double>();
    const auto bound = [&](const char* name, auto holds) {
      return !schema.contains(name) || holds(schema.at(name).get<double>());
    };
    return bound("minimum", [&](double b) { return v >= b; }) &&
           bound("exclusiveMinimum", [&](double b) { return v > b; }) &&
           bound("maximum", [&](double b) { return v <= b; }) &&
           bound("exclusiveMaximum", [&](double b) { return v < b; });
  }
  bool has_members(const Json& schema, const Json& value) const {
    if (value.is_array() && schema.contains("items"))
      return std::all_of(value.begin(), value.end(),
                         [&](const Json& item) { return accepts(schema.at("items"), item); });
    if (!value.is_object()) return true;
    if (schema.contains("required"))
      for (const auto& key : schema.at("required"))
        if (!value.contains(key.get<std::string>())) return false;
    if (!schema.contains("properties")) return true;
    for (const auto& [key, member] : value.items())
      if (!schema.at("properties").contains(key) || !accepts(property(schema, key), member)) return false;
    return true;
  }

  const Json& root_;
};

}  // namespace

TEST_CASE("schema: it says what it is and takes no other keys", "[unit]") {
  const Json json = schema();
  CHECK(json["$schema"] == "https://json-schema.org/draft/2020-12/schema");
  CHECK(json["title"] == "Ordo training config");
  CHECK(json["additionalProperties"] == false);
  CHECK(property(json, "model")["additionalProperties"] == false);
}

TEST_CASE("schema: limits, names, defaults and help are those of the declaration", "[unit]") {
  const Json json = schema();
  const Json& model = property(json, "model");
  CHECK(property(model, "dim") == Json({{"type", "integer"}, {"minimum", 1}, {"description", "model width"}}));
  const Json& feed_forward = property(model, "feed_forward");
  CHECK(property(feed_forward, "dropout") == Json({{"type", "number"},
                                                   {"minimum", 0},
                                                   {"exclusiveMaximum", 1},
                                                   {"description", "after the second projection"},
                                                   {"default", 0.0}}));
  CHECK(property(feed_forward, "activation")["enum"] == Json({"gelu", "relu", "silu"}));
  CHECK(model["required"] == Json::array({"dim"}));
}

TEST_CASE("schema: kinds that hold choices of their like are described once", "[unit]") {
  const Json json = schema();
  CHECK(json["$defs"]["position.chain"]["properties"]["parts"]["anyOf"][0]["items"]["$ref"] == "#/$defs/position");
  CHECK(json["$defs"].size() == 3 + 4 + 2 + 2);
}

TEST_CASE("schema: the resolved config of everything that the reader takes is accepted", "[unit]") {
  const Json json = schema();
  for (const char* yaml : {"model: {dim: 3}",
                           "model: {dim: 3, softcap: 2, window: [1, 2], position: [{kind: chain, parts: [rope, "
                           "alibi]}, none]}\ntrain: {steps: 5 epochs}",
                           "name: x\nmodel: {dim: 3, position: {kind: rope, scaling: {kind: linear, factor: "
                           "3}}}\ntrain: {optimizer: {kind: sgd, lr: 1}}"}) {
    INFO(yaml);
    Root root = load(yaml).root;
    CHECK(Judge(json).accepts(json, dump_json(walk_of(root))));
  }
}

TEST_CASE("schema: short forms are accepted where the reader accepts them, wrong values where it refuses them are not",
          "[unit]") {
  const Json json = schema();
  const auto accepts = [&](const char* text) { return Judge(json).accepts(json, Json::parse(text)); };
  CHECK(accepts(R"({"model": {"dim": 3, "position": "rope", "window": 4}})"));
  CHECK(accepts(R"({"model": {"dim": 3}, "train": {"optimizer": {"lr": 0.5}, "steps": 5}})"));
  CHECK(accepts(R"({"include": "base.yaml"})"));
  CHECK_FALSE(accepts(R"({"name": "x"})"));
  CHECK_FALSE(accepts(R"({"model": {"dim": 0}})"));
  CHECK_FALSE(accepts(R"({"model": {"dim": 3, "position": "rpoe"}})"));
  CHECK_FALSE(accepts(R"({"model": {"dim": 3, "position": {"kind": "rope", "tehta": 3}}})"));
  CHECK_FALSE(accepts(R"({"model": {"dim": 3, "position": {"theta": 3}}})"));
  CHECK_FALSE(accepts(R"({"model": {"dim": 3}, "train": {"optimizer": {"momentum": 0.5}}})"));
}

}  // namespace ordo::sample
