// SPDX-License-Identifier: Apache-2.0
// The rotary family against other implementations: every case, every number of it, through the catalogue.
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <limits>

#include "positions/rotary.h"
#include "support/goldens.h"

namespace ordo::test {

namespace {

PositionFacts facts_of(const GoldenCase& golden) {
  return heads_of(golden.param<int64_t>("head_dim", 0), golden.param<int64_t>("max_position_embeddings", 64));
}

// A case's settings as the user of a config would write them.
Json settings_of(const GoldenCase& golden) {
  const Json& p = golden.params();
  Json yaml{{"kind", "rope"}};
  if (p.contains("rope_theta")) yaml["theta"] = p.at("rope_theta");
  if (p.contains("mrope_section")) {
    yaml["kind"] = "mrope";
    yaml["mrope_section"] = p.at("mrope_section");
  } else if (p.contains("grid")) {
    const bool scaled = p.contains("coordinates");
    yaml["kind"] = "rope_2d";
    yaml["variant"] = scaled ? "dinov3" : "pixtral";
    if (scaled) yaml["height"] = p.at("grid").at(0);
    yaml["width"] = p.at("grid").at(1);
    if (p.contains("prefix_tokens")) yaml["prefix_tokens"] = p.at("prefix_tokens");
  } else {
    yaml["layout"] = p.at("layout");
    if (p.contains("rotary_value")) yaml["rotary_value"] = p.at("rotary_value");
    if (p.contains("partial_rotary_factor"))
      yaml["partial_rotary_factor"] = p.at("partial_rotary_factor");
    else if (p.contains("rotary_dim"))
      yaml["rotary_dim"] = p.at("rotary_dim");
    if (p.contains("rope_type")) yaml["scaling"] = {{"kind", p.at("rope_type")}};
  }
  return yaml;
}

Positions places_of(const GoldenCase& golden, int64_t length) {
  if (!golden.has("position_ids")) return consecutive(golden.param<int64_t>("offset", 0), length, at::kCPU);
  const Tensor ids = golden.tensor("position_ids");
  if (ids.dim() == 2) return {.index = ids};
  return {.index = at::arange(length).unsqueeze(0), .coords = ids.permute({1, 2, 0}).to(at::kDouble)};
}

bool length_first(const GoldenCase& golden) {
  return golden.param<std::string>("tensor_layout", "").starts_with("batch, length");
}

// q, k or v turned, in the case's own order of dimensions.
Tensor turned(PositionEncoding& encoding, const GoldenCase& golden, char which, at::ScalarType type) {
  const Tensor given = golden.tensor(std::string(1, which)).to(type);
  const Tensor x = length_first(golden) ? given.transpose(1, 2) : given;
  const Positions at = places_of(golden, x.size(2));
  const Tensor y = which == 'q'   ? encoding.query(x, at, 0)
                   : which == 'k' ? encoding.key(x, at, 0)
                                  : encoding.value(x, at, 0);
  return length_first(golden) ? y.transpose(1, 2) : y;
}

// Causal attention by index, as the cases say.
Tensor probabilities(PositionEncoding& encoding, const GoldenCase& golden) {
  const Tensor q = golden.tensor("q");
  const Tensor scores = turned_scores(encoding, q, golden.tensor("k"), places_of(golden, q.size(2))) /
                        std::sqrt(static_cast<double>(q.size(3)));
  const Tensor ahead = at::arange(q.size(2)).unsqueeze(0).gt(at::arange(q.size(2)).unsqueeze(1));
  return at::softmax(scores.masked_fill(ahead, -std::numeric_limits<double>::infinity()), -1);
}

// Cosines (first) or sines of the turns at the case's positions, [1|B, L, r/2]; prefix tokens left out.
Tensor angles_of(PositionEncoding& encoding, const GoldenCase& golden, bool cosines) {
  const int64_t head_dim = golden.param<int64_t>("head_dim", 0);
  const int64_t tokens =
      golden.has("q") ? golden.tensor("q").size(length_first(golden) ? 1 : 2) : golden.tensor("position_ids").size(1);
  const Positions at = places_of(golden, tokens);
  const int64_t pairs = golden.param<int64_t>("rotary_dim", head_dim) / 2;
  const Tensor one = at::zeros({at.index.size(0), 1, tokens, head_dim});
  const bool interleaved = golden.param<std::string>("layout", "half") == "interleaved";
  (interleaved ? one.slice(3, 0, 2 * pairs, 2) : one.slice(3, 0, pairs)).fill_(1.0);
  const Tensor turn = encoding.query(one, at, 0).squeeze(1).slice(1, golden.param<int64_t>("prefix_tokens", 0));
  const int64_t first = cosines ? 0 : interleaved ? 1 : pairs;
  return interleaved ? turn.slice(2, first, 2 * pairs, 2) : turn.slice(2, first, first + pairs);
}

// A table of the peer holds each number once or, for the half layout, twice.
void check_angles(PositionEncoding& encoding, const GoldenCase& golden, const std::string& name) {
  Tensor want = golden.tensor(name);
  if (want.dim() == 2) want = want.unsqueeze(0);
  const Tensor got = angles_of(encoding, golden, name == "cos");
  const int64_t pairs = got.size(2);
  CHECK(close(got, want.slice(2, 0, pairs), golden.tolerance(name)));
  if (want.size(2) > pairs) CHECK(close(got, want.slice(2, pairs), golden.tolerance(name)));
}

void check_rope(PositionEncoding& encoding, const GoldenCase& golden, const std::string& name) {
  const Tensor want = golden.tensor(name);
  if (name == "q_rot" || name == "k_rot" || name == "v_rot") {
    CHECK(close(turned(encoding, golden, name[0], want.scalar_type()), want, golden.tolerance(name)));
  } else if (name == "q_rot_fp32" || name == "k_rot_fp32") {
    CHECK(close(turned(encoding, golden, name[0], at::kFloat), want, golden.tolerance(name)));
    CHECK(close(turned(encoding, golden, name[0], at::kBFloat16), want.to(at::kBFloat16),
                Tolerance{1e-6, 8e-3}));  // turned in fp32, rounded once: one unit in the last place of bf16
  } else if (name == "q_rot_bf16" || name == "k_rot_bf16") {
    CHECK(close(turned(encoding, golden, name[0], at::kBFloat16), want, Tolerance{3e-2, 0.0}));  // all-bf16 peer
  } else if (name == "inv_freq") {
    CHECK(close(encoding.frequencies(1), want, golden.tolerance(name)));
  } else if (name == "cos" || name == "sin") {
    check_angles(encoding, golden, name);
  } else if (name == "probs") {
    CHECK(close(probabilities(encoding, golden), want, golden.tolerance(name)));
  } else if (name == "out") {
    const Tensor q = golden.tensor("q"), v = repeat_groups(golden.tensor("v"), q.size(1));
    CHECK(close(probabilities(encoding, golden).matmul(v), want, golden.tolerance(name)));
  } else {
    FAIL("a number of " << golden.id() << " that no check knows: " << name);
  }
}

// The scaling of a case: the names are those of a Hugging Face configuration but for its kind.
Json scaling_of(const GoldenCase& golden) {
  const Json& p = golden.params();
  if (p.contains("ntk_factor")) return {{"kind", "ntk"}, {"factor", p.at("ntk_factor")}};
  if (p.at("rope_scaling").is_null()) return "none";
  Json scaling = p.at("rope_scaling");
  scaling["kind"] = scaling.at("rope_type");
  scaling.erase("rope_type");
  if (scaling.at("kind") == "dynamic")  // there, the original length is that of the model
    scaling["original_max_position_embeddings"] = p.at("max_position_embeddings");
  return scaling;
}

// inv_freq, or inv_freq_<length>; "none" is a length that the peer does not know, so a short one.
void check_frequencies(const PositionEncoding& encoding, const GoldenCase& golden, const std::string& name) {
  const std::string length = name == "inv_freq" ? "none" : name.substr(std::string("inv_freq_").size());
  CHECK(close(encoding.frequencies(length == "none" ? 1 : std::stoll(length)), golden.tensor(name),
              golden.tolerance(name)));
}

// Of a row of each length: what the turn of its first token, by angle 0, multiplies by.
void check_factors(PositionEncoding& encoding, const GoldenCase& golden) {
  const Tensor want = golden.tensor("attention_factor");
  const Json& lengths = golden.params().at("seq_len");
  REQUIRE(lengths.size() == static_cast<size_t>(want.size(0)));
  for (size_t i = 0; i < lengths.size(); ++i) {
    const int64_t length = lengths[i].is_null() ? 1 : lengths[i].get<int64_t>();
    const Tensor turn = turn_of(encoding, consecutive(0, length, at::kCPU), golden.param<int64_t>("head_dim", 0));
    const auto n = static_cast<int64_t>(i);
    CHECK(close(turn[0][0].slice(0, 0, 1), want.slice(0, n, n + 1), golden.tolerance("attention_factor")));
  }
}

// One encoding through calls of several lengths.
void check_calls(const GoldenCase& golden) {
  Json yaml = settings_of(golden);
  yaml["scaling"] = scaling_of(golden);
  yaml["scaling"]["keep_longest"] = true;
  const auto encoding = position_of(yaml.dump(), facts_of(golden));
  const Json& lengths = golden.params().at("call_lengths");
  const int64_t head_dim = golden.param<int64_t>("head_dim", 0);
  REQUIRE(golden.outputs().size() == 2 * lengths.size());
  for (size_t i = 0; i < lengths.size(); ++i) {
    const auto length = lengths[i].get<int64_t>();
    const std::string call = "call" + std::to_string(i), frequencies = "inv_freq_" + call, last = "cos_last_" + call;
    INFO(golden.id() << " " << call);
    const Tensor turn = turn_of(*encoding, consecutive(0, length, at::kCPU), head_dim)[0][length - 1];
    CHECK(close(encoding->frequencies(length), golden.tensor(frequencies), golden.tolerance(frequencies)));
    for (const int64_t half : {0, 1})
      CHECK(close(turn.slice(0, 0, head_dim / 2), golden.tensor(last).chunk(2)[static_cast<size_t>(half)],
                  golden.tolerance(last)));
  }
}

// z_m^((i-c)/base) [L, d/2] for positions counted from a centre, spread over both channels of a pair.
Tensor fading(const Tensor& from_centre, double base, double gamma, int64_t head_dim) {
  const Tensor m = at::arange(head_dim / 2, at::TensorOptions(at::kDouble)) * (2.0 / static_cast<double>(head_dim));
  return at::pow((m + gamma) / (1.0 + gamma), from_centre.unsqueeze(1) / base).repeat_interleave(2, 1);
}

// Peers put the centre elsewhere, torchscale at ceil(N / 2): moved there, the numbers must be theirs.
void check_xpos(const GoldenCase& golden) {
  const int64_t d = golden.param<int64_t>("head_dim", 0), start = golden.param<int64_t>("q_offset", 0);
  const double base = golden.param("scale_base", 0.0), gamma = golden.param("gamma", 0.0);
  const auto encoding = position_of(fmt::format("{{kind: xpos, scale_base: {}, gamma: {}}}", base, gamma), heads_of(d));
  const auto four = [](const Tensor& x) { return x.dim() == 3 ? x.unsqueeze(1) : x; };
  const Tensor q = four(golden.tensor("q")), k = four(golden.tensor("k"));
  const int64_t N = k.size(2);
  const Tensor turned_q = encoding->query(q, consecutive(start, q.size(2), at::kCPU), 0);
  const Tensor turned_k = encoding->key(k, consecutive(0, N, at::kCPU), 0);
  const auto centre = static_cast<double>(golden.param<int64_t>("centre", (N + 1) / 2)),
             own = std::floor((N - 1) / 2.0);
  const Tensor moved = fading(at::full({1}, own - centre, at::kDouble), base, gamma, d);
  for (const std::string& name : golden.outputs()) {
    INFO(golden.id() << " " << name);
    const Tensor want = golden.tensor(name);
    if (name == "scores") {
      CHECK(close(turned_q.matmul(turned_k.transpose(2, 3)), four(want), golden.tolerance(name)));
    } else if (name == "q_rot") {
      CHECK(close((turned_q * moved).to(at::kFloat), four(want), golden.tolerance(name)));
    } else if (name == "k_rot") {
      CHECK(close((turned_k / moved).to(at::kFloat), four(want), golden.tolerance(name)));
    } else if (name == "scale") {  // what a query gains over scale_base tokens, by the lengths of its pairs
      const Tensor one = at::ones({1, 1, static_cast<int64_t>(base) + 1, d}, at::kDouble);
      const Tensor pairs =
          encoding->query(one, consecutive(0, one.size(2), at::kCPU), 0).view({-1, d / 2, 2}).norm(2, 2);
      CHECK(close((pairs[-1] / pairs[0]).to(at::kFloat), want, golden.tolerance(name)));
    } else {
      FAIL("a number of " << golden.id() << " that no check knows: " << name);
    }
  }
}

}  // namespace

TEST_CASE("rotary family: turns equal those of other implementations", "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "rope")) {
    const auto encoding = position_of(settings_of(golden).dump(), facts_of(golden));
    for (const std::string& name : golden.outputs()) {
      INFO(golden.id() << " " << name);
      check_rope(*encoding, golden, name);
    }
  }
}

TEST_CASE("rope scaling: frequencies, factors and turns equal those of other implementations", "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "rope_scaling")) {
    if (golden.params().contains("call_lengths")) {
      check_calls(golden);
      continue;
    }
    Json yaml = settings_of(golden);
    yaml["scaling"] = scaling_of(golden);
    const auto encoding = position_of(yaml.dump(), facts_of(golden));
    for (const std::string& name : golden.outputs()) {
      INFO(golden.id() << " " << name);
      if (name.starts_with("inv_freq"))
        check_frequencies(*encoding, golden, name);
      else if (name == "attention_factor")
        check_factors(*encoding, golden);
      else
        check_rope(*encoding, golden, name);
    }
  }
}

TEST_CASE("xpos: scores, turns and scales equal those of other implementations", "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "xpos")) check_xpos(golden);
}

}  // namespace ordo::test
