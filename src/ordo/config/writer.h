// SPDX-License-Identifier: Apache-2.0
// From structs to JSON values, and from those to YAML text.
#pragma once
#include <memory>
#include <string>

#include "ordo/config/config.h"
#include "ordo/config/node.h"
#include "ordo/core/json.h"

namespace ordo {

std::string quantity_text(const Quantity& quantity);
std::string name_of(Names names, int value);

// The same keys as the struct, amounts and paths as text; an empty optional is null, a choice without a kind is left
// out.
Json json_of(const Walk& walk);
// The settings of one kind of a catalogue; without a config, their defaults.
Json json_of(const KindInfo& kind, const std::shared_ptr<const void>& config);
// A tree as written: its numbers and truth values as such.
Json json_of(const Node& node);
// A scalar, or a list or map in flow style, on one line.
std::string yaml_inline(const Json& value);
// Block style; `sources` as in dump_yaml.
std::string yaml_block(const Json& value, const Sources* sources);

}  // namespace ordo
