// SPDX-License-Identifier: Apache-2.0
// One declaration per option. A struct's `fields(Fields&, Config&)` drives the reader, the writer, the schema, the
// manual and the differ.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ordo {

// Where a value was written: a file's line and column (1-based), or "command line" with line 0.
struct Source {
  std::string file;
  int line = 0, column = 0;
  std::string text() const;  // "lm.yaml:9:3", "command line"; empty where nothing was written
  bool operator==(const Source&) const = default;
};

// What a number may be, and whether the key must be given.
struct Limits {
  std::optional<double> low, high;
  bool low_open = false;  // low itself is excluded
  bool high_open = false;
  bool required = false;
};
inline Limits at_least(double low) { return {.low = low}; }
inline Limits above(double low) { return {.low = low, .low_open = true}; }
inline Limits within(double low, double high) { return {.low = low, .high = high}; }
inline Limits below_one() { return {.low = 0.0, .high = 1.0, .high_open = true}; }  // [0, 1): probabilities of dropout
inline Limits required(Limits limits = {}) {
  limits.required = true;
  return limits;
}

struct NamedValue {
  std::string_view name;
  int value;
};
using Names = std::span<const NamedValue>;  // of an enum; a static table beside it

// An amount with a unit: `2000`, `5 epochs`, `1e8 tokens`; `4GB`. The declaration names the units; the bare number has
// the first.
struct Quantity {
  double value = 0.0;
  std::string unit;
  bool operator==(const Quantity&) const = default;
};
using Units = std::span<const std::string_view>;
inline constexpr std::string_view kHorizonUnits[] = {"steps", "epochs", "tokens"};
inline constexpr std::string_view kMemoryUnits[] = {"MB", "GB"};

// What is wrong with a text, and where: `length` bytes from `offset` on.
struct TextProblem {
  size_t offset = 0, length = 1;
  std::string text, hint = {};
};
using TextCheck = std::function<std::optional<TextProblem>(std::string_view)>;

// A value that names keys freely (a study's `vary`), kept as it was written, with its places, for who reads it further.
struct Node;
struct Tree {
  std::shared_ptr<const Node> node = {};  // null: not given
};

class Fields;

// What the visitors need to know of one kind of a catalogue, without its types.
struct KindInfo {
  std::string_view kind, summary;
  std::function<std::shared_ptr<void>()> config;  // a fresh Config with its defaults
  std::function<void(Fields&, void*)> fields;
};
using Kinds = std::vector<KindInfo>;
// The kinds that a Choice<Base> may name; specialised beside each catalogue's Base, defined in its catalog.cpp.
template <class Base>
const Kinds& kinds_of();

// "One of a catalogue". A default is given by its kind: Choice<Schedule>{"cosine"}; its Config with defaults is made
// when it is read.
struct AnyChoice {
  std::string kind;
  std::shared_ptr<const void> config;  // the kind's own Config; copies share it: nobody changes it after reading
  Source source;
};
template <class Base>
struct Choice : AnyChoice {
  Choice() = default;
  explicit Choice(std::string_view name) { kind = name; }
  template <class Config>
  const Config& as() const {
    return *static_cast<const Config*>(config.get());
  }
};

template <class T>
concept Configurable = requires(Fields& f, T& t) {
  fields(f, t);
};

// The visitor. `key` is the name in YAML, `help` one line for people.
class Fields {
 public:
  virtual ~Fields() = default;

  void operator()(std::string_view key, bool& v, std::string_view help, Limits l = {}) { boolean(key, v, help, l); }
  void operator()(std::string_view key, int64_t& v, std::string_view help, Limits l = {}) { integer(key, v, help, l); }
  void operator()(std::string_view key, double& v, std::string_view help, Limits l = {}) { number(key, v, help, l); }
  void operator()(std::string_view key, std::string& v, std::string_view help, Limits l = {}) { text(key, v, help, l); }
  // A text in a language of its own (a formula): what `check` finds is shown at its very character.
  void operator()(std::string_view key, std::string& v, std::string_view help, const TextCheck& check, Limits l = {}) {
    text(key, v, help, l);
    examine(key, v, check);
  }
  // Paths in a file are relative to that file, on the command line to the current folder; read ones are absolute.
  void operator()(std::string_view key, std::filesystem::path& v, std::string_view help, Limits l = {}) {
    path(key, v, help, l);
  }
  void operator()(std::string_view key, Quantity& v, std::string_view help, Units units, Limits l = {}) {
    quantity(key, v, help, units, l);
  }
  // `form` tells people how it is written: "FACTOR: {LEVEL: {KEY: value}}".
  void operator()(std::string_view key, Tree& v, std::string_view help, std::string_view form, Limits l = {}) {
    tree(key, v, help, form, l);
  }

  template <class E>
  requires std::is_enum_v<E>
  void operator()(std::string_view key, E& v, std::string_view help, Names names, Limits l = {}) {
    int i = static_cast<int>(v);
    named(key, i, help, names, l);
    v = static_cast<E>(i);
  }
  template <Configurable S>
  void operator()(std::string_view key, S& v, std::string_view help, Limits l = {}) {
    group(key, help, l, [&](Fields& f) { fields(f, v); });
  }
  template <class Base>
  void operator()(std::string_view key, Choice<Base>& v, std::string_view help, Limits l = {}) {
    choice(key, v, kinds_of<Base>(), help, l);
  }
  // A list; where one is due, one bare value is a list of one. Limits hold for each item. More arguments (names, units)
  // go to the items.
  template <class T, class... More>
  void operator()(std::string_view key, std::vector<T>& v, std::string_view help, More&&... more) {
    list(
        key, help, limits_of(more...), v.size(), [&](size_t n) { v.resize(n); },
        [&](Fields& f, size_t i) { f("", v[i], help, std::forward<More>(more)...); });
  }
  template <class T, class... More>
  void operator()(std::string_view key, std::optional<T>& v, std::string_view help, More&&... more) {
    maybe(
        key, help, v.has_value(),
        [&](Fields& f) {
          T inner = v.value_or(T{});
          f(key, inner, help, std::forward<More>(more)...);
          v = std::move(inner);
        },
        [&] { v.reset(); });
  }

 protected:
  using Visit = std::function<void(Fields&)>;
  virtual void boolean(std::string_view key, bool& v, std::string_view help, const Limits& l) = 0;
  virtual void integer(std::string_view key, int64_t& v, std::string_view help, const Limits& l) = 0;
  virtual void number(std::string_view key, double& v, std::string_view help, const Limits& l) = 0;
  virtual void text(std::string_view key, std::string& v, std::string_view help, const Limits& l) = 0;
  virtual void examine(std::string_view key, std::string_view v, const TextCheck& check) {  // for who reads texts
    (void)key, (void)v, (void)check;
  }
  virtual void path(std::string_view key, std::filesystem::path& v, std::string_view help, const Limits& l) = 0;
  virtual void quantity(std::string_view key, Quantity& v, std::string_view help, Units units, const Limits& l) = 0;
  virtual void named(std::string_view key, int& v, std::string_view help, Names names, const Limits& l) = 0;
  virtual void tree(std::string_view key, Tree& v, std::string_view help, std::string_view form, const Limits& l) = 0;
  virtual void group(std::string_view key, std::string_view help, const Limits& l, const Visit& visit) = 0;
  virtual void choice(std::string_view key, AnyChoice& v, const Kinds& kinds, std::string_view help,
                      const Limits& l) = 0;
  virtual void list(std::string_view key, std::string_view help, const Limits& l, size_t now,
                    const std::function<void(size_t)>& resize, const std::function<void(Fields&, size_t)>& item) = 0;
  // value(f) visits the value in the optional; clear() empties it (an explicit null in YAML).
  virtual void maybe(std::string_view key, std::string_view help, bool now, const Visit& value,
                     const std::function<void()>& clear) = 0;

 private:
  template <class... More>
  static Limits limits_of(const More&... more) {
    Limits found;
    [[maybe_unused]] auto take = [&](const auto& m) {
      if constexpr (std::is_same_v<std::decay_t<decltype(m)>, Limits>) found = m;
    };
    (take(more), ...);
    return found;
  }
};

}  // namespace ordo
