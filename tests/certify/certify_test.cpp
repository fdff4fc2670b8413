// SPDX-License-Identifier: Apache-2.0
// Certificates of configs: what is found of each encoding, what is made smaller, and how it is told.
#include "ordo/certify/certify.h"

#include "support/catch.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ordo/checkpoint/weights.h"
#include "ordo/config/config.h"
#include "ordo/core/text.h"
#include "ordo/models/decoder.h"
#include "ordo/models/encoder.h"

namespace ordo::test {
namespace {

StackConfig small_stack(const std::string& position) {
  StackConfig c;
  c.dim = 32, c.layers = 2, c.max_length = 48;
  c.attention = {.heads = 4, .kv_heads = 2};
  if (!position.empty()) c.position = {Choice<PositionEncoding>(position)};
  return c;
}

template <class Kind>
Choice<Model> choice_of(const StackConfig& c) {
  Choice<Model> choice(Kind::kKind);
  choice.config = std::make_shared<typename Kind::Config>(typename Kind::Config{c});
  return choice;
}

ConfigSubject subject_of(const Choice<Model>& model, int64_t vocab_size = 19, NamedTensors weights = {}) {
  return {"subject", model, {.vocab_size = vocab_size, .max_length = 48}, std::move(weights)};
}

Certificate certificate_of(const Choice<Model>& model) { return certify(subject_of(model), at::kCPU); }

const Property& property(const Certificate& certificate, const std::string& name) {
  const auto found = std::find_if(certificate.properties.begin(), certificate.properties.end(),
                                  [&](const Property& p) { return p.name == name; });
  REQUIRE(found != certificate.properties.end());
  return *found;
}

bool has_line(const std::vector<std::string>& lines, const std::string& part) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("certify: two-sided and without an encoding, P f(X) = f(P X) is measured and holds", "[unit]") {
  const Certificate certificate = certificate_of(choice_of<Encoder>(small_stack("none")));
  CHECK(certificate.holds());
  const Property& p = property(certificate, "permutation_equivariance");
  CHECK(p.expected);
  CHECK(p.verdict == Verdict::pass);
  CHECK(*p.measured < *p.limit);
}

TEST_CASE("certify: two-sided and with any encoding of order, P f(X) is not f(P X), and must not be", "[unit]") {
  for (const std::string kind : {"rope", "alibi", "learned", "sinusoidal"}) {
    const Certificate certificate = certificate_of(choice_of<Encoder>(small_stack(kind)));
    INFO(kind << "\n" << certificate.text());
    CHECK(certificate.holds());
    const Property& p = property(certificate, "permutation_equivariance");
    CHECK_FALSE(p.expected);
    CHECK(p.verdict == Verdict::pass);
    CHECK(*p.measured > 0.01);
  }
}

TEST_CASE("certify: first weights of any kind and size leave the certificate as it is", "[unit]") {
  StackConfig stack = small_stack("rope");
  const std::string normal = certificate_of(choice_of<Decoder>(stack)).text();
  stack.init = {.kind = InitKind::lecun_normal, .embedding_std = 0.01};
  CHECK(certificate_of(choice_of<Decoder>(stack)).text() == normal);
}

TEST_CASE("certify: what a causal mask or a two-sided stack settles by itself is not applicable, with the reason",
          "[unit]") {
  const Certificate causal = certificate_of(choice_of<Decoder>(small_stack("rope"))),
                    both = certificate_of(choice_of<Encoder>(small_stack("rope")));
  CHECK(property(causal, "permutation_equivariance").verdict == Verdict::not_applicable);
  CHECK_THAT(property(causal, "permutation_equivariance").why, Catch::Matchers::Contains("causal mask"));
  for (const std::string name : {"causality", "cache_equals_full"}) {
    CHECK(property(both, name).verdict == Verdict::not_applicable);
    CHECK_THAT(property(both, name).why, Catch::Matchers::Contains("two-sided"));
  }
}

TEST_CASE("certify: a learned table ends, which is not applicable with its own words", "[unit]") {
  const Certificate certificate = certificate_of(choice_of<Decoder>(small_stack("learned")));
  const Property& p = property(certificate, "finite_beyond_length");
  CHECK(p.verdict == Verdict::not_applicable);
  CHECK_THAT(p.why, Catch::Matchers::Contains("48"));
  CHECK(property(certificate, "shift_invariance").verdict == Verdict::not_applicable);
}

TEST_CASE("certify: a window, softcap, qk_norm and post-norm hold as well", "[unit]") {
  StackConfig c = small_stack("rope");
  c.attention.window = {12, 0};
  c.attention.softcap = 20.0;
  c.attention.qk_norm = true;
  c.norm.placement = NormPlacement::post;
  const Certificate certificate = certificate_of(choice_of<Decoder>(c));
  INFO(certificate.text());
  CHECK(certificate.holds());
  c.position = {};
  const Certificate both = certificate_of(choice_of<Encoder>(c));
  CHECK(property(both, "permutation_equivariance").verdict == Verdict::not_applicable);
  CHECK_THAT(property(both, "permutation_equivariance").why, Catch::Matchers::Contains("window"));
}

TEST_CASE("certify: windows and encodings of some layers only are certified in all of their pattern", "[unit]") {
  StackConfig c = small_stack("rope");
  c.layers = 4;
  c.attention.window = {0, 0, 0, 16};
  const ConfigSubject subject = subject_of(choice_of<Decoder>(c));
  CHECK(subject.build({.tiny = true})->layers() == 4);
  c.attention.window = {};
  CHECK(subject_of(choice_of<Decoder>(c)).build({.tiny = true})->layers() == 2);
  load_config_text("position: {kind: rope, layers: [1, 0, 0, 0]}\n", [&](Fields& f) { f("position", c.position, ""); },
                   {});
  CHECK(subject_of(choice_of<Decoder>(c)).build({.tiny = true})->layers() == 4);
}

TEST_CASE("certify: a large model is scaled down, heads as they are, and says so", "[unit]") {
  StackConfig c = small_stack("rope");
  c.dim = 1024, c.layers = 24;
  c.attention = {.heads = 16, .kv_heads = 4};
  const ConfigSubject subject = subject_of(choice_of<Decoder>(c), /*vocab_size=*/50000);
  const auto model = subject.build({});
  int64_t parameters = 0;
  for (const auto& p : model->parameters()) parameters += p.numel();
  CHECK(parameters < 3'000'000);
  CHECK(model->layers() == 2);
  CHECK(model->parameters().front().size(0) == 512);
  CHECK(model->named_parameters()["decoder.blocks.0.attention.q.weight"].size(0) == 16 * 64);
  CHECK(model->named_parameters()["decoder.blocks.0.attention.k.weight"].size(0) == 4 * 64);
  CHECK(has_line(subject.scaled(), "layers scaled down from 24 to 2"));
  CHECK(has_line(subject.scaled(), "vocabulary scaled down from 50000 to 512"));
  CHECK(has_line(subject.scaled(), "width scaled down from 1024"));
}

TEST_CASE("certify: trained weights are used at full size, also without the encoding", "[unit]") {
  const auto choice = choice_of<Decoder>(small_stack("learned"));
  const auto trained = models().build(choice, {.vocab_size = 19, .max_length = 48, .seed = 99});
  const ConfigSubject subject = subject_of(choice, 19, weights_of(*trained));
  CHECK(has_line(subject.scaled(), "trained weights"));
  const auto model = subject.build({}), bare = subject.build({.bare = true});
  for (const auto& p : trained->named_parameters()) {
    CHECK(model->named_parameters()[p.key()].equal(p.value()));
    if (p.key().find("position") == std::string::npos) CHECK(bare->named_parameters()[p.key()].equal(p.value()));
  }
  CHECK_FALSE(subject.build({.seed = 2})->parameters().front().equal(trained->parameters().front()));
}

TEST_CASE("certify: weights of another shape are refused by name", "[unit]") {
  const auto choice = choice_of<Decoder>(small_stack("learned"));
  const auto trained = models().build(choice, {.vocab_size = 19, .max_length = 48});
  NamedTensors weights = weights_of(*trained);
  for (auto& [name, tensor] : weights)
    if (name.find("position") != std::string::npos) tensor = tensor.slice(0, 0, 10);
  CHECK_THROWS_WITH(subject_of(choice, 19, weights).build({}), Catch::Matchers::Contains("position"));
}

TEST_CASE("certificates: text and JSON say the same, and the last line tells", "[unit]") {
  Certificate certificate{.subject = "x.yaml", .scaled = {"at full size"}};
  certificate.properties = {
      {.name = "causality", .measured = 0.0, .limit = 1e-5, .verdict = Verdict::pass, .why = "nothing earlier moves"},
      {.name = "gradients", .verdict = Verdict::not_applicable, .why = "none"}};
  CHECK(certificate.holds());
  CHECK_THAT(certificate.text(), Catch::Matchers::EndsWith("holds: 1 properties, 1 not applicable\n"));
  certificate.properties.push_back({.name = "order_sensitivity",
                                    .more_than = true,
                                    .measured = 0.0,
                                    .limit = 1e-4,
                                    .verdict = Verdict::fail,
                                    .why = "it does nothing"});
  CHECK_FALSE(certificate.holds());
  CHECK_THAT(certificate.text(), Catch::Matchers::EndsWith("DOES NOT HOLD: order_sensitivity\n"));
  const Json json = as_json(certificate);
  CHECK(json["subject"] == "x.yaml");
  CHECK(json["holds"] == false);
  CHECK(json["properties"].size() == 3);
  CHECK(json["properties"][0]["verdict"] == "pass");
  CHECK(json["properties"][1]["verdict"] == "not applicable");
  CHECK(json["properties"][1]["measured"].is_null());
  CHECK(json["properties"][2]["expected"] == "holds");
  CHECK(json["properties"][2]["limit"] == 1e-4);
}

TEST_CASE("certificates: long reasons are broken between words, within the width of a screen", "[unit]") {
  Certificate certificate{.subject = "x"};
  std::string why;
  for (int i = 0; i < 60; ++i) why += "word" + std::to_string(i) + " ";
  certificate.properties = {{.name = "permutation_equivariance", .verdict = Verdict::not_applicable, .why = why}};
  const std::string text = certificate.text();
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    CHECK(display_width(text.substr(begin, end - begin)) <= 150);
    begin = end + 1;
  }
  for (int i = 0; i < 60; ++i) CHECK(text.find("word" + std::to_string(i)) != std::string::npos);
}

}  // namespace ordo::test
