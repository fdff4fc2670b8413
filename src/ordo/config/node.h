// SPDX-License-Identifier: Apache-2.0
// A config as written, before it meets any struct: a tree in which every key and value knows where it stands.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/config/fields.h"

namespace ordo {

inline constexpr size_t kMostNodes = 100'000;  // of one file, aliases expanded
inline constexpr size_t kDeepestNode = 100;
inline constexpr std::string_view kCommandLine = "command line";

struct Node {
  enum class Kind { null, scalar, list, map };
  struct Item;
  struct Former;

  Kind kind = Kind::null;
  std::string text;     // of a scalar
  bool quoted = false;  // a scalar in quotes or a block is text, whatever it looks like
  bool bare = false;  // a map that stands for a bare name (`position: rope`), or a list of one that stands for its item
  Source source;
  std::vector<Item> items;               // a list's keys are empty
  std::shared_ptr<const Former> former;  // set when a later layer named another `kind` than an earlier one

  const Node* find(std::string_view key) const;
  Node* find(std::string_view key);
};

struct Node::Item {
  std::string key;
  Source at;  // of the key
  Node value;
};

// The tree does not know which maps are choices. Where layers disagree about `kind`, it holds both readings: the maps
// merged (right for a section with an option of that name) and, here, the later layer alone (right for a choice, whose
// kinds share no settings).
struct Node::Former {
  std::string kind;  // what the earlier layers said; empty: nothing, so the struct's default kind is meant
  Node alone;        // what was given since the kind changed
  std::vector<std::string> dropped;  // keys of the earlier layers that `alone` lacks
};

size_t count_nodes(const Node& node);
size_t depth_of(const Node& node);  // 1 for a scalar

// What messages call it: "nothing", "a list", "'rope'".
std::string found_text(const Node& node);
// A scalar laid over a map is kept as a bare kind, since the map may be a choice: where text or a number is due, it is
// what it was.
const Node* unwrapped(const Node* node);
// `rope` as {kind: rope}.
Node bare_choice(const Node& name);
// A later layer over an earlier one: maps merge deeply, everything else is replaced.
void merge(Node& base, const Node& over);

}  // namespace ordo
