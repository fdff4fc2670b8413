// SPDX-License-Identifier: Apache-2.0
#include "ordo/config/node.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ordo/config/words.h"

namespace ordo {

namespace {

// The kind that a map names; null when it names none.
const std::string* named_kind(const Node& map) {
  const Node* kind = map.find("kind");
  return kind != nullptr && kind->kind == Node::Kind::scalar ? &kind->text : nullptr;
}

std::shared_ptr<const Node::Former> changed_kind(const Node& base, const Node& over) {
  std::unordered_set<std::string_view> kept;
  for (const auto& item : over.items) kept.insert(item.key);
  const std::string* before = named_kind(base);
  Node::Former former{.kind = before == nullptr ? "" : *before, .alone = over, .dropped = {}};
  for (const auto& item : base.items)
    if (!kept.contains(item.key)) former.dropped.push_back(item.key);
  return std::make_shared<const Node::Former>(std::move(former));
}

void merge_items(Node& base, const Node& over) {
  base.items.reserve(base.items.size() + over.items.size());  // keeps the keys of the index in place
  std::unordered_map<std::string_view, size_t> index;
  for (size_t i = 0; i < base.items.size(); ++i) index.emplace(base.items[i].key, i);
  for (const auto& item : over.items) {
    const auto same = index.find(item.key);
    if (same == index.end()) {
      base.items.push_back(item);
    } else {
      base.items[same->second].at = item.at;
      merge(base.items[same->second].value, item.value);
    }
  }
}

void merge_maps(Node& base, const Node& over) {
  const std::string* before = named_kind(base);
  const std::string* after = named_kind(over);
  if (after != nullptr && (before == nullptr || *before != *after)) {
    base.former = changed_kind(base, over);
  } else if (base.former != nullptr) {
    Node::Former former = *base.former;
    merge(former.alone, over);
    base.former = std::make_shared<const Node::Former>(std::move(former));
  }
  base.bare = base.bare || over.bare;
  merge_items(base, over);
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  for (const auto& item : items)
    if (item.key == key) return &item.value;
  return nullptr;
}

Node* Node::find(std::string_view key) { return const_cast<Node*>(std::as_const(*this).find(key)); }

size_t count_nodes(const Node& node) {
  size_t count = 1;
  for (const auto& item : node.items) count += count_nodes(item.value);
  return count;
}

size_t depth_of(const Node& node) {
  size_t deepest = 0;
  for (const auto& item : node.items) deepest = std::max(deepest, depth_of(item.value));
  return deepest + 1;
}

Node bare_choice(const Node& name) {
  Node map;
  map.kind = Node::Kind::map;
  map.bare = true;
  map.source = name.source;
  map.items.push_back({"kind", name.source, name});
  return map;
}

void merge(Node& base, const Node& over) {
  using Kind = Node::Kind;
  if (base.kind == Kind::map && over.kind == Kind::scalar) return merge_maps(base, bare_choice(over));
  if (base.kind == Kind::scalar && over.kind == Kind::map && over.find("kind") == nullptr) base = bare_choice(base);
  if (base.kind == Kind::map && over.kind == Kind::map) return merge_maps(base, over);
  base = over;
}

std::string found_text(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::list:
      return "a list";
    case Node::Kind::map:
      return "a map";
    case Node::Kind::scalar:
      break;
  }
  return node.quoted ? fmt::format("the text '{}' (in quotes)", shown(node.text))
                     : fmt::format("'{}'", shown(node.text));
}

const Node* unwrapped(const Node* node) {
  if (node == nullptr || node->former == nullptr) return node;
  const Node& alone = node->former->alone;
  return alone.bare && alone.items.size() == 1 ? &alone.items.front().value : node;
}

}  // namespace ordo
