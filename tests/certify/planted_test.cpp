// SPDX-License-Identifier: Apache-2.0
// Bugs that position encodings and their surroundings really had, planted in small models: the certificate names the
// property that each one breaks. Here: order, caches, and the company a token is in.
#include "certify/planted.h"

#include "support/catch.h"

#include <ATen/TensorOperators.h>

namespace ordo::test {
namespace {

Positions moved(const Positions& at, int64_t by) {
  return {.index = at.index + by, .start = at.start ? std::optional(*at.start + by) : std::nullopt};
}

}  // namespace

// ---- signs ----

TEST_CASE("certify finds keys that are turned against the sign of the distance", "[unit]") {
  struct Mirrored final : Wrapped {
    using Wrapped::Wrapped;
    Tensor key(const Tensor& k, const Positions& at, int64_t layer) override {
      return inner->key(k, {.index = -at.index}, layer);
    }
  };
  const auto failed = broken_by({.encoding = wrapping<Mirrored>("rope")});
  INFO(listed(failed));
  CHECK(names(failed, "shift_invariance"));
}

TEST_CASE("certify finds a bias whose form over offsets has the sign of the distance wrong", "[unit]") {
  struct Bias final : OffsetBias {
    explicit Bias(const AttentionPass& pass) : OffsetBias(pass, {}) {}
    Tensor at(const Tensor& offset) const override {
      return offset.to(at::kFloat).clamp(-8, 2).expand({-1, 4, -1, -1}) * 0.3;
    }
    std::optional<Tensor> by_offset() const override {
      const auto right = OffsetBias::by_offset();
      return right ? std::optional(-*right) : std::nullopt;
    }
  };
  struct Sloped final : Wrapped {
    using Wrapped::Wrapped;
    std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override { return std::make_shared<Bias>(pass); }
  };
  const auto failed = broken_by({.encoding = wrapping<Sloped>("alibi")});
  INFO(listed(failed));
  CHECK(names(failed, "kernels_agree"));
}

TEST_CASE("certify finds a bias whose form over keys has the sign of the distance wrong", "[unit]") {
  struct Bias final : ScoreBias {
    explicit Bias(std::shared_ptr<const ScoreBias> sound) : right(std::move(sound)) {}
    Tensor tile(const Tile& t, const Tensor& q, const Tensor& k) const override { return right->tile(t, q, k); }
    std::optional<Tensor> by_key() const override {
      const auto sound = right->by_key();
      return sound ? std::optional(-*sound) : std::nullopt;
    }
    std::shared_ptr<const ScoreBias> right;
  };
  struct Sloped final : Wrapped {
    using Wrapped::Wrapped;
    std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override {
      return std::make_shared<Bias>(inner->scores(pass));
    }
  };
  const auto failed = broken_by({.encoding = wrapping<Sloped>("alibi")});
  INFO(listed(failed));
  CHECK(names(failed, "kernels_agree"));
}

// ---- caches ----

TEST_CASE("certify finds positions that are off by one once the cache holds something", "[unit]") {
  const auto failed = broken_by({.encoding = kind("rope"), .tamper = [](ModelInput& in, const Cache* cache) {
                                   if (cache != nullptr && cache->size() > 0) in.at = moved(in.at, 1);
                                 }});
  INFO(listed(failed));
  CHECK(failed == std::vector<std::string>{"cache_equals_full"});
}

TEST_CASE("certify finds a bias that is dropped at single-token steps", "[unit]") {
  struct Forgetful final : Wrapped {
    using Wrapped::Wrapped;
    std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override {
      return pass.q.length() == 1 && pass.k.length() > 1 ? nullptr : inner->scores(pass);
    }
  };
  const auto failed = broken_by({.encoding = wrapping<Forgetful>("alibi")});
  INFO(listed(failed));
  CHECK(names(failed, "cache_equals_full"));
}

TEST_CASE("certify finds a causal mask that is aligned to the wrong corner", "[unit]") {
  const auto failed = broken_by(
      {.encoding = kind("rope"), .cache = [](std::shared_ptr<KVCache> inner, PositionEncoding&) {
         return std::make_shared<TamperedCache>(std::move(inner), [](KVCache::Held& held) { held.mask.offset = 0; });
       }});
  INFO(listed(failed));
  CHECK(failed == std::vector<std::string>{"cache_equals_full"});
}

TEST_CASE("certify finds keys that are turned into the cache and turned again when read", "[unit]") {
  const auto failed =
      broken_by({.encoding = kind("rope"), .cache = [](std::shared_ptr<KVCache> inner, PositionEncoding& position) {
                   return std::make_shared<TamperedCache>(std::move(inner), [&position](KVCache::Held& held) {
                     held.k = position.key(held.k, held.at, 0);
                   });
                 }});
  INFO(listed(failed));
  CHECK(failed == std::vector<std::string>{"cache_equals_full"});
}

TEST_CASE("certify finds keys that are turned twice at every call", "[unit]") {
  struct Twice final : Wrapped {
    using Wrapped::Wrapped;
    Tensor key(const Tensor& k, const Positions& at, int64_t layer) override {
      return inner->key(inner->key(k, at, layer), at, layer);
    }
  };
  const auto failed = broken_by({.encoding = wrapping<Twice>("rope")});
  INFO(listed(failed));
  CHECK(names(failed, "shift_invariance"));
}

// ---- padding, packing, batches ----

TEST_CASE("certify finds one position vector that left-padded rows share", "[unit]") {
  const auto failed = broken_by({.encoding = kind("sinusoidal"), .tamper = [](ModelInput& in, const Cache* cache) {
                                   if (in.mask.keys.defined())
                                     in.at =
                                         consecutive(cache != nullptr ? cache->size() : 0, in.ids.size(1), at::kCPU);
                                 }});
  INFO(listed(failed));
  CHECK(names(failed, "padding_invariance"));
}

TEST_CASE("certify finds positions that run on through packed documents", "[unit]") {
  const auto failed = broken_by({.encoding = kind("learned"), .tamper = [](ModelInput& in, const Cache*) {
                                   if (in.mask.q_segment.defined()) in.at = consecutive(0, in.ids.size(1), at::kCPU);
                                 }});
  INFO(listed(failed));
  CHECK(failed == std::vector<std::string>{"packing_equals_separate"});
}

TEST_CASE("certify finds packed documents that see each other", "[unit]") {
  const auto failed = broken_by({.encoding = kind("rope"), .tamper = [](ModelInput& in, const Cache*) {
                                   in.mask.q_segment = in.mask.k_segment = Tensor();
                                 }});
  INFO(listed(failed));
  CHECK(failed == std::vector<std::string>{"packing_equals_separate"});
}

TEST_CASE("certify finds a softmax that runs over padding", "[unit]") {
  const auto failed =
      broken_by({.encoding = kind("rope"), .tamper = [](ModelInput& in, const Cache*) { in.mask.keys = Tensor(); }});
  INFO(listed(failed));
  CHECK(names(failed, "padding_invariance"));
  CHECK(names(failed, "rows_sum_to_one"));
  CHECK(names(failed, "masked_rows_are_zero"));
}

TEST_CASE("certify finds rows that change with their company", "[unit]") {
  struct Mingling final : Wrapped {
    using Wrapped::Wrapped;
    Tensor input(const Tensor& x, const Positions& at) override {
      return inner->input(x, at) + 0.1 * x.mean(0, /*keepdim=*/true);
    }
  };
  const auto failed = broken_by({.encoding = wrapping<Mingling>("sinusoidal")});
  INFO(listed(failed));
  CHECK(names(failed, "batch_invariance"));
}

// ---- what order is ----

TEST_CASE("certify finds a bias that is never added", "[unit]") {
  struct Idle final : Wrapped {
    using Wrapped::Wrapped;
    std::shared_ptr<const ScoreBias> scores(const AttentionPass&) override { return nullptr; }
  };
  const auto causal = broken_by({.encoding = wrapping<Idle>("alibi")});
  const auto two_sided = broken_by({.encoding = wrapping<Idle>("alibi"), .two_sided = true});
  INFO(listed(causal) << "; two-sided " << listed(two_sided));
  CHECK(causal == std::vector<std::string>{"order_sensitivity"});
  CHECK(two_sided == std::vector<std::string>{"permutation_equivariance", "order_sensitivity"});
}

TEST_CASE("certify finds a model that looks ahead", "[unit]") {
  const auto failed = broken_by({.encoding = kind("rope"), .secretly_two_sided = true});
  INFO(listed(failed));
  CHECK(names(failed, "causality"));
}

}  // namespace ordo::test
