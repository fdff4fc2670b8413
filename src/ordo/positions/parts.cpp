// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/parts.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ordo/config/config.h"
#include "ordo/config/outline.h"
#include "ordo/config/words.h"
#include "ordo/config/writer.h"
#include "ordo/core/text.h"
#include "ordo/core/utf8.h"

namespace ordo {

namespace {

constexpr size_t kLongestValue = 40;  // of a setting in a title

std::string value_text(const Json& value) {
  std::string text = value.is_string()         ? value.get<std::string>()
                     : value.is_number_float() ? number_text(value.get<double>())
                                               : value.dump();
  if (text.size() <= kLongestValue) return text;
  return text.substr(0, character_start(text, kLongestValue)) + "…";
}

std::string changed_text(const Json& given, const Json& defaults, const Outline& options);

// Settings of a kind that are not its defaults.
std::string changed_text(const Json& given, const KindInfo& kind) {
  return changed_text(given, json_of(kind, nullptr), outline_of(kind));
}

// The same of one group of them, in their order. Where a part acts (`layers`) is told apart.
std::string changed_text(const Json& given, const Json& defaults, const Outline& options) {
  std::vector<std::string> changed;
  for (const Option& option : options) {
    if (option.key == "layers" || !given.contains(option.key)) continue;
    const Json &value = given.at(option.key), &usual = defaults.contains(option.key) ? defaults.at(option.key) : Json();
    if (value == usual) continue;
    if (!value.is_object()) {
      changed.push_back(option.key + " " + value_text(value));
      continue;
    }
    std::string title = option.key, inner;
    if (option.kinds != nullptr) {
      const auto chosen = value.at("kind").get<std::string>();
      title += " " + chosen;
      inner = changed_text(value, *find_kind(*option.kinds, chosen));
    } else {
      inner = changed_text(value, usual, option.inner);
    }
    changed.push_back(title + (inner.empty() ? "" : " (" + inner + ")"));
  }
  return join(changed, ", ");
}

std::string settings_text(const Choice<PositionEncoding>& choice) {
  const KindInfo& kind = positions().find(choice.kind).info;
  return choice.config ? changed_text(json_of(kind, choice.config), kind) : "";
}

}  // namespace

std::vector<PositionPart> parts_of(const std::vector<Choice<PositionEncoding>>& list,
                                   const std::shared_ptr<PositionEncoding>& made) {
  const auto choices = list.empty() ? std::vector{Choice<PositionEncoding>("none")} : list;
  const auto encodings = made->parts();
  std::vector<PositionPart> parts;
  for (size_t i = 0; i < choices.size(); ++i) {
    const auto& summary = positions().find(choices[i].kind).info.summary;
    const std::shared_ptr<PositionEncoding> encoding(made, encodings.at(i));  // lives as long as the whole
    parts.push_back({choices[i], std::string(summary), settings_text(choices[i]), encoding});
  }
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
