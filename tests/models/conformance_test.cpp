// SPDX-License-Identifier: Apache-2.0
// What every position encoding must do under every kernel and cache: whoever is listed in a catalogue is tested here.
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

#include "ordo/config/config.h"
#include "ordo/models/decoder.h"
#include "ordo/ops/autocast.h"
#include "support/positions.h"
#include "support/small_encodings.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

constexpr int64_t kVocab = 13, kLayers = 2, kMaxLength = 64;
constexpr Tolerance kModel = Tolerance{2e-5, 2e-4};  // two layers of sums in another order

AttentionConfig conforming_attention(const std::string& kernel) {
  return {.heads = 4, .kv_heads = 2, .head_dim = 8, .kernel = Choice<AttentionKernel>(kernel)};
}

constexpr std::string_view kJoin = " + ";

// "rope + alibi" -> both, to act together; "none" -> nothing.
std::vector<Choice<PositionEncoding>> choices_of(std::string encoding) {
  std::vector<Choice<PositionEncoding>> list;
  for (size_t end = 0; (end = encoding.find(kJoin)) != std::string::npos; encoding.erase(0, end + kJoin.size()))
    list.emplace_back(encoding.substr(0, end));
  if (encoding != "none") list.emplace_back(encoding);
  return list;
}

// The catalogue's encodings, and two of them together.
std::vector<std::string> catalogue() {
  std::vector<std::string> kinds{"rope + alibi"};
  for (const auto& k : positions().kinds()) kinds.emplace_back(k.kind);
  return kinds;
}

Decoder::Config conforming_decoder(const std::string& encoding, const std::string& kernel) {
  Decoder::Config c;
  c.dim = 32, c.layers = kLayers, c.max_length = kMaxLength, c.attention = conforming_attention(kernel),
  c.init.std = 0.3, c.position = choices_of(encoding);
  return c;
}
std::shared_ptr<Decoder> built(const Decoder::Config& c, uint64_t seed = 3) {
  return std::make_shared<Decoder>(c, ModelFacts{.vocab_size = kVocab, .seed = seed});
}

// A causal model with one encoding and one kernel: a decoder for the catalogue's encodings, two bare attention layers
// for the tests' own.
class Subject : public torch::nn::Module {
 public:
  Subject(const std::string& encoding, const std::string& kernel) {
    const auto listed = catalogue();
    if (std::find(listed.begin(), listed.end(), encoding) != listed.end()) {
      decoder_ = register_module("decoder", built(conforming_decoder(encoding, kernel)));
      return;
    }
    const PositionFacts facts{.dim = 32,
                              .heads = 4,
                              .kv_heads = 2,
                              .head_dim = 8,
                              .layers = kLayers,
                              .max_length = kMaxLength,
                              .causal = true};
    own_ = register_module("position", any_encoding(encoding, facts));
    for (int64_t i = 0; i < kLayers; ++i) {
      const AttentionLayer layer{.config = conforming_attention(kernel), .dim = 32, .layer = i};
      layers_.push_back(
          register_module("layer" + std::to_string(i),
                          std::make_shared<MultiHeadAttention>(layer, kernels().build(kernel, {}), own_.get())));
      initialise(*layers_.back(), static_cast<uint64_t>(5 + i), {.std = 0.3}, kLayers);
    }
  }
  // ids [B, L] -> hidden [B, L, D]
  Tensor run(const Tensor& ids, const Positions& at, const Mask& mask = {}, KVCache* cache = nullptr) {
    if (decoder_) return decoder_->forward({.ids = ids, .at = at, .mask = mask}, cache);
    Mask causal = mask;
    causal.causal = true;
    if (cache != nullptr) cache->advance(at, causal);
    Tensor x = at::embedding(noise({kVocab, 32}, 8), ids);
    for (const auto& layer : layers_) x = x + layer->forward(x, {.at = at, .mask = causal, .cache = cache}).out;
    return x;
  }
  Tensor run(const Tensor& ids) { return run(ids, consecutive(0, ids.size(1), at::kCPU)); }
  PositionTraits traits() { return decoder_ ? decoder_->position().traits() : own_->traits(); }

 private:
  std::shared_ptr<Decoder> decoder_;
  std::shared_ptr<PositionEncoding> own_;
  std::vector<std::shared_ptr<MultiHeadAttention>> layers_;
};

Tensor mixed_ids(int64_t L, int64_t from = 0) {
  return ((at::arange(from, from + L) * 7 + 3) * at::arange(from + 1, from + L + 1)).remainder(kVocab).unsqueeze(0);
}

// Calls check(subject) for every encoding under every kernel that takes its calls; each encoding must be taken by three
// at least. `check` makes all its calls outside of assertions: an assertion would take a kernel's refusal for a
// failure.
template <class Check>
void for_every_pair(const Check& check, bool gradients = false) {
  const at::AutoGradMode mode(gradients);
  auto encodings = all_encodings();
  encodings.emplace_back("rope + alibi");
  for (const std::string& encoding : encodings) {
    int taken = 0;
    for (const auto& kernel : kernels().kinds()) {
      INFO(encoding << " under " << kernel.kind);
      try {
        const auto subject = std::make_shared<Subject>(encoding, std::string(kernel.kind));
        if (!gradients) subject->eval();
        check(*subject, encoding);
        ++taken;
      } catch (const ConfigError& refused) {
        REQUIRE(std::string(refused.what()).find("attention kernel " + std::string(kernel.kind)) != std::string::npos);
      }
    }
    INFO(encoding);
    CHECK(taken >= 3);  // auto, eager, tiled
  }
}

// Feeds ids chunk by chunk through a fresh cache of the kind.
Tensor in_chunks(Subject& subject, const std::string& cache_kind, const Tensor& ids, const Tensor& index,
                 const Tensor& keys, const std::vector<int64_t>& ends) {
  const auto cache = caches().build(cache_kind, {.layers = kLayers});
  std::vector<Tensor> outs;
  int64_t from = 0;
  for (const int64_t to : ends) {
    Mask mask;
    if (keys.defined()) mask.keys = keys.slice(1, from, to);
    const Positions at =
        keys.defined() ? Positions{.index = index.slice(1, from, to)} : consecutive(from, to - from, at::kCPU);
    outs.push_back(subject.run(ids.slice(1, from, to), at, mask, cache.get()));
    from = to;
  }
  return at::cat(outs, 1);
}

// Caches that decode; `fixed` holds an encoder's output and has its own tests.
std::vector<std::string> decoding_caches() {
  std::vector<std::string> kinds;
  for (const auto& c : caches().kinds())
    if (c.kind != "fixed") kinds.emplace_back(c.kind);
  return kinds;
}

}  // namespace

TEST_CASE("conformance: outputs and gradients are those of eager", "[conformance]") {
  const Tensor ids = at::cat({mixed_ids(40), mixed_ids(40, 9)}, 0);
  const auto run = [&](Subject& s) {
    const Tensor out = s.run(ids);
    out.backward(noise(out.sizes(), 4));
    return out.detach();
  };
  for_every_pair(
      [&](Subject& subject, const std::string& encoding) {
        Subject reference(encoding, "eager");
        const Tensor expected = run(reference);
        const Tensor found = run(subject);
        CHECK(close(found, expected, kModel));
        double largest = 0.0;
        for (const Tensor& p : reference.parameters()) largest = std::max(largest, p.grad().abs().max().item<double>());
        const auto wanted = reference.named_parameters();
        for (const auto& p : subject.named_parameters()) {
          INFO(p.key());
          REQUIRE(p.value().grad().defined() == wanted[p.key()].grad().defined());
          CHECK(close_gradient(p.value().grad(), wanted[p.key()].grad(), 1e-4, 1e-2 * largest));
        }
      },
      /*gradients=*/true);
}

TEST_CASE("conformance: decoding through a cache equals one full pass, at every split", "[conformance]") {
  const Tensor ids = mixed_ids(20);
  for_every_pair([&](Subject& subject, const std::string&) {
    const Tensor whole = subject.run(ids);
    for (const std::string& cache : decoding_caches())
      for (const auto& ends : std::vector<std::vector<int64_t>>{{20}, {1, 20}, {10, 11, 15, 20}, {19, 20}}) {
        INFO("cache " << cache << ", first chunk " << ends[0]);
        const Tensor stepped = in_chunks(subject, cache, ids, {}, {}, ends);
        CHECK(close(stepped, whole, kModel));
      }
  });
}

TEST_CASE("conformance: padding on the left or on the right changes nothing for real tokens", "[conformance]") {
  const Tensor ids = mixed_ids(12), pads = at::ones({1, 5}, at::kLong);
  const Tensor both = at::cat({at::cat({pads, ids}, 1), at::cat({ids, pads}, 1), mixed_ids(17, 20)}, 0);
  Tensor keys = at::ones({3, 17}, at::kBool);
  keys[0].slice(0, 0, 5).fill_(false);
  keys[1].slice(0, 12).fill_(false);
  for_every_pair([&](Subject& subject, const std::string&) {
    const Tensor alone = subject.run(ids)[0];
    Mask mask;
    mask.keys = keys;
    const Tensor padded = subject.run(both, from_padding(keys), mask);
    CHECK(close(padded[0].slice(0, 5), alone, kModel));
    CHECK(close(padded[1].slice(0, 0, 12), alone, kModel));
  });
}

TEST_CASE("conformance: cached decoding of a left-padded row equals the row alone", "[conformance]") {
  const Tensor ids = mixed_ids(12),
               both = at::cat({at::cat({at::ones({1, 5}, at::kLong), ids}, 1), mixed_ids(17, 20)}, 0);
  Tensor keys = at::ones({2, 17}, at::kBool);
  keys[0].slice(0, 0, 5).fill_(false);
  for_every_pair([&](Subject& subject, const std::string&) {
    const Tensor alone = subject.run(ids)[0], other = subject.run(both.slice(0, 1))[0];
    for (const std::string& cache : decoding_caches()) {
      const Tensor stepped = in_chunks(subject, cache, both, from_padding(keys).index, keys, {9, 10, 11, 17});
      CHECK(close(stepped[0].slice(0, 5), alone, kModel));
      CHECK(close(stepped[1], other, kModel));
    }
  });
}

TEST_CASE("conformance: packed documents equal the documents alone", "[conformance]") {
  const Tensor first = mixed_ids(9), second = mixed_ids(14, 30), packed = at::cat({first, second}, 1);
  const Tensor segments = at::cat({at::ones({1, 9}, at::kLong), at::ones({1, 14}, at::kLong) * 2}, 1);
  for_every_pair([&](Subject& subject, const std::string&) {
    Mask mask;
    mask.q_segment = mask.k_segment = segments;
    const Tensor together = subject.run(packed, from_segments(segments), mask)[0];
    const Tensor first_alone = subject.run(first)[0], second_alone = subject.run(second)[0];
    CHECK(close(together.slice(0, 0, 9), first_alone, kModel));
    CHECK(close(together.slice(0, 9), second_alone, kModel));
  });
}

TEST_CASE("conformance: a later token changes nothing earlier", "[conformance]") {
  const Tensor ids = mixed_ids(24);
  Tensor changed = ids.clone();
  changed.slice(1, 15).copy_((ids.slice(1, 15) + 1).remainder(kVocab));
  for_every_pair([&](Subject& subject, const std::string&) {
    const Tensor before = subject.run(ids), after = subject.run(changed);
    CHECK(close(after.slice(1, 0, 15), before.slice(1, 0, 15), Tolerance::fp32));
    CHECK_FALSE(close(after.slice(1, 15), before.slice(1, 15), Tolerance::fp32));
  });
}

TEST_CASE("conformance: relative encodings do not see a common shift, absolute ones do", "[conformance]") {
  const Tensor ids = mixed_ids(20);
  for_every_pair([&](Subject& subject, const std::string&) {
    const Tensor here = subject.run(ids), there = subject.run(ids, consecutive(11, 20, at::kCPU));
    if (subject.traits().relative)
      CHECK(close(there, here, kModel));
    else
      CHECK_FALSE(close(there, here, kModel));
  });
}

TEST_CASE("conformance: bf16 autocast stays near fp32", "[conformance]") {
  const Tensor ids = mixed_ids(30);
  for_every_pair([&](Subject& subject, const std::string&) {
    const Tensor exact = subject.run(ids);
    const AutocastScope half(at::kCPU, {.enabled = true, .dtype = at::kBFloat16});
    const Tensor rounded = subject.run(ids).to(at::kFloat);
    CHECK((rounded - exact).norm().item<double>() < 0.03 * exact.norm().item<double>());
  });
}

TEST_CASE("conformance: in fp64 gradients are those of finite differences", "[conformance]") {
  const Tensor ids = mixed_ids(9), weight = noise({1, 9, 32}, 4, at::kDouble);
  for (const std::string& encoding : catalogue()) {
    const auto model = built(conforming_decoder(encoding, "auto"));
    model->to(at::kDouble);
    const auto loss = [&] { return (model->forward({.ids = ids, .at = consecutive(0, 9, at::kCPU)}) * weight).sum(); };
    loss().backward();
    const at::NoGradGuard plain;
    uint64_t key = 20;
    for (const auto& p : model->named_parameters()) {
      INFO(encoding << ", " << p.key());
      constexpr double kStep = 1e-5;
      const Tensor direction = noise(p.value().sizes(), ++key, at::kDouble);
      const double along = (p.value().grad() * direction).sum().item<double>();
      p.value().add_(direction, kStep);
      const double above = loss().item<double>();
      p.value().add_(direction, -2.0 * kStep);
      const double below = loss().item<double>();
      p.value().add_(direction, kStep);
      CHECK((above - below) / (2.0 * kStep) == Approx(along).epsilon(1e-5).margin(1e-5));
    }
  }
}

TEST_CASE("conformance: a model is its config and its named parameters, nothing besides", "[conformance]") {
  const at::NoGradGuard plain;
  const Tensor ids = mixed_ids(9);
  const auto out = [&](Decoder& model) { return model.forward({.ids = ids, .at = consecutive(0, 9, at::kCPU)}); };
  for (const std::string& encoding : catalogue()) {
    INFO(encoding);
    const auto saved = built(conforming_decoder(encoding, "auto")),
               loaded = built(conforming_decoder(encoding, "auto"), /*seed=*/4);
    CHECK_FALSE(close(out(*loaded), out(*saved), kModel));
    const auto into = loaded->named_parameters();
    for (const auto& p : saved->named_parameters()) into[p.key()].copy_(p.value());
    CHECK(same_bytes(out(*loaded), out(*saved)));
  }
}

TEST_CASE("conformance: a config that is written and read again builds the same model", "[conformance]") {
  const at::NoGradGuard plain;
  const Tensor ids = mixed_ids(9);
  const auto out = [&](const Decoder::Config& c) {
    return built(c)->forward({.ids = ids, .at = consecutive(0, 9, at::kCPU)});
  };
  for (const std::string& encoding : catalogue()) {
    INFO(encoding);
    Decoder::Config written = conforming_decoder(encoding, "auto"), read;
    const std::string text = dump_yaml(walk_of(written));
    load_config_text(text, walk_of(read), {});
    CHECK(dump_yaml(walk_of(read)) == text);
    CHECK(same_bytes(out(read), out(written)));
  }
}

TEST_CASE("conformance: every encoding works past its max_length, or refuses in words", "[conformance]") {
  for_every_pair([&](Subject& subject, const std::string&) {
    if (!subject.traits().unbounded) {
      CHECK_THROWS_WITH(subject.run(mixed_ids(kMaxLength + 1)), Catch::Matchers::Contains(std::to_string(kMaxLength)));
      return;
    }
    const Tensor beyond = subject.run(mixed_ids(kMaxLength + 40));
    CHECK(beyond.isfinite().all().item<bool>());
  });
}

}  // namespace ordo::test
