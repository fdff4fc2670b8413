// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <algorithm>

#include "ordo/data/split_rules.h"
#include "support/thrown.h"

namespace ordo::test {
namespace {

std::vector<SplitKey> keys_of(const std::vector<std::string>& texts) {
  std::vector<SplitKey> keys;
  for (size_t i = 0; i < texts.size(); ++i) keys.push_back({.number = static_cast<int64_t>(i), .text = texts[i]});
  return keys;
}

int64_t count_of(const std::vector<Split>& made, Split split) { return std::count(made.begin(), made.end(), split); }

const std::vector<std::string>& many_texts() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> made;
    for (int i = 0; i < 2000; ++i) made.push_back("text " + std::to_string(i % 1000));  // each twice
    return made;
  }();
  return texts;
}

}  // namespace

TEST_CASE("split by number: remainders of the number in the file, from 0", "[unit]") {
  NumberSplit::Config config;
  config.modulus = 3;
  config.test = {0};
  config.validation = {2};
  const NumberSplit rule(config, {});
  CHECK((rule.divide(keys_of({"a", "b", "c", "d"})) ==
         std::vector<Split>{Split::test, Split::train, Split::validation, Split::test}));
  CHECK(rule.gives(Split::test));
  config.validation = {};
  CHECK_FALSE(NumberSplit(config, {}).gives(Split::validation));
}

TEST_CASE("split by hash: zlib's CRC-32 of the text", "[unit]") {
  HashSplit::Config config;
  config.modulus = 1 << 20;
  config.test = {0xCBF43926 % (1 << 20)};  // the published check value of CRC-32, of "123456789"
  const HashSplit rule(config, {});
  CHECK((rule.divide(keys_of({"123456789", "12345678", "123456789"})) ==
         std::vector<Split>{Split::test, Split::train, Split::test}));
}

TEST_CASE("split by share: about so many, equal texts together, another seed another split", "[unit]") {
  const ShareSplit rule({.validation = 0.1, .test = 0.2}, {.seed = 1});
  const auto keys = keys_of(many_texts());
  const auto made = rule.divide(keys);
  CHECK(std::equal(made.begin(), made.begin() + 1000, made.begin() + 1000));
  CHECK(count_of(made, Split::test) / 2000.0 == Approx(0.2).margin(0.05));
  CHECK(count_of(made, Split::validation) / 2000.0 == Approx(0.1).margin(0.04));
  CHECK((ShareSplit({.validation = 0.1, .test = 0.2}, {.seed = 2}).divide(keys) != made));
  CHECK((ShareSplit({.validation = 0.1, .test = 0.2}, {.seed = 1}).divide(keys) == made));
}

TEST_CASE("split by tail: the last examples, validation before test", "[unit]") {
  const TailSplit rule({.validation = 1, .test = 2}, {});
  CHECK((rule.divide(keys_of({"a", "b", "c", "d"})) ==
         std::vector<Split>{Split::train, Split::validation, Split::test, Split::test}));
  CHECK(contains(thrown<DataError>([&] { rule.divide(keys_of({"a", "b", "c"})); }), "too few"));
}

TEST_CASE("split by name: what the data say of an example; a name they do not say is told with those they do",
          "[unit]") {
  const NameSplit rule({.by = "speaker", .test = {"theo"}}, {});
  const std::vector<SplitKey> keys{{.text = "a", .names = {{"speaker", "theo"}, {"take", "0"}}},
                                   {.text = "b", .names = {{"speaker", "nicolas"}, {"take", "0"}}}};
  CHECK((rule.divide(keys) == std::vector<Split>{Split::test, Split::train}));
  const std::string told = thrown<DataError>([&] { NameSplit({.by = "room"}, {}).divide(keys); });
  CHECK(contains(told, "'room'"));
  CHECK(contains(told, "speaker, take"));
}

TEST_CASE("rules that leave nothing for training, or give one remainder twice, are refused", "[unit]") {
  HashSplit::Config config;
  config.modulus = 2;
  config.test = {0};
  config.validation = {1};
  CHECK(contains(thrown<ConfigError>([&] { HashSplit(config, {}); }), "nothing is left"));
  config.validation = {0};
  CHECK(contains(thrown<ConfigError>([&] { HashSplit(config, {}); }), "validation and of test"));
  config.validation = {7};
  CHECK(contains(thrown<ConfigError>([&] { HashSplit(config, {}); }), "not below the modulus"));
  config.validation = {1, 1};
  CHECK(contains(thrown<ConfigError>([&] { HashSplit(config, {}); }), "validation names 1 twice"));
  CHECK(contains(thrown<ConfigError>([] {
                   NameSplit({.by = "who", .test = {"ann", "ben", "ann"}}, {});
                 }),
                 "test names ann twice"));
  CHECK(contains(thrown<ConfigError>([&] { ShareSplit({.validation = 0.5, .test = 0.5}, {}); }), "nothing"));
}

}  // namespace ordo::test
