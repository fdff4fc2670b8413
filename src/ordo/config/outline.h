// SPDX-License-Identifier: Apache-2.0
// What a config may contain, as data: schema and manual are made from it.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ordo/config/config.h"

namespace ordo {

struct Option {
  enum class Type { boolean, integer, number, text, path, quantity, named, tree, group, choice, list, optional };
  std::string key, help;
  Type type = Type::text;
  Limits limits;
  Json fallback;                 // the default; null: none. Of a choice its kind.
  Names names;                   // of an enum
  Units units;                   // of an amount
  std::string form = {};         // of a tree
  const Kinds* kinds = nullptr;  // of a choice; their own options are asked for when needed, since kinds may contain
                                 // choices of their like
  std::vector<Option> inner;     // of a group: its options; of a list or an optional: the one it holds
};
using Outline = std::vector<Option>;

Outline outline_of(const Walk& walk);
Outline outline_of(const KindInfo& kind);
// "model.dim", "model.attention", …: every option that does not depend on a kind.
std::vector<std::string> option_paths(const Outline& outline, const std::string& path = "");

}  // namespace ordo
