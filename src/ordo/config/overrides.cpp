// SPDX-License-Identifier: Apache-2.0
#include "ordo/config/overrides.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "ordo/config/parse.h"
#include "ordo/config/words.h"

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

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> names;
  for (size_t start = 0; start <= path.size();) {
    const size_t end = std::min(path.find('.', start), path.size());
    names.push_back(path.substr(start, end - start));
    start = end + 1;
  }
  return names;
}

std::optional<Assignment> read_assignment(const std::string& text, const Source& at, Problems& problems) {
  constexpr const char* kExample = "as in train.optimizer.lr=3e-4";
  const auto refused = [&](std::string why, std::string hint = "") {
    problems.add_at(at, std::move(why), std::move(hint));
    return std::nullopt;
  };
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return refused("expected key=value", kExample);
  const std::string path = text.substr(0, equals);
  if (path.empty()) return refused("there is no key before the '='", kExample);
  auto names = split_path(path);
  if (std::any_of(names.begin(), names.end(), [](const auto& name) { return name.empty(); }))
    return refused(fmt::format("a name is missing in the key '{}'", shown(path)),
                   fmt::format("names are separated by one dot, {}", kExample));
  if (names.size() > kDeepestNode) return refused(fmt::format("nests deeper than {} levels", kDeepestNode));
  if (names.front() == "include") return refused("`include` can be given in a file only");
  auto value = parse_value(plain_lines(text.substr(equals + 1)), at, problems);
  if (!value) return std::nullopt;
  return Assignment{std::move(names), path, std::move(*value), at};
}

}  // namespace

void apply_overrides(Node& root, std::span<const std::string> overrides, Problems& problems) {
  std::string shown_lines;
  for (const auto& text : overrides) shown_lines += shown(text) + "\n";
  problems.source_text(std::string(kCommandLine), shown_lines);
  std::vector<Assignment> assignments;
  for (size_t i = 0; i < overrides.size(); ++i) {
    auto assignment = read_assignment(overrides[i], {std::string(kCommandLine), 0, static_cast<int>(i) + 1}, problems);
    if (assignment) assignments.push_back(std::move(*assignment));
  }
  // The broader key first: a new kind must not drop what the same command line gives to it, whatever the order of the
  // two.
  std::stable_sort(assignments.begin(), assignments.end(),
                   [](const auto& a, const auto& b) { return a.depth() < b.depth(); });
  for (const auto& [names, path, value, at] : assignments) Overrider(path, at, problems).apply(root, names, value);
}

}  // namespace ordo
