// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/splits.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "ordo/core/hash.h"
#include "ordo/core/text.h"
#include "ordo/data/split_rules.h"

namespace ordo {

namespace {

constexpr int64_t kMostRemainders = 1 << 30;
constexpr double kMostTail = 1 << 30;

template <class T>
bool among(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

template <class T>
bool given(Split split, const std::vector<T>& validation, const std::vector<T>& test) {
  if (split == Split::train) return true;
  return !(split == Split::validation ? validation : test).empty();
}

template <class T>
void require_each_once(const std::vector<T>& list, Split split) {
  for (auto value = list.begin(); value != list.end(); ++value)
    require<ConfigError>(std::find(list.begin(), value, *value) == value, "{} names {} twice", split_name(split),
                         *value);
}

// Nothing may be asked of both, and something must be left for training.
void require_remainders(const Remainders& c) {
  require_each_once(c.validation, Split::validation);
  require_each_once(c.test, Split::test);
  for (const auto* list : {&c.validation, &c.test})
    for (const int64_t remainder : *list)
      require<ConfigError>(remainder < c.modulus, "the remainder {} is not below the modulus {}", remainder, c.modulus);
  for (const int64_t remainder : c.validation)
    require<ConfigError>(!among(c.test, remainder), "the remainder {} is of validation and of test: give it to one",
                         remainder);
  require<ConfigError>(std::ssize(c.validation) + std::ssize(c.test) < c.modulus,
                       "validation and test take all {} remainders: nothing is left for training", c.modulus);
}

}  // namespace

const SplitCatalog& splits() {
  static const SplitCatalog list(
      "split", {entry<NumberSplit, SplitRule, SplitFacts>(), entry<HashSplit, SplitRule, SplitFacts>(),
                entry<ShareSplit, SplitRule, SplitFacts>(), entry<TailSplit, SplitRule, SplitFacts>(),
                entry<NameSplit, SplitRule, SplitFacts>()});
  return list;
}

template <>
const Kinds& kinds_of<SplitRule>() {
  return splits().kinds();
}

std::vector<Split> divided(const SplitRule& rule, const std::vector<SplitKey>& examples, const std::string& file) {
  try {
    return rule.divide(examples);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", file, error.what()));
  }
}

void fields(Fields& f, Remainders& c) {
  f("modulus", c.modulus, "by what is divided", required(within(2, kMostRemainders)));
  f("validation", c.validation, "remainders that are validation", within(0, kMostRemainders));
  f("test", c.test, "remainders that are test; all others are training", within(0, kMostRemainders));
}

Split Remainders::of(uint64_t value) const {
  const auto remainder = static_cast<int64_t>(value % static_cast<uint64_t>(modulus));
  if (among(test, remainder)) return Split::test;
  return among(validation, remainder) ? Split::validation : Split::train;
}

RemainderSplit::RemainderSplit(const Remainders& config) : config_(config) { require_remainders(config_); }
std::vector<Split> RemainderSplit::divide(const std::vector<SplitKey>& examples) const {
  std::vector<Split> made;
  for (const auto& key : examples) made.push_back(config_.of(value(key)));
  return made;
}
bool RemainderSplit::gives(Split split) const { return given(split, config_.validation, config_.test); }

void fields(Fields& f, NumberSplit::Config& c) { fields(f, static_cast<Remainders&>(c)); }
NumberSplit::NumberSplit(const Config& config, const SplitFacts& facts) : RemainderSplit(config) { (void)facts; }
uint64_t NumberSplit::value(const SplitKey& example) const { return static_cast<uint64_t>(example.number); }

void fields(Fields& f, HashSplit::Config& c) { fields(f, static_cast<Remainders&>(c)); }
HashSplit::HashSplit(const Config& config, const SplitFacts& facts) : RemainderSplit(config) { (void)facts; }
uint64_t HashSplit::value(const SplitKey& example) const {
  return crc32(0, reinterpret_cast<const Bytef*>(example.text.data()), static_cast<uInt>(example.text.size()));
}

void fields(Fields& f, ShareSplit::Config& c) {
  f("validation", c.validation, "share of the texts that is validation", below_one());
  f("test", c.test, "share that is test", below_one());
}
ShareSplit::ShareSplit(const Config& config, const SplitFacts& facts)
    : config_(config), key_(key_of(facts.seed, "split")) {
  require<ConfigError>(config.validation + config.test < 1.0,
                       "validation ({}) and test ({}) leave nothing for training", config.validation, config.test);
}
std::vector<Split> ShareSplit::divide(const std::vector<SplitKey>& examples) const {
  std::vector<Split> made;
  for (const auto& key : examples) {
    const double place = KeyedSequence(hash_bytes(key.text.data(), key.text.size(), key_)).unit();
    made.push_back(place < config_.test                        ? Split::test
                   : place < config_.test + config_.validation ? Split::validation
                                                               : Split::train);
  }
  return made;
}
bool ShareSplit::gives(Split split) const {
  return split == Split::train || (split == Split::validation ? config_.validation : config_.test) > 0.0;
}

void fields(Fields& f, TailSplit::Config& c) {
  f("validation", c.validation, "examples before those of test that are validation", within(0, kMostTail));
  f("test", c.test, "last examples, that are test", within(0, kMostTail));
}
TailSplit::TailSplit(const Config& config, const SplitFacts& facts) : config_(config) { (void)facts; }
std::vector<Split> TailSplit::divide(const std::vector<SplitKey>& examples) const {
  const int64_t count = std::ssize(examples), test = count - config_.test, validation = test - config_.validation;
  require<DataError>(validation > 0,
                     "task.split (tail): {} examples are too few for validation ({}), test ({}) and some of training",
                     count, config_.validation, config_.test);
  std::vector<Split> made;
  for (int64_t i = 0; i < count; ++i)
    made.push_back(i >= test ? Split::test : i >= validation ? Split::validation : Split::train);
  return made;
}
bool TailSplit::gives(Split split) const {
  return split == Split::train || (split == Split::validation ? config_.validation : config_.test) > 0;
}

void fields(Fields& f, NameSplit::Config& c) {
  f("by", c.by, "what is looked at: a name that the data give each example", required());
  f("validation", c.validation, "its values that are validation");
  f("test", c.test, "its values that are test; all others are training");
}
NameSplit::NameSplit(const Config& config, const SplitFacts& facts) : config_(config) {
  (void)facts;
  require_each_once(config.validation, Split::validation);
  require_each_once(config.test, Split::test);
  for (const auto& value : config.validation)
    require<ConfigError>(!among(config.test, value), "'{}' is of validation and of test: give it to one", value);
}
std::vector<Split> NameSplit::divide(const std::vector<SplitKey>& examples) const {
  std::vector<Split> made;
  for (const auto& key : examples) {
    const auto found = key.names.find(config_.by);
    if (found == key.names.end()) {
      std::vector<std::string> names;
      for (const auto& [name, value] : key.names) names.push_back(name);
      throw DataError(
          fmt::format("the data do not say the '{}' of an example, by which they are to be divided; they say: {}",
                      config_.by, names.empty() ? "nothing" : join(names, ", ")));
    }
    made.push_back(among(config_.test, found->second)         ? Split::test
                   : among(config_.validation, found->second) ? Split::validation
                                                              : Split::train);
  }
  return made;
}
bool NameSplit::gives(Split split) const { return given(split, config_.validation, config_.test); }

}  // namespace ordo
