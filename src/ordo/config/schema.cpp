// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>
#include <utility>

#include "ordo/config/outline.h"
#include "ordo/config/words.h"
#include "ordo/core/text.h"

namespace ordo {

namespace {

// The choices go to $defs, each once, so that kinds may contain choices of their like.
class SchemaBuilder {
 public:
  Json definitions = Json::object();

  Json object(const Outline& outline) {
    Json schema = {{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}};
    Json required = Json::array();
    for (const auto& option : outline) {
      schema["properties"][option.key] = described(option);
      if (option.limits.required) required.push_back(option.key);
    }
    if (!required.empty()) schema["required"] = std::move(required);
    return schema;
  }

 private:
  Json described(const Option& option) {
    Json schema = value(option);
    if (!option.help.empty()) schema["description"] = option.help;
    if (!option.fallback.is_null() && !option.limits.required) schema["default"] = option.fallback;
    return schema;
  }
  Json value(const Option& option) {
    switch (option.type) {
      case Option::Type::boolean:
        return {{"type", "boolean"}};
      case Option::Type::integer:
        return limited("integer", option.limits);
      case Option::Type::number:
        return limited("number", option.limits);
      case Option::Type::text:
        return {{"type", {"string", "number", "boolean"}}};  // what YAML calls a number is text where text is due
      case Option::Type::path:
        return {{"type", "string"}};
      case Option::Type::quantity:
        return amount(option);
      case Option::Type::named:
        return {{"enum", names_of(option.names)}};
      case Option::Type::tree:
        return {{"type", {"object", "array", "string", "number", "boolean"}}};
      case Option::Type::group:
        return object(option.inner);
      case Option::Type::choice:
        return choice(option);
      case Option::Type::list:
        return list(option);
      case Option::Type::optional:
        break;
    }
    return {{"anyOf", {value(option.inner.front()), {{"type", "null"}}}}};
  }
  static Json limited(const char* type, const Limits& limits) {
    Json schema = {{"type", type}};
    if (limits.low) schema[limits.low_open ? "exclusiveMinimum" : "minimum"] = bound(*limits.low);
    if (limits.high) schema[limits.high_open ? "exclusiveMaximum" : "maximum"] = bound(*limits.high);
    return schema;
  }
  // 1 rather than 1.0 where the two are the same.
  static Json bound(double value) {
    constexpr double kExact = 9007199254740992.0;  // 2^53
    const bool whole = std::abs(value) <= kExact && std::floor(value) == value;
    return whole ? Json(static_cast<int64_t>(value)) : Json(value);
  }
  static Json amount(const Option& option) {
    std::string units;
    for (const auto unit : option.units) {
      units += (units.empty() ? "" : "|") + std::string(unit);
      if (unit.ends_with('s')) units += '?';  // `1 epoch`
    }
    const std::string pattern = "^[-+]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][-+]?[0-9]+)?( *(" + units + "))?$";
    return {{"anyOf", {limited("number", option.limits), {{"type", "string"}, {"pattern", pattern}}}}};
  }
  Json list(const Option& option) {
    const Json item = value(option.inner.front());
    Json all = {{"type", "array"}, {"items", item}};
    if (option.inner.front().type == Option::Type::named) all["uniqueItems"] = true;
    return {{"anyOf", {all, item}}};  // one bare value is a list of one
  }
  Json choice(const Option& option) {
    const std::string name = definition(*option.kinds, option.key);
    const Json any_kind = {{"$ref", "#/$defs/" + name}};
    if (!option.fallback.is_string()) return any_kind;
    // A map without `kind` holds settings of the default kind.
    const Json default_kind = {{"$ref", fmt::format("#/$defs/{}.{}", name, option.fallback.get<std::string>())},
                               {"not", {{"required", {"kind"}}}}};
    return {{"anyOf", {any_kind, default_kind}}};
  }
  std::string definition(const Kinds& kinds, const std::string& key) {
    const auto known = names_.find(&kinds);
    if (known != names_.end()) return known->second;
    std::string name = key.empty() ? "choice" : key;
    for (int number = 2; definitions.contains(name); ++number) name = fmt::format("{}_{}", key, number);
    names_[&kinds] = name;
    definitions[name] = Json();  // the name is taken while the kinds are described
    Json forms = Json::array({{{"enum", names_of(kinds)}}});
    for (const auto& info : kinds) {
      const std::string kind_name = fmt::format("{}.{}", name, info.kind);
      Json schema = object(outline_of(info));
      Json properties = {{"kind", {{"const", std::string(info.kind)}}}};
      properties.update(schema["properties"]);
      schema["properties"] = std::move(properties);
      schema["description"] = std::string(info.summary);
      definitions[kind_name] = std::move(schema);
      forms.push_back({{"$ref", "#/$defs/" + kind_name}, {"required", {"kind"}}});
    }
    definitions[name] = {{"oneOf", std::move(forms)}};
    return name;
  }

  std::map<const Kinds*, std::string> names_;
};

}  // namespace

Json schema_json(const Walk& walk, std::string_view title) {
  SchemaBuilder builder;
  Json root = builder.object(outline_of(walk));
  const Json file = {{"type", "string"}};
  root["properties"]["include"] = {{"anyOf", {file, {{"type", "array"}, {"items", file}}}},
                                   {"description", "files that this one goes on from"}};
  if (root.contains("required")) {  // an included file may have the keys that are missing here
    root["if"] = {{"not", {{"required", {"include"}}}}};
    root["then"] = {{"required", root["required"]}};
    root.erase("required");
  }
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", std::string(title)}};
  schema.update(root);
  schema["$defs"] = std::move(builder.definitions);
  return schema;
}

}  // namespace ordo
