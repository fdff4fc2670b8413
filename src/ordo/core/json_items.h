// SPDX-License-Identifier: Apache-2.0
// Large JSON texts item by item.
#pragma once
#include <cstddef>
#include <functional>
#include <string_view>

#include "ordo/core/json.h"

namespace ordo {

// The items of a list, or of an object, each with its key ("" in a list) and the offset in the text at which it begins,
// when it is a list or an object itself. Only one of them is held at a time.
using VisitItem = std::function<void(std::string_view key, const Json& value, size_t offset)>;
// Reads as parse_json does, and throws as it does; what visit throws passes through. A text that is neither a list nor
// an object is an Error too.
void each_json_item(std::string_view text, std::string_view what, const VisitItem& visit);

}  // namespace ordo
