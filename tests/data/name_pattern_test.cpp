// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/name_pattern.h"

#include "ordo/core/errors.h"
#include "support/thrown.h"

namespace ordo::test {

using Named = std::map<std::string, std::string>;

TEST_CASE("name pattern: what a file's name says, without its folders and its ending", "[unit]") {
  const NamePattern takes("{class}_{speaker}_{take}");
  CHECK(takes.names() == std::vector<std::string>{"class", "speaker", "take"});
  CHECK(takes.read("a_b/7_theo_12.wav") == Named{{"class", "7"}, {"speaker", "theo"}, {"take", "12"}});
  CHECK(takes.read("7_theo_12_b.flac") == Named{{"class", "7"}, {"speaker", "theo"}, {"take", "12_b"}});
  CHECK(NamePattern("rec-{class}.16k").read("rec-yes.16k.wav") == Named{{"class", "yes"}});
}

TEST_CASE("name pattern: a name that does not fit is refused with the pattern", "[unit]") {
  const NamePattern takes("{class}_{speaker}_{take}!");
  for (const auto* name : {"7_theo_12.wav", "7_theo!.wav", "_theo_12!.wav", "7__12!.wav", "7_theo_!.wav", "!.wav", ""})
    CHECK(contains(thrown<DataError>([&] { takes.read(name); }), "its name does not fit '{class}_{speaker}_{take}!'"));
  CHECK_NOTHROW(takes.read("7_theo_12!.wav"));
  CHECK(contains(thrown<DataError>([] { NamePattern("rec-{class}").read("rac-yes.wav"); }), "rac-yes.wav"));
}

TEST_CASE("name pattern: patterns that cannot be read are refused", "[unit]") {
  const auto refusal = [](const char* pattern) {
    return thrown<ConfigError>([&] { const NamePattern made(pattern); });
  };
  CHECK(contains(refusal("{class"), "a brace is not closed"));
  CHECK(contains(refusal("class}"), "a closing brace without an opening one"));
  CHECK(contains(refusal("{}"), "braces hold a name"));
  CHECK(contains(refusal("{a{b}"), "braces hold a name"));
  CHECK(contains(refusal("{class}{take}"), "nothing between 'class' and 'take'"));
  CHECK(contains(refusal("{class}_{class}"), "has 'class' twice"));
  CHECK(contains(refusal("digits"), "names nothing"));
}

}  // namespace ordo::test
