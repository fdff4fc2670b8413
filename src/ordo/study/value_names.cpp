// SPDX-License-Identifier: Apache-2.0
// Names of levels from their values.
#include <algorithm>
#include <map>

#include "ordo/core/text.h"
#include "ordo/study/factors.h"

namespace ordo {

namespace {

const Node* named_kind_of(const Node& value) {
  const Node* kind = value.kind == Node::Kind::map ? value.find("kind") : nullptr;
  return kind != nullptr && kind->kind == Node::Kind::scalar ? kind : nullptr;
}

std::string brief(const Node& value);

std::string brief_item(const Node::Item& item) { return fmt::format("{}={}", item.key, brief(item.value)); }

// `rope` for {kind: rope, theta: 5}, `rope+alibi` for a list of the two, `heads=2` for {heads: 2}.
std::string brief(const Node& value) {
  switch (value.kind) {
    case Node::Kind::null:
      return "null";
    case Node::Kind::scalar:
      return value.text.empty() ? "empty" : value.text;
    case Node::Kind::list:
    case Node::Kind::map:
      break;
  }
  if (value.items.empty()) return "empty";
  if (const Node* kind = named_kind_of(value)) return kind->text;
  std::vector<std::string> parts;
  for (const auto& item : value.items)
    parts.push_back(value.kind == Node::Kind::list ? brief(item.value) : brief_item(item));
  return join(parts, value.kind == Node::Kind::list ? "+" : " ");
}

// With the settings in which the maps of a group differ.
std::string told_apart(const Node& value, const std::vector<const Node*>& group) {
  std::string name = brief(value);
  if (named_kind_of(value) == nullptr) return name;
  for (const auto& item : value.items) {
    const auto same = [&](const Node* other) {
      const Node* theirs = other->find(item.key);
      return theirs != nullptr && inline_yaml(*theirs) == inline_yaml(item.value);
    };
    if (!std::all_of(group.begin(), group.end(), same)) name += " " + brief_item(item);
  }
  return name;
}

// Replaces the names that several values share.
template <class Rename>
void rename_shared(std::vector<std::string>& names, const std::vector<const Node*>& values, const Rename& rename) {
  std::map<std::string, std::vector<size_t>> sharers;
  for (size_t i = 0; i < names.size(); ++i) sharers[names[i]].push_back(i);
  for (const auto& [name, indices] : sharers) {
    if (indices.size() < 2) continue;
    std::vector<const Node*> group;
    for (const size_t i : indices) group.push_back(values[i]);
    for (const size_t i : indices) names[i] = rename(*values[i], group);
  }
}

}  // namespace

std::vector<std::string> value_names(const std::vector<const Node*>& values) {
  std::vector<std::string> names;
  for (const Node* value : values) names.push_back(brief(*value));
  rename_shared(names, values, told_apart);
  rename_shared(names, values, [](const Node& value, const auto&) {
    return value.kind == Node::Kind::scalar ? value.text : inline_yaml(value);
  });
  return names;
}

}  // namespace ordo
