// SPDX-License-Identifier: Apache-2.0
#include "ordo/config/reader.h"

#include <algorithm>
#include <set>
#include <utility>

#include "ordo/config/catalog.h"
#include "ordo/config/excerpt.h"
#include "ordo/config/numbers.h"
#include "ordo/config/outline.h"
#include "ordo/config/words.h"
#include "ordo/core/errors.h"
#include "ordo/core/log.h"
#include "ordo/core/text.h"

namespace ordo {

namespace {

struct ReadContext {
  const Walk& walk;
  const Folders& folders;
  Problems& problems;
  Sources sources = {};
  size_t unknown_keys = 0;
  std::optional<std::vector<std::string>> all_paths = {};  // of options outside of choices, made when first asked for

  const std::vector<std::string>& paths() {
    if (!all_paths) all_paths = option_paths(outline_of(walk));
    return *all_paths;
  }
};

// Where a reader stands. Paths for people follow the file (`position: {theta: …}` is position.theta), paths for tables
// name the item of the list that one value stands for (position.0.theta).
struct Standing {
  std::string shown_path, path;
  size_t depth = 0;
  std::string why_missing = {};  // said with keys that are not there

  Standing below(std::string_view key) const {
    return {child_path(shown_path, key), child_path(path, key), depth + (key.empty() ? 0 : 1), why_missing};
  }
};

std::string bool_hint(std::string_view text) {
  static const std::set<std::string, std::less<>> kYes{"yes", "Yes", "YES", "on", "On", "ON", "y", "True", "TRUE", "1"};
  static const std::set<std::string, std::less<>> kNo{"no",  "No", "NO",    "off",   "Off",
                                                      "OFF", "n",  "False", "FALSE", "0"};
  return kYes.contains(text) ? "write true" : kNo.contains(text) ? "write false" : "";
}

// One level of the tree: a map whose keys are taken one by one, or (with an empty key) the value itself.
class Reader final : public Fields {
 public:
  Reader(const Node* node, Standing at, ReadContext& context) : node_(node), at_(std::move(at)), context_(context) {
    constexpr size_t kEndless = 1000;
    require(at_.depth < kEndless, "this is a bug in Ordo: the defaults of {} contain themselves",
            at_.path.substr(0, 80));
  }

  void knows(std::string_view key) {
    if (known_.emplace(key).second) order_.emplace_back(key);
  }
  // To be called when all keys have been taken: what is left is unknown.
  void finish(const Kinds* kinds = nullptr, std::string_view kind = "") {
    if (node_ == nullptr || node_->kind != Node::Kind::map) return;
    for (const auto& item : node_->items)
      if (!known_.contains(item.key)) unknown_key(item, kinds, kind);
  }

 private:
  Standing below(std::string_view key) const { return at_.below(key); }
  std::string name(std::string_view key) const { return child_path(at_.shown_path, key); }

  // The value of a key, its place noted; null when it is absent.
  const Node* take(std::string_view key, const Limits& limits, bool leaf = true) {
    if (key.empty()) return node_;
    knows(key);
    const auto* item = find_item(key);
    if (item == nullptr) {
      if (limits.required)
        context_.problems.add_text(below(key).path, fmt::format("missing key '{}'", name(key)), at_.why_missing);
      return nullptr;
    }
    note(below(key).path, item->at, leaf);
    return &item->value;
  }
  const Node* take_scalar(std::string_view key, const Limits& limits, std::string_view wanted) {
    const Node* node = unwrapped(take(key, limits));
    if (node == nullptr || node->kind == Node::Kind::scalar) return node;
    wrong(*node, key, wanted);
    return nullptr;
  }
  const Node::Item* find_item(std::string_view key) const {
    if (node_ == nullptr || node_->kind != Node::Kind::map) return nullptr;
    for (const auto& item : node_->items)
      if (item.key == key) return &item;
    return nullptr;
  }
  void note(const std::string& path, const Source& at, bool leaf) {
    context_.problems.place(path, at);
    if (leaf) context_.sources[path] = at;
  }

  void wrong(const Node& node, std::string_view key, std::string_view wanted, std::string hint = "") {
    if (node.kind == Node::Kind::null && hint.empty()) hint = "give a value, or leave the key out";
    // Of a map made of a bare value and keys below it, the keys are what does not belong.
    const bool keys_added = node.kind == Node::Kind::map && node.bare && node.items.size() > 1;
    context_.problems.add_at(keys_added ? node.items.back().at : node.source,
                             fmt::format("{} must be {}, found {}", name(key), wanted, found_text(node)),
                             std::move(hint));
  }
  void unknown_key(const Node::Item& item, const Kinds* kinds, std::string_view kind) {
    const std::string where = at_.shown_path.empty() ? "" : fmt::format(" in {}", at_.shown_path);
    const std::string of_kind = kind.empty() ? "" : fmt::format(" (kind: {})", kind);
    std::string hint = did_you_mean(item.key, order_);
    constexpr size_t kEnough = 50;  // a file of nothing but unknown keys is not worth the search
    if (hint.empty() && ++context_.unknown_keys <= kEnough) hint = elsewhere(item.key, kinds);
    if (!hint.empty()) hint += hint.ends_with('?') ? " " : "; ";
    const std::string taker = !kind.empty() ? std::string(kind) : at_.shown_path.empty() ? "a config" : at_.shown_path;
    std::vector<std::string> keys = order_;
    if (kinds != nullptr) keys.erase(keys.begin());  // `kind` itself
    hint += keys.empty() ? fmt::format("{} takes no settings", taker)
                         : fmt::format("{} takes: {}", taker, join(keys, ", "));
    context_.problems.add_at(item.at, fmt::format("unknown key '{}'{}{}", shown(item.key), where, of_kind), hint);
  }
  // A key that is unknown here may belong to another kind, or to another section.
  std::string elsewhere(std::string_view key, const Kinds* kinds) {
    if (key == "include") return "`include` stands at the top level of a file";
    std::vector<std::string> takers;
    if (kinds != nullptr) {
      for (const auto& info : *kinds)
        for (const auto& option : outline_of(info))
          if (option.key == key) takers.emplace_back(info.kind);
      return takers.empty() ? "" : fmt::format("'{}' is a setting of: {}", key, join(takers, ", "));
    }
    for (const auto& path : context_.paths())
      if (path.ends_with(fmt::format(".{}", key))) takers.push_back(path);
    constexpr size_t kFew = 3;
    return takers.empty() || takers.size() > kFew ? "" : fmt::format("there is: {}", join(takers, ", "));
  }

  template <class T>
  void numeric(std::string_view key, T& v, const Limits& limits, std::string_view wanted,
               Reading<T> (*read)(std::string_view)) {
    const Node* node = take_scalar(key, limits, wanted);
    if (node == nullptr) return;
    const auto reading = read(node->text);
    if (!reading.value || node->quoted)
      return wrong(*node, key, wanted, reading.value ? "write it without the quotes" : reading.hint);
    if (within_limits(*node, key, static_cast<double>(*reading.value), limits)) v = *reading.value;
  }
  bool within_limits(const Node& node, std::string_view key, double value, const Limits& limits) {
    if (in_range(value, limits)) return true;
    context_.problems.add_at(node.source,
                             fmt::format("{} is {}, must be {}", name(key), shown(node.text), range_text(limits)));
    return false;
  }

  void boolean(std::string_view key, bool& v, std::string_view, const Limits& l) override {
    constexpr std::string_view kWanted = "true or false";
    const Node* node = take_scalar(key, l, kWanted);
    if (node == nullptr) return;
    const bool a_bool = node->text == "true" || node->text == "false";
    if (!a_bool || node->quoted)
      return wrong(*node, key, kWanted, a_bool ? "write it without the quotes" : bool_hint(node->text));
    v = node->text == "true";
  }
  void integer(std::string_view key, int64_t& v, std::string_view, const Limits& l) override {
    numeric<int64_t>(key, v, l, "a whole number", read_whole);
  }
  void number(std::string_view key, double& v, std::string_view, const Limits& l) override {
    numeric<double>(key, v, l, "a number", read_number);
  }
  void quantity(std::string_view key, Quantity& v, std::string_view, Units units, const Limits& l) override {
    if (v.unit.empty()) v.unit = units.front();
    const std::string wanted = fmt::format("a number, alone or with a unit ({})",
                                           join(std::vector<std::string>(units.begin(), units.end()), ", "));
    const Node* node = take_scalar(key, l, wanted);
    if (node == nullptr) return;
    auto reading = read_quantity(node->text, units);
    if (!reading.value) return wrong(*node, key, wanted, reading.hint);
    if (node->quoted && read_number(node->text).value) return wrong(*node, key, wanted, "write it without the quotes");
    if (within_limits(*node, key, reading.value->value, l)) v = std::move(*reading.value);
  }
  const Node* take_text(std::string_view key, const Limits& l) {
    const Node* node = unwrapped(take(key, l));
    if (node == nullptr || node->kind == Node::Kind::scalar) return node;
    wrong(*node, key, "text",
          node->kind == Node::Kind::null ? "give a value, or leave the key out; '' is the empty text" : "");
    return nullptr;
  }
  void text(std::string_view key, std::string& v, std::string_view, const Limits& l) override {
    if (const Node* node = take_text(key, l)) v = node->text;
  }
  void examine(std::string_view key, std::string_view v, const TextCheck& check) override {
    const auto* item = key.empty() ? nullptr : find_item(key);
    const Node* node = unwrapped(key.empty() ? node_ : item == nullptr ? nullptr : &item->value);
    if (node == nullptr || node->kind != Node::Kind::scalar) return;  // a default, or told already
    const auto problem = check(v);
    if (!problem) return;
    const size_t width = std::max<size_t>(characters_of(v.substr(problem->offset, problem->length)).size(), 1);
    if (node->source.line > 0)
      return context_.problems.add_at(context_.problems.inside(node->source, v, problem->offset),
                                      fmt::format("{}: {}", name(key), problem->text), problem->hint, width);
    // A word of the command line may be cut short in the report, so the text is shown by itself.
    const size_t column = characters_of(v.substr(0, problem->offset)).size() + 1;
    std::string text = excerpt(std::string(8, ' '), v, static_cast<int>(column), width, problem->hint);
    text.pop_back();
    context_.problems.add_at(node->source,
                             fmt::format("{} (character {}): {}\n{}", name(key), column, problem->text, text));
  }
  void path(std::string_view key, std::filesystem::path& v, std::string_view, const Limits& l) override {
    const Node* node = take_text(key, l);
    if (node == nullptr) return;
    if (node->text.find('\0') != std::string::npos) return wrong(*node, key, "a path");
    const auto folder = context_.folders.find(node->source.file);
    const auto base = folder == context_.folders.end() ? std::filesystem::current_path() : folder->second;
    v = node->text.empty() ? std::filesystem::path() : (base / node->text).lexically_normal();
  }
  void named(std::string_view key, int& v, std::string_view, Names names, const Limits& l) override {
    const auto all = names_of(names);
    const std::string wanted = fmt::format("one of {}", join(all, ", "));
    const Node* node = take_scalar(key, l, wanted);
    if (node == nullptr) return;
    const auto same = std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.name == node->text; });
    if (same == names.end()) return wrong(*node, key, wanted, did_you_mean(node->text, all));
    v = same->value;
  }

  void tree(std::string_view key, Tree& v, std::string_view, std::string_view form, const Limits& l) override {
    const Node* node = take(key, l);
    if (node == nullptr) return;
    if (node->kind == Node::Kind::null) return wrong(*node, key, fmt::format("of the form {}", form));
    v.node = std::make_shared<const Node>(*node);
  }

  void group(std::string_view key, std::string_view, const Limits& l, const Visit& visit) override {
    const Node* node = take(key, l, false);
    if (node == nullptr && l.required) return;  // told already
    if (node != nullptr && (node->kind != Node::Kind::map || node->bare))
      return wrong(node->kind == Node::Kind::map ? *node->find("kind") : *node, key, "a map of keys");
    Reader inner(node, below(key), context_);
    visit(inner);
    inner.finish();
  }

  // The reading of a map as a choice: what was given to another kind than the last one is gone, and `here` says so of
  // what is missing then.
  const Node* settled(const Node& node, std::string_view default_kind, std::string_view key, Standing& here) {
    if (node.former == nullptr) return &node;
    const auto& former = *node.former;
    const Node* kind = former.alone.find("kind");
    const std::string_view before = former.kind.empty() ? default_kind : std::string_view(former.kind);
    if (kind->text == before) return &node;
    if (kind->source.line == 0 && !former.dropped.empty() && !before.empty())
      log::info("{}: kind {} replaces {}; dropped with it: {}", name(key), shown(kind->text), before,
                join(former.dropped, ", "));
    context_.problems.place(here.path, kind->source);  // what is missing is missing here
    if (!former.dropped.empty() && !before.empty()) {
      here.why_missing = fmt::format("kind {} here replaces {}, and all that was set for it with it: {}",
                                     shown(kind->text), before, join(former.dropped, ", "));
    }
    return &former.alone;
  }
  void default_choice(std::string_view key, AnyChoice& v, const Kinds& kinds) {
    if (v.kind.empty() || v.config != nullptr) return;
    const KindInfo* info = find_kind(kinds, v.kind);
    if (info == nullptr) unknown_kind(fmt::format("default kind of {}", name(key)), v.kind, kinds);
    const auto config = info->config();
    Reader inner(nullptr, below(key), context_);
    info->fields(inner, config.get());
    v.config = config;
  }
  void choice(std::string_view key, AnyChoice& v, const Kinds& kinds, std::string_view, const Limits& l) override {
    const Node* node = take(key, l);
    if (node == nullptr) return default_choice(key, v, kinds);
    Node bare;
    if (node->kind == Node::Kind::scalar) {
      bare = bare_choice(*node);
      node = &bare;
    }
    const std::string all = join(names_of(kinds), ", ");
    if (node->kind != Node::Kind::map)
      return wrong(
          *node, key, fmt::format("a kind ({}), or a map with one", all),
          node->kind == Node::Kind::null && find_kind(kinds, "none") != nullptr ? "for none at all, use none" : "");
    Standing here = below(key);
    node = settled(*node, v.kind, key, here);
    const Node* kind = node->find("kind");
    if (kind == nullptr && v.kind.empty())
      return context_.problems.add_at(node->source, fmt::format("missing key '{}'", child_path(name(key), "kind")),
                                      fmt::format("kinds: {}", all));
    if (kind != nullptr && kind->kind != Node::Kind::scalar)
      return wrong(*kind, child_path(key, "kind"), fmt::format("one of {}", all));
    const std::string chosen = kind == nullptr ? v.kind : kind->text;
    const KindInfo* info = find_kind(kinds, chosen);
    if (info == nullptr) {
      const std::string near = did_you_mean(chosen, names_of(kinds));
      return context_.problems.add_at(kind == nullptr ? node->source : kind->source,
                                      fmt::format("unknown kind '{}' in {}", shown(chosen), name(key)),
                                      fmt::format("{}{}kinds: {}", near, near.empty() ? "" : " ", all));
    }
    read_choice(std::move(here), v, kinds, *info, *node);
  }
  void read_choice(Standing here, AnyChoice& v, const Kinds& kinds, const KindInfo& info, const Node& node) {
    const auto config = info.config();
    Reader inner(&node, std::move(here), context_);
    inner.knows("kind");
    if (const auto* kind = inner.find_item("kind")) inner.note(inner.below("kind").path, kind->at, true);
    info.fields(inner, config.get());
    inner.finish(&kinds, info.kind);
    const Node* kind = node.find("kind");
    v.kind = info.kind;
    v.config = config;
    v.source = kind == nullptr ? node.source : kind->source;
  }

  void list(std::string_view key, std::string_view, const Limits& l, size_t now,
            const std::function<void(size_t)>& resize, const std::function<void(Fields&, size_t)>& item) override {
    const Node* node = take(key, l);
    const Standing here = below(key);
    if (node != nullptr && node->kind == Node::Kind::null) {
      resize(1);  // an item to ask, for the moment
      const Option of = outline_of([&](Fields& f) { item(f, 0); }).front();
      const bool kinds = of.type == Option::Type::choice;
      return wrong(
          *node, key, kinds ? "a kind, or a list of kinds" : "a list",
          kinds && find_kind(*of.kinds, "none") != nullptr ? "for none at all, use none" : "an empty list is []");
    }
    const bool one_for_a_list = node != nullptr && (node->kind != Node::Kind::list || node->bare);
    if (node == nullptr) {  // the default, whose own defaults are still to be filled in
      for (size_t i = 0; i < now; ++i) read_item(nullptr, here, i, true, item);
      return;
    }
    const size_t size = one_for_a_list ? 1 : node->items.size();
    // A list given as such starts afresh; one value alone may go on from a default that is a list of one.
    if (!one_for_a_list || now != 1) resize(0);
    resize(size);
    if (one_for_a_list)
      return read_item(node->bare && node->kind == Node::Kind::list ? &node->items.front().value : node, here, 0, false,
                       item);
    for (size_t i = 0; i < size; ++i) read_item(&node->items[i].value, here, i, true, item);
    if (size > 1 && outline_of([&](Fields& f) { item(f, 0); }).front().type == Option::Type::named)
      refuse_repeated(*node, key);
  }
  void refuse_repeated(const Node& list, std::string_view key) {
    std::set<std::string_view> met;
    for (const auto& item : list.items)
      if (const Node* node = unwrapped(&item.value); node->kind == Node::Kind::scalar && !met.insert(node->text).second)
        context_.problems.add_at(node->source, fmt::format("{} names {} twice", name(key), shown(node->text)));
  }
  void read_item(const Node* node, const Standing& list, size_t i, bool numbered,
                 const std::function<void(Fields&, size_t)>& item) {
    const std::string index = std::to_string(i);
    Standing here{numbered ? child_path(list.shown_path, index) : list.shown_path, child_path(list.path, index),
                  list.depth + 1, list.why_missing};
    if (node != nullptr) note(here.path, node->source, node->kind != Node::Kind::map);
    Reader inner(node, std::move(here), context_);
    item(inner, i);
  }

  void maybe(std::string_view key, std::string_view, bool now, const Visit& value,
             const std::function<void()>& clear) override {
    const auto* item = key.empty() ? nullptr : find_item(key);
    const Node* node = key.empty() ? node_ : item == nullptr ? nullptr : &item->value;
    knows(key);
    if (node != nullptr && node->kind == Node::Kind::null) {
      if (item != nullptr) note(below(key).path, item->at, true);
      return clear();
    }
    if (node != nullptr || now) value(*this);
  }

  const Node* node_;
  Standing at_;
  ReadContext& context_;
  std::set<std::string, std::less<>> known_;
  std::vector<std::string> order_;
};

}  // namespace

Sources read_into(const Node& root, const Walk& walk, const Folders& folders, Problems& problems) {
  ReadContext context{walk, folders, problems};
  problems.place("", root.source);
  if (root.kind != Node::Kind::map && root.kind != Node::Kind::null) {
    problems.add_at(root.source, fmt::format("a config must be a map of keys, found {}", found_text(root)),
                    "each line is `key: value`, with a space after the ':'");
    return {};
  }
  Reader reader(root.kind == Node::Kind::map ? &root : nullptr, {}, context);
  walk(reader);
  reader.finish();
  return std::move(context.sources);
}

}  // namespace ordo
