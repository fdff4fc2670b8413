// SPDX-License-Identifier: Apache-2.0
// JSON through nlohmann's library, with the checks it lacks: duplicate keys and deep nesting are refused.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace ordo {

using Json = nlohmann::ordered_json;  // include <nlohmann/json.hpp> where one is built or taken apart

// Throws Error with the place ("line 3, column 7") and `what` ("state.json of …") when the text is not strict JSON,
// has a key twice in one object, or nests deeper than 100.
Json parse_json(std::string_view text, std::string_view what);

// One line, keys in their order, doubles as the shortest text that reads back to the same number; NaN and infinities
// become null.
std::string json_line(const Json& value);
// The same with an indent of two, ending in a line break.
std::string json_text(const Json& value);

}  // namespace ordo
