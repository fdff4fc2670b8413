// SPDX-License-Identifier: Apache-2.0
#include "ordo/config/outline.h"

#include <utility>

#include "ordo/config/words.h"
#include "ordo/config/writer.h"

namespace ordo {

namespace {

class Outliner final : public Fields {
 public:
  Outline out;

 private:
  Option& put(std::string_view key, Option::Type type, std::string_view help, const Limits& limits, Json fallback) {
    out.push_back({.key = std::string(key),
                   .help = std::string(help),
                   .type = type,
                   .limits = limits,
                   .fallback = std::move(fallback)});
    return out.back();
  }
  void boolean(std::string_view key, bool& v, std::string_view help, const Limits& l) override {
    put(key, Option::Type::boolean, help, l, v);
  }
  void integer(std::string_view key, int64_t& v, std::string_view help, const Limits& l) override {
    put(key, Option::Type::integer, help, l, v);
  }
  void number(std::string_view key, double& v, std::string_view help, const Limits& l) override {
    put(key, Option::Type::number, help, l, v);
  }
  void text(std::string_view key, std::string& v, std::string_view help, const Limits& l) override {
    put(key, Option::Type::text, help, l, v);
  }
  void path(std::string_view key, std::filesystem::path& v, std::string_view help, const Limits& l) override {
    put(key, Option::Type::path, help, l, v.string());
  }
  void quantity(std::string_view key, Quantity& v, std::string_view help, Units units, const Limits& l) override {
    const Quantity amount{v.value, v.unit.empty() ? std::string(units.front()) : v.unit};
    put(key, Option::Type::quantity, help, l, quantity_text(amount)).units = units;
  }
  void named(std::string_view key, int& v, std::string_view help, Names names, const Limits& l) override {
    put(key, Option::Type::named, help, l, name_of(names, v)).names = names;
  }
  void tree(std::string_view key, Tree&, std::string_view help, std::string_view form, const Limits& l) override {
    put(key, Option::Type::tree, help, l, nullptr).form = form;
  }
  void group(std::string_view key, std::string_view help, const Limits& l, const Visit& visit) override {
    Outliner inner;
    visit(inner);
    put(key, Option::Type::group, help, l, nullptr).inner = std::move(inner.out);
  }
  void choice(std::string_view key, AnyChoice& v, const Kinds& kinds, std::string_view help, const Limits& l) override {
    put(key, Option::Type::choice, help, l, v.kind.empty() ? Json() : Json(v.kind)).kinds = &kinds;
  }
  void list(std::string_view key, std::string_view help, const Limits& l, size_t now,
            const std::function<void(size_t)>& resize, const std::function<void(Fields&, size_t)>& item) override {
    Outliner inner;
    Json fallback = Json::array();
    for (size_t i = 0; i < now; ++i) {
      const Json value = json_of([&](Fields& f) { item(f, i); });
      fallback.push_back(value.is_object() && value.contains("kind") ? value.at("kind") : value);
    }
    if (now == 0) resize(1);  // an item to ask, for the moment
    item(inner, 0);
    if (now == 0) resize(0);
    inner.out.front().key = std::string(key);
    inner.out.front().limits.required = false;
    put(key, Option::Type::list, help, l, std::move(fallback)).inner = std::move(inner.out);
  }
  void maybe(std::string_view key, std::string_view help, bool now, const Visit& value,
             const std::function<void()>& clear) override {
    Outliner inner;
    value(inner);
    if (!now) clear();
    const Limits limits = inner.out.front().limits;
    Json fallback = now ? inner.out.front().fallback : Json();
    put(key, Option::Type::optional, help, limits, std::move(fallback)).inner = std::move(inner.out);
  }
};

}  // namespace

Outline outline_of(const Walk& walk) {
  Outliner outliner;
  walk(outliner);
  return std::move(outliner.out);
}

Outline outline_of(const KindInfo& kind) {
  const auto config = kind.config();
  return outline_of([&](Fields& f) { kind.fields(f, config.get()); });
}

std::vector<std::string> option_paths(const Outline& outline, const std::string& path) {
  std::vector<std::string> all;
  for (const auto& option : outline) {
    all.push_back(child_path(path, option.key));
    if (option.type != Option::Type::group) continue;
    const auto below = option_paths(option.inner, all.back());
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

}  // namespace ordo
