// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "ordo/config/words.h"
#include "ordo/config/writer.h"

namespace ordo {

namespace {

bool is_leaf(const Json& value) {
  if (value.is_object()) return value.empty();
  return !value.is_array() ||
         std::none_of(value.begin(), value.end(), [](const Json& item) { return item.is_structured(); });
}

// Leaves in the order in which they are written; a list of scalars is one leaf.
void collect_leaves(const Json& value, const std::string& path, std::vector<std::pair<std::string, std::string>>& out) {
  if (is_leaf(value)) {
    out.emplace_back(path, yaml_inline(value));
    return;
  }
  for (const auto& [key, inner] : value.items()) collect_leaves(inner, child_path(path, key), out);
}

}  // namespace

std::vector<Difference> differ(const Walk& a, const Walk& b) {
  std::vector<std::pair<std::string, std::string>> of_a, of_b;
  collect_leaves(json_of(a), "", of_a);
  collect_leaves(json_of(b), "", of_b);
  const std::map<std::string, std::string> values_a(of_a.begin(), of_a.end()), values_b(of_b.begin(), of_b.end());
  std::vector<Difference> out;
  for (const auto& [path, value] : of_a) {
    const auto other = values_b.find(path);
    const std::string text = other == values_b.end() ? "" : other->second;
    if (text != value) out.push_back({path, value, text});
  }
  for (const auto& [path, value] : of_b)
    if (!values_a.contains(path)) out.push_back({path, "", value});
  return out;
}

}  // namespace ordo
