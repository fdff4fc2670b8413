// SPDX-License-Identifier: Apache-2.0
// Certificates of several encodings in one list: each part is held to what it says of itself.
#include "certify/planted.h"

#include "support/catch.h"

#include <fmt/format.h>
#include <algorithm>

#include "ordo/config/config.h"
#include "ordo/models/decoder.h"
#include "ordo/positions/chain.h"

namespace ordo::test {
namespace {

// position: what a config would say.
Certificate certificate_of_list(const std::string& position, int64_t max_length) {
  Decoder::Config c;
  load_config_text(
      fmt::format("{{dim: 32, layers: 2, attention: {{heads: 4, kv_heads: 2}}, max_length: {}, position: {}}}",
                  max_length, position),
      walk_of(c), {.name = "model"});
  Choice<Model> choice{std::string(Decoder::kKind)};
  choice.config = std::make_shared<Decoder::Config>(c);
  return certify(ConfigSubject(position, choice, {.vocab_size = 19, .max_length = max_length}), at::kCPU);
}

const Property& property_of(const Certificate& certificate, const std::string& name) {
  const auto found = std::find_if(certificate.properties.begin(), certificate.properties.end(),
                                  [&](const Property& p) { return p.name == name; });
  REQUIRE(found != certificate.properties.end());
  return *found;
}

}  // namespace

TEST_CASE("certify: a part whose turns change with the length is looked at below it, wherever it stands in a list",
          "[unit]") {
  const std::string dynamic = "{kind: rope, scaling: {kind: dynamic, factor: 4, original_max_position_embeddings: 24}}";
  for (const std::string& list :
       {"[sinusoidal, " + dynamic + "]", "[" + dynamic + ", sinusoidal]",
        "[{kind: rope, layers: [1, 0]}, " + dynamic.substr(0, dynamic.size() - 1) + ", layers: [0, 1]}]"}) {
    const Certificate certificate = certificate_of_list(list, 96);
    INFO(certificate.text());
    CHECK(certificate.holds());
    CHECK_THAT(property_of(certificate, "cache_equals_full").why, Catch::Matchers::Contains("24 tokens"));
  }
}

TEST_CASE(
    "certify: turns that change with the length are looked at below the position where they do, wherever tokens are "
    "moved",
    "[unit]") {
  // Token 6 stands at 4 * 6 = 24, past the 24 positions after which turns change.
  const Certificate certificate = certificate_of_list(
      "[{kind: randomized}, {kind: rope, scaling: {kind: dynamic, factor: 4, original_max_position_embeddings: 24}}]",
      96);
  INFO(certificate.text());
  CHECK(certificate.holds());
  CHECK_THAT(property_of(certificate, "cache_equals_full").why, Catch::Matchers::Contains("6 tokens"));
  CHECK(property_of(certificate, "packing_equals_separate").verdict == Verdict::pass);
  CHECK(certificate_of_list("[{kind: randomized, evaluation: drawn}, {kind: rope, scaling: {kind: dynamic, factor: 4, "
                            "original_max_position_embeddings: 24}}]",
                            48)
            .holds());
}

TEST_CASE("certify: angles are read part by part, and mixtures of sines are not read at all", "[unit]") {
  for (const std::string list :
       {"[{kind: sinusoidal, position_dim: 4}, rope]", "[rope, {kind: sinusoidal, position_dim: 4}]",
        "[{kind: sinusoidal, learned_scale: true}, rope]", "[{kind: sinusoidal, fusion: concat}, rope]"}) {
    const Certificate certificate = certificate_of_list(list, 64);
    INFO(certificate.text());
    CHECK(certificate.holds());
    CHECK_THAT(property_of(certificate, "low_precision_error").why, Catch::Matchers::Contains("rad"));
  }
}

TEST_CASE("certify finds angles of the second part of a list that are not what it declares", "[unit]") {
  struct Drifting final : Wrapped {  // two thousandths too fast
    using Wrapped::Wrapped;
    Tensor frequencies(int64_t length) const override { return inner->frequencies(length) * 1.002; }
  };
  const auto failed = broken_by({.encoding = [](const PositionFacts& facts, uint64_t) -> PlantedEncoding {
    return std::make_shared<Chain>(
        std::vector<PlantedEncoding>{any_encoding("sinusoidal", facts), std::make_shared<Drifting>("rope", facts)});
  }});
  INFO(listed(failed));
  CHECK(failed == std::vector<std::string>{"low_precision_error"});
}

TEST_CASE("certify: turns beside what reads turned queries, or beside other turns, do not count distances alone",
          "[unit]") {
  const std::string other = GENERATE(as<std::string>{}, "shaw", "deberta", "transformer_xl", "cope", "path", "liere",
                                     "{kind: rope, layout: interleaved}");
  const Certificate certificate = certificate_of_list("[rope, " + other + "]", 48);
  INFO(certificate.text());
  CHECK(certificate.holds());
  CHECK(property_of(certificate, "shift_invariance").verdict == Verdict::not_applicable);
}

TEST_CASE("certify: a turn beside a bias of the offset still counts distances alone", "[unit]") {
  const Certificate certificate = certificate_of_list("[rope, alibi]", 48);
  INFO(certificate.text());
  CHECK(certificate.holds());
  CHECK(property_of(certificate, "shift_invariance").verdict == Verdict::pass);
}

}  // namespace ordo::test
