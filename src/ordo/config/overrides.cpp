// SPDX-License-Identifier: Apache-2.0
#include "ordo/config/overrides.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "ordo/config/layers.h"
#include "ordo/config/parse.h"
#include "ordo/config/words.h"
#include "ordo/core/text.h"

namespace ordo {

namespace {

using Steps = std::span<const std::string>;  // the names of a path

std::optional<size_t> as_index(const std::string& name) {
  size_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  return error == std::errc() && end == name.data() + name.size() ? std::optional(index) : std::nullopt;
}

// One override on its way to its place.
class Overrider {
 public:
  Overrider(std::string path, Source at, Problems& problems)
      : path_(std::move(path)), at_(std::move(at)), problems_(problems) {}

  void apply(Node& base, Steps steps, const Node& value) {
    if (steps.empty()) return merge(base, value);
    if (base.former != nullptr) {  // both readings of the map take the value
      Node::Former former = *base.former;
      apply(former.alone, steps, value);
      base.former = std::make_shared<const Node::Former>(std::move(former));
    }
    const auto index = as_index(steps.front());
    if (base.kind == Node::Kind::list) return into_list(base, index, steps, value);
    if (index) {
      if (*index != 0) return out_of_range(*index, 1);
      wrap(base);
      return apply(base.items.front().value, steps.subspan(1), value);
    }
    Node* next = base.kind == Node::Kind::map ? base.find(steps.front()) : nullptr;
    if (next != nullptr && steps.size() > 1) return apply(*next, steps.subspan(1), value);
    Node layer = map_node();
    Node below;
    below.source = at_;
    apply(below, steps.subspan(1), value);
    layer.items.push_back({steps.front(), at_, std::move(below)});
    merge(base, layer);
  }

 private:
  Node map_node() const {
    Node map;
    map.kind = Node::Kind::map;
    map.source = at_;
    return map;
  }
  void into_list(Node& base, std::optional<size_t> index, Steps steps, const Node& value) {
    const size_t size = base.items.size();
    if (index && *index >= size) return out_of_range(*index, size);
    if (index) return apply(base.items[*index].value, steps.subspan(1), value);
    if (size == 1) return apply(base.items.front().value, steps, value);  // a list of one may be spoken to as that one
    problems_.add_at(at_,
                     fmt::format("{} is a list of {}, so '{}' needs the number of an item before it", reached(steps),
                                 size, shown(steps.front())),
                     fmt::format("as in {}.0.{}=…", reached(steps), shown(steps.front())));
  }
  void out_of_range(size_t index, size_t size) {
    problems_.add_at(at_, fmt::format("there is no item {} in a list of {}", index, size),
                     "items are numbered from 0; the whole list can be given as [a, b]");
  }
  // One bare value, where an item of a list is asked for, is a list of one.
  void wrap(Node& base) const {
    Node list;
    list.kind = Node::Kind::list;
    list.bare = true;
    list.source = base.kind == Node::Kind::null ? at_ : base.source;
    const Source at = list.source;
    list.items.push_back({"", at, std::move(base)});
    base = std::move(list);
  }
  // The part of the path before the steps that are left.
  std::string reached(Steps left) const {
    std::string_view path = path_;
    for (size_t i = 0; i < left.size(); ++i) path = path.substr(0, path.rfind('.'));
    return std::string(path);
  }

  std::string path_;
  Source at_;
  Problems& problems_;
};

struct Assignment {
  std::vector<std::string> names;  // of its key
  std::string path;
  Node value;
  Source at;

  // `position.kind=rope` and `position=rope` say the same.
  size_t depth() const { return names.size() - (names.size() > 1 && names.back() == "kind" ? 1 : 0); }
};

constexpr const char* kExample = "as in train.optimizer.lr=3e-4";

// The names of a key; nothing, told to the problems, when it is none.
std::optional<std::vector<std::string>> names_of_key(const std::string& path, const Source& at, Problems& problems) {
  const auto refused = [&](std::string why, std::string hint = "") {
    problems.add_at(at, std::move(why), std::move(hint));
    return std::nullopt;
  };
  auto names = split(path, '.');
  if (std::any_of(names.begin(), names.end(), [](const auto& name) { return name.empty(); }))
    return refused(fmt::format("a name is missing in the key '{}'", shown(path)),
                   fmt::format("names are separated by one dot, {}", kExample));
  if (names.size() > kDeepestNode) return refused(fmt::format("nests deeper than {} levels", kDeepestNode));
  if (names.front() == "include") return refused("`include` can be given in a file only");
  return names;
}

std::optional<Assignment> read_assignment(const std::string& text, const Source& at, Problems& problems) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    problems.add_at(at, equals == 0 ? "there is no key before the '='" : "expected key=value", kExample);
    return std::nullopt;
  }
  const std::string path = text.substr(0, equals);
  auto names = names_of_key(path, at, problems);
  if (!names) return std::nullopt;
  auto value = parse_value(plain_lines(text.substr(equals + 1)), at, problems);
  if (!value) return std::nullopt;
  return Assignment{std::move(*names), path, std::move(*value), at};
}

// The broader key first: a new kind must not drop what the same layer gives to it, whatever the order of the two.
void apply_layer(Node& root, std::vector<Assignment> layer, Problems& problems) {
  std::stable_sort(layer.begin(), layer.end(), [](const auto& a, const auto& b) { return a.depth() < b.depth(); });
  for (const auto& [names, path, value, at] : layer) Overrider(path, at, problems).apply(root, names, value);
}

}  // namespace

void apply_overrides(Node& root, std::span<const std::string> overrides, Problems& problems,
                     const std::function<bool(const std::string&)>& left_to_others) {
  std::string shown_lines;
  for (const auto& text : overrides) shown_lines += shown(text) + "\n";
  problems.source_text(std::string(kCommandLine), shown_lines);
  std::vector<Assignment> assignments;
  for (size_t i = 0; i < overrides.size(); ++i) {
    if (left_to_others && left_to_others(overrides[i])) continue;
    auto assignment = read_assignment(overrides[i], command_line(i), problems);
    if (assignment) assignments.push_back(std::move(*assignment));
  }
  apply_layer(root, std::move(assignments), problems);
}

Source command_line(size_t override) { return {std::string(kCommandLine), 0, static_cast<int>(override) + 1}; }

void lay_over(Node& root, std::span<const Setting> settings, Problems& problems) {
  std::vector<Assignment> layer;
  for (const auto& setting : settings) {
    auto names = names_of_key(setting.path, setting.at, problems);
    auto value = setting.node != nullptr ? std::optional(*setting.node)
                                         : parse_value(plain_lines(setting.value), setting.at, problems);
    if (names && value) layer.push_back({std::move(*names), setting.path, std::move(*value), setting.at});
  }
  apply_layer(root, std::move(layer), problems);
}

}  // namespace ordo
