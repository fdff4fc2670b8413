// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/tokenisation.h"

#include "metrics/stored.h"

namespace ordo::test {

TEST_CASE("tokenisation: words are those of sacreBLEU and rouge-score", "[golden]") {
  for (const Json& c : stored("tokens")) {
    const std::string text = c.at("text");
    for (const Tokenisation kind : {Tokenisation::none, Tokenisation::western, Tokenisation::characters,
                                    Tokenisation::chinese, Tokenisation::rouge}) {
      const std::string name(tokenisation_name(kind));
      INFO(name << " of " << text);
      CHECK(tokenised(text, kind) == c.at(name).get<std::vector<std::string>>());
    }
  }
}

}  // namespace ordo::test
