// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ordo/config/config.h"
#include "ordo/core/text.h"
#include "ordo/positions/rope_scaling.h"

namespace ordo {

namespace {

constexpr size_t kLongestValue = 40;  // of a setting in a title

Json written(const KindInfo& kind, const std::shared_ptr<const void>& config) {
  // Writing changes nothing; Fields has no form for constants.
  return dump_json([&](Fields& f) { kind.fields(f, const_cast<void*>(config.get())); });  // NOLINT
}

// What a choice of another catalogue inside a position's settings has by default.
Json defaults_of(const Json& choice) {
  for (const auto& kind : kinds_of<RopeScaling>())
    if (kind.kind == choice.at("kind").get<std::string>()) return written(kind, kind.config());
  return Json::object();
}

std::string value_text(const Json& value) {
  std::string text = value.is_string()         ? value.get<std::string>()
                     : value.is_number_float() ? number_text(value.get<double>())
                                               : value.dump();
  if (text.size() <= kLongestValue) return text;
  size_t end = kLongestValue;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // whole characters
  return text.substr(0, end) + "…";
}

// Settings that are not the defaults, in their order. Where a part acts (`layers`) is told apart.
std::string changed_text(const Json& given, const Json& defaults) {
  std::vector<std::string> changed;
  for (const auto& [key, value] : given.items()) {
    if (key == "kind" || key == "layers" || (defaults.contains(key) && defaults.at(key) == value)) continue;
    const std::string name = key == "original_max_position_embeddings" ? "original" : key;
    if (!value.is_object()) {
      changed.push_back(name + " " + value_text(value));
      continue;
    }
    const bool choice = value.contains("kind");
    const Json own = choice ? defaults_of(value) : defaults.contains(key) ? defaults.at(key) : Json::object();
    const std::string inner = changed_text(value, own);
    changed.push_back(name + (choice ? " " + value.at("kind").get<std::string>() : "") +
                      (inner.empty() ? "" : " (" + inner + ")"));
  }
  return join(changed, ", ");
}

std::string settings_text(const Choice<PositionEncoding>& choice) {
  const KindInfo& kind = positions().find(choice.kind).info;
  return choice.config ? changed_text(written(kind, choice.config), written(kind, kind.config())) : "";
}

}  // namespace

std::vector<PositionPart> parts_of(const std::vector<Choice<PositionEncoding>>& list,
                                   const std::shared_ptr<PositionEncoding>& made) {
  const auto part = [](const Choice<PositionEncoding>& choice, std::shared_ptr<PositionEncoding> encoding) {
    return PositionPart{choice, std::string(positions().find(choice.kind).info.summary), settings_text(choice),
                        std::move(encoding)};
  };
  if (list.empty()) return {part(Choice<PositionEncoding>("none"), made)};
  if (list.size() == 1) return {part(list[0], made)};
  std::vector<PositionPart> parts;
  const auto children = made->children();  // of a chain: in the order of the list
  for (size_t i = 0; i < list.size(); ++i)
    parts.push_back(part(list[i], std::dynamic_pointer_cast<PositionEncoding>(children.at(i))));
  return parts;
}

std::vector<PositionPart> acting_in(const std::vector<PositionPart>& parts, int64_t layer) {
  std::vector<PositionPart> acting;
  for (const auto& part : parts)
    if (part.encoding->acts_in(layer)) acting.push_back(part);
  return acting;
}

int64_t first_acting_layer(const std::vector<PositionPart>& parts, int64_t layers) {
  for (int64_t layer = 0; layer < layers; ++layer)
    if (!acting_in(parts, layer).empty()) return layer;
  return 0;
}

std::string kinds_text(const std::vector<PositionPart>& parts, std::string_view separator) {
  std::vector<std::string> kinds;
  for (const auto& part : parts) kinds.push_back(part.choice.kind);
  return kinds.empty() ? "none" : join(kinds, separator);
}

std::string titles_text(const std::vector<PositionPart>& parts) {
  std::vector<std::string> titles;
  for (const auto& part : parts) titles.push_back(part.title());
  return titles.empty() ? "none" : join(titles, " + ");
}

std::string layer_text(const std::vector<PositionPart>& parts, int64_t layer, int64_t layers, std::string_view hint) {
  std::vector<PositionPart> here, elsewhere;
  bool everywhere = true;
  for (const auto& part : parts) {
    int64_t count = 0;
    for (int64_t other = 0; other < layers; ++other) count += part.encoding->acts_in(other) ? 1 : 0;
    everywhere = everywhere && count == layers;
    if (part.encoding->acts_in(layer))
      here.push_back(part);
    else if (count > 0)
      elsewhere.push_back(part);
  }
  if (everywhere) return "";
  const std::string others = elsewhere.empty() ? "not in all layers"
                                               : fmt::format("{} {} in other layers", kinds_text(elsewhere, ", "),
                                                             elsewhere.size() == 1 ? "acts" : "act");
  return fmt::format("layer {} of {}: {} ({}{}{})", layer, layers, here.empty() ? "nothing" : kinds_text(here, " + "),
                     others, hint.empty() ? "" : "; ", hint);
}

}  // namespace ordo
