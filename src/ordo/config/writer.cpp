// SPDX-License-Identifier: Apache-2.0
#include "ordo/config/writer.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "ordo/config/catalog.h"
#include "ordo/config/numbers.h"
#include "ordo/config/words.h"
#include "ordo/core/errors.h"
#include "ordo/core/text.h"

namespace ordo {

namespace {

// Visits without changing anything; `out` is an object, or (after an empty key) the value itself.
class Writer final : public Fields {
 public:
  Json out = Json::object();

 private:
  void put(std::string_view key, Json value) {
    if (key.empty())
      out = std::move(value);
    else
      out[std::string(key)] = std::move(value);
  }
  void boolean(std::string_view key, bool& v, std::string_view, const Limits&) override { put(key, v); }
  void integer(std::string_view key, int64_t& v, std::string_view, const Limits&) override { put(key, v); }
  void number(std::string_view key, double& v, std::string_view, const Limits&) override { put(key, v); }
  void text(std::string_view key, std::string& v, std::string_view, const Limits&) override { put(key, v); }
  void path(std::string_view key, std::filesystem::path& v, std::string_view, const Limits&) override {
    put(key, v.string());
  }
  void quantity(std::string_view key, Quantity& v, std::string_view, Units units, const Limits&) override {
    put(key, quantity_text(v.unit.empty() ? Quantity{v.value, std::string(units.front())} : v));
  }
  void named(std::string_view key, int& v, std::string_view, Names names, const Limits&) override {
    put(key, name_of(names, v));
  }
  void tree(std::string_view key, Tree& v, std::string_view, std::string_view, const Limits&) override {
    if (v.node != nullptr) put(key, json_of(*v.node));
  }
  void group(std::string_view key, std::string_view, const Limits&, const Visit& visit) override {
    Writer inner;
    visit(inner);
    put(key, std::move(inner.out));
  }
  void choice(std::string_view key, AnyChoice& v, const Kinds& kinds, std::string_view, const Limits&) override {
    if (v.kind.empty()) return;
    const KindInfo* info = find_kind(kinds, v.kind);
    if (info == nullptr) unknown_kind("kind", v.kind, kinds);
    // Configs are shared and const; the visit reads only.
    const auto config = v.config == nullptr ? info->config() : std::const_pointer_cast<void>(v.config);
    Writer inner;
    inner.out["kind"] = v.kind;
    info->fields(inner, config.get());
    put(key, std::move(inner.out));
  }
  void list(std::string_view key, std::string_view, const Limits&, size_t now, const std::function<void(size_t)>&,
            const std::function<void(Fields&, size_t)>& item) override {
    Json all = Json::array();
    for (size_t i = 0; i < now; ++i) {
      Writer inner;
      item(inner, i);
      all.push_back(std::move(inner.out));
    }
    put(key, std::move(all));
  }
  void maybe(std::string_view key, std::string_view, bool now, const Visit& value,
             const std::function<void()>&) override {
    if (now)
      value(*this);
    else
      put(key, nullptr);
  }
};

}  // namespace

std::string quantity_text(const Quantity& quantity) {
  return quantity.unit.empty() ? number_text(quantity.value)
                               : fmt::format("{} {}", number_text(quantity.value), quantity.unit);
}

std::string name_of(Names names, int value) {
  for (const auto& name : names)
    if (name.value == value) return std::string(name.name);
  ORDO_ASSERT(!"an enum value without a name");
  return "";
}

Json json_of(const Walk& walk) {
  Writer writer;
  walk(writer);
  return std::move(writer.out);
}

Json json_of(const KindInfo& kind, const std::shared_ptr<const void>& config) {
  const auto settings = config ? config : std::shared_ptr<const void>(kind.config());
  // Writing changes nothing; Fields has no form for constants.
  return json_of([&](Fields& f) { kind.fields(f, const_cast<void*>(settings.get())); });  // NOLINT
}

namespace {

Json scalar_json(const Node& node) {
  if (node.quoted) return node.text;
  if (node.text == "true" || node.text == "false") return node.text == "true";
  if (const auto whole = read_whole(node.text).value) return *whole;
  if (const auto number = read_number(node.text).value) return *number;
  return node.text;
}

}  // namespace

Json json_of(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return nullptr;
    case Node::Kind::scalar:
      return scalar_json(node);
    case Node::Kind::list:
    case Node::Kind::map:
      break;
  }
  if (node.bare && node.items.size() == 1) return json_of(node.items.front().value);
  Json all = node.kind == Node::Kind::list ? Json::array() : Json::object();
  for (const auto& item : node.items) {
    if (node.kind == Node::Kind::list)
      all.push_back(json_of(item.value));
    else
      all[item.key] = json_of(item.value);
  }
  return all;
}

Json dump_json(const Walk& walk) { return json_of(walk); }

std::string dump_yaml(const Walk& walk, const Sources* sources) { return yaml_block(json_of(walk), sources); }

}  // namespace ordo
