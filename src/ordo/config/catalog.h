// SPDX-License-Identifier: Apache-2.0
// A catalogue: the only list of the kinds of one thing (position encodings, kernels, optimisers, …), each with its
// settings and how to build it.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "ordo/config/fields.h"
#include "ordo/core/errors.h"

namespace ordo {

// Throws ConfigError: "unknown <what> 'rpoe' …", the nearest name and all names.
[[noreturn]] void unknown_kind(std::string_view what, std::string_view kind, const Kinds& kinds);

// "lm.yaml:9:3: <text>": what is wrong, after the place in the config; the text alone when there is no place.
std::string placed(const Source& place, const std::string& text);
// Throws ConfigError, of a type of its own when it names a place: a choice around this one passes it on as it is.
[[noreturn]] void refuse_at(const Source& place, const std::string& text);

template <class Base, class Facts>
struct Entry {
  KindInfo info;
  std::function<std::shared_ptr<Base>(const void* config, const Facts&)> build;
};

// Asks of T: `struct Config` with `fields()`, `static constexpr std::string_view kKind, kSummary`, a constructor
// T(const Config&, const Facts&).
template <class T, class Base, class Facts>
Entry<Base, Facts> entry() {
  using Config = typename T::Config;
  return {{T::kKind, T::kSummary, [] { return std::make_shared<Config>(); },
           [](Fields& f, void* config) { fields(f, *static_cast<Config*>(config)); }},
          [](const void* config, const Facts& facts) -> std::shared_ptr<Base> {
            return std::make_shared<T>(*static_cast<const Config*>(config), facts);
          }};
}

template <class Base, class Facts>
class Catalog {
 public:
  Catalog(std::string_view what, std::vector<Entry<Base, Facts>> entries) : what_(what), entries_(std::move(entries)) {
    for (const auto& e : entries_) kinds_.push_back(e.info);
  }
  const Kinds& kinds() const { return kinds_; }
  const std::vector<Entry<Base, Facts>>& entries() const { return entries_; }
  const Entry<Base, Facts>& find(std::string_view kind) const {
    for (const auto& e : entries_)
      if (e.info.kind == kind) return e;
    unknown_kind(what_, kind, kinds_);
  }
  std::shared_ptr<Base> build(const Choice<Base>& choice, const Facts& facts) const {
    const auto& found = find(choice.kind);
    const auto config = choice.config ? choice.config : std::shared_ptr<const void>(found.info.config());
    try {
      return found.build(config.get(), facts);
    } catch (const ConfigError& refusal) {
      if (typeid(refusal) != typeid(ConfigError)) throw;  // says more by its type than by the place of this choice
      refuse_at(choice.source, refusal.what());
    }
  }
  // The kind with all its defaults.
  std::shared_ptr<Base> build(std::string_view kind, const Facts& facts) const {
    return build(Choice<Base>(kind), facts);
  }

 private:
  std::string_view what_;
  std::vector<Entry<Base, Facts>> entries_;
  Kinds kinds_;
};

}  // namespace ordo
