// SPDX-License-Identifier: Apache-2.0
#include "support/conformance.h"

#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>

#include <algorithm>
#include <set>
#include <utility>

#include "support/position_text.h"
#include "support/positions.h"
#include "support/small_encodings.h"

namespace ordo::test {

namespace {

constexpr int64_t kDim = 32, kHeads = 4;

bool of_the_tests(const std::string& encoding) {
  const auto& kinds = small_encodings().kinds();
  return std::any_of(kinds.begin(), kinds.end(), [&](const KindInfo& k) { return k.kind == encoding; });
}

AttentionConfig conforming_attention(const ConformingCase& c) {
  return {.heads = kHeads, .kv_heads = c.kv_heads, .head_dim = 8, .kernel = Choice<AttentionKernel>(c.kernel)};
}

PositionFacts conforming_facts(const ConformingCase& c) {
  return {.dim = kDim,
          .heads = kHeads,
          .kv_heads = c.kv_heads,
          .head_dim = 8,
          .layers = kConformingLayers,
          .max_length = kConformingLength,
          .causal = c.causal};
}

std::vector<ConformingCase> cases_of(Scope scope, const std::string& encoding, bool causal) {
  std::vector<ConformingCase> cases;
  const bool whole = scope == Scope::whole;
  for (const auto& kernel : kernels().kinds())
    for (const int64_t kv_heads : whole ? std::vector<int64_t>{1, 2, 4} : std::vector<int64_t>{causal ? 2 : 4})
      if (whole || causal || kernel.kind == "auto")
        cases.push_back({encoding, std::string(kernel.kind), causal, kv_heads});
  return cases;
}

}  // namespace

std::string ConformingCase::text() const {
  return fmt::format("{} under {}, {}, {} heads over {}", encoding, kernel, causal ? "causal" : "two-sided", kHeads,
                     kv_heads);
}

Decoder::Config conforming_config(const ConformingCase& c) {
  Decoder::Config config;
  config.dim = kDim;
  config.layers = kConformingLayers;
  config.max_length = kConformingLength;
  config.attention = conforming_attention(c);
  config.init.std = 0.3;
  config.position = choices_of(c.encoding);
  return config;
}

std::shared_ptr<Model> conforming_model(const ConformingCase& c, uint64_t seed) {
  const ModelFacts facts{.vocab_size = kConformingVocabulary, .seed = seed};
  const Decoder::Config config = conforming_config(c);
  if (c.causal) return std::make_shared<Decoder>(config, facts);
  return std::make_shared<Encoder>(Encoder::Config{static_cast<const StackConfig&>(config)}, facts);
}

bool serves_side(const std::string& encoding, bool causal) {
  const PositionFacts facts = conforming_facts({.encoding = encoding, .causal = causal});
  try {
    of_the_tests(encoding) ? any_encoding(encoding, facts) : make_position(choices_of(encoding), facts);
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

Subject::Subject(const ConformingCase& c) : case_(c) {
  if (!of_the_tests(c.encoding)) {
    model_ = register_module("model", conforming_model(c));
    return;
  }
  own_ = register_module("position", any_encoding(c.encoding, conforming_facts(c)));
  for (int64_t i = 0; i < kConformingLayers; ++i) {
    const AttentionLayer layer{.config = conforming_attention(c), .dim = kDim, .layer = i};
    layers_.push_back(
        register_module("layer" + std::to_string(i),
                        std::make_shared<MultiHeadAttention>(layer, kernels().build(c.kernel, {}), own_.get())));
    initialise(*layers_.back(), static_cast<uint64_t>(5 + i), {.std = 0.3}, kConformingLayers);
  }
}

Tensor Subject::run(const Tensor& ids, const Positions& at, const Mask& mask, KVCache* cache) {
  if (model_) return model_->forward({.ids = ids, .at = at, .mask = mask}, cache);
  Mask own = mask;
  own.causal = case_.causal;
  if (cache != nullptr) cache->advance(at, own);
  Tensor x = at::embedding(noise({kConformingVocabulary, kDim}, 8), ids);
  for (const auto& layer : layers_) x = x + layer->forward(x, {.at = at, .mask = own, .cache = cache}).out;
  return x;
}

std::vector<std::string> catalogue_encodings(Scope scope) {
  std::vector<std::string> all;
  for (const auto& k : positions().kinds()) all.emplace_back(k.kind);
  all.emplace_back("[rope, alibi]");
  if (scope == Scope::whole) all.insert(all.end(), encoding_variants().begin(), encoding_variants().end());
  return all;
}

void for_every_case(Scope scope, const std::function<void(Subject&)>& check, const Walked& how) {
  const at::AutoGradMode mode(how.gradients);
  auto encodings = how.encodings;
  if (encodings.empty()) {
    encodings = catalogue_encodings(scope);
    for (const auto& k : small_encodings().kinds()) encodings.emplace_back(k.kind);
  }
  for (const std::string& encoding : encodings) {
    REQUIRE((serves_side(encoding, true) || serves_side(encoding, false)));
    for (const bool causal : how.causal_only ? std::vector<bool>{true} : std::vector<bool>{true, false}) {
      if (!serves_side(encoding, causal)) continue;
      std::set<std::pair<int64_t, std::string>> taken;
      const auto cases = cases_of(scope, encoding, causal);
      for (const ConformingCase& c : cases) {
        INFO(c.text());
        try {
          Subject subject(c);
          if (!how.gradients) subject.eval();
          check(subject);
          taken.emplace(c.kv_heads, c.kernel);
        } catch (const KernelRefusal&) {
          continue;
        }
      }
      for (const ConformingCase& c : cases) {
        INFO(c.text());
        if (c.kernel == "auto" || c.kernel == "eager" || c.kernel == "tiled")
          CHECK(taken.count({c.kv_heads, c.kernel}) == 1);
      }
    }
  }
}

Tensor mixed_ids(int64_t length, int64_t from) {
  const Tensor n = at::arange(from, from + length);
  return ((n * 7 + 3) * (n + 1)).remainder(kConformingVocabulary).unsqueeze(0);
}

}  // namespace ordo::test
