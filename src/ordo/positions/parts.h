// SPDX-License-Identifier: Apache-2.0
// What a config's `position` list is made of, in words: titles with the settings that are not the defaults, and what
// acts in a layer.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/positions/encoding.h"

namespace ordo {

struct PositionPart {
  Choice<PositionEncoding> choice;
  std::string summary;
  std::string settings;  // "theta 500000, scaling yarn (factor 4, truncate false)": those that are not defaults
  std::shared_ptr<PositionEncoding> encoding;
  std::string title() const { return settings.empty() ? choice.kind : choice.kind + ", " + settings; }
};

// The entries of a list and the encodings that make_position() built of them; an empty list is one `none`.
std::vector<PositionPart> parts_of(const std::vector<Choice<PositionEncoding>>& list,
                                   const std::shared_ptr<PositionEncoding>& made);

std::vector<PositionPart> acting_in(const std::vector<PositionPart>& parts, int64_t layer);
int64_t first_acting_layer(const std::vector<PositionPart>& parts, int64_t layers);  // 0 when nothing ever acts

std::string kinds_text(const std::vector<PositionPart>& parts, std::string_view separator);  // "learned + alibi"
std::string titles_text(const std::vector<PositionPart>& parts);                             // the same with settings

// "layer 0 of 2: rope (alibi acts in other layers; --layer)"; empty where every part acts in every layer. `hint` is
// what to type for another layer, or empty.
std::string layer_text(const std::vector<PositionPart>& parts, int64_t layer, int64_t layers, std::string_view hint);

}  // namespace ordo
