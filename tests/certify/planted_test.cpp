// SPDX-License-Identifier: Apache-2.0
// Bugs that position encodings and their surroundings really had, planted in small models: the certificate names the
// property that each one breaks.
#include "certify/planted.h"

#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "ordo/attention/caches.h"
#include "ordo/positions/rotate.h"
#include "support/positions.h"
#include "support/small_encodings.h"

namespace ordo::test {
namespace {

class PlantedModel final : public Model {
 public:
  PlantedModel(const StackConfig& config, const Plant& plant, const Variant& variant) : config_(config), plant_(plant) {
    const bool causal = !plant.two_sided && !plant.secretly_two_sided;
    const PositionFacts facts = position_facts(config, causal);
    auto position = variant.bare || !plant.encoding ? make_position({}, facts) : plant.encoding(facts, variant.seed);
    embedding_ = register_module("embedding", std::make_shared<Embedding>(13, config.dim));
    stack_ = register_module("stack", std::make_shared<Stack>(config, causal, std::move(position)));
    head_ = register_module("head", std::make_shared<Head>(embedding_->weight, std::nullopt));
    initialise(*this, variant.seed, config.init, config.layers);
  }
  Tensor forward(const ModelInput& given, KVCache* cache) override {
    ModelInput in = given;
    if (plant_.tamper) plant_.tamper(in, cache);
    if (const auto refused = position().refuses_length(in.at.index.max().item<int64_t>() + 1))
      throw ConfigError(*refused);
    return stack_->forward(embedding_->forward(in.ids),
                           {.at = in.at, .mask = in.mask, .draw = in.draw, .cache = cache, .probe = in.probe});
  }
  Head& head() override { return *head_; }
  std::shared_ptr<KVCache> make_cache() const override {
    std::shared_ptr<KVCache> cache = caches().build("full", {config_.layers});
    return plant_.cache ? plant_.cache(cache, stack_->position()) : cache;
  }
  int64_t max_length() const override { return config_.max_length; }
  bool causal() const override { return !plant_.two_sided; }
  PositionEncoding& position() override { return stack_->position(); }
  ModelCost cost(int64_t) const override { return {}; }
  void recompute(const std::vector<bool>& blocks) override { stack_->recompute(blocks); }
  int64_t layers() const override { return config_.layers; }
  int64_t dim() const override { return config_.dim; }

 private:
  StackConfig config_;
  Plant plant_;
  std::shared_ptr<Embedding> embedding_;
  std::shared_ptr<Stack> stack_;
  std::shared_ptr<Head> head_;
};

// The properties that a certificate of the planted model finds broken.
std::vector<std::string> broken_by(Plant plant) { return certify(PlantedSubject(std::move(plant)), at::kCPU).failed(); }
bool names(const std::vector<std::string>& failed, const std::string& property) {
  return std::find(failed.begin(), failed.end(), property) != failed.end();
}
std::string listed(const std::vector<std::string>& failed) {
  std::string all = "broken:";
  for (const auto& name : failed) all += " " + name;
  return all;
}

auto kind(const std::string& name) {
  return [name](const PositionFacts& facts, uint64_t) {
    return name == "none" ? make_position({}, facts) : any_encoding(name, facts);
  };
}

// An encoding that is another one, but for what is overridden.
class Wrapped : public PositionEncoding {
 public:
  Wrapped(const std::string& name, const PositionFacts& facts) {
    inner = register_module("inner", any_encoding(name, facts));
  }
  PositionTraits traits() const override { return inner->traits(); }
  Tensor input(const Tensor& x, const Positions& at) override { return inner->input(x, at); }
  Tensor query(const Tensor& q, const Positions& at, int64_t layer) override { return inner->query(q, at, layer); }
  Tensor key(const Tensor& k, const Positions& at, int64_t layer) override { return inner->key(k, at, layer); }
  std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override { return inner->scores(pass); }
  PlantedEncoding inner;
};
template <class T>
auto wrapping(const std::string& name) {
  return [name](const PositionFacts& facts, uint64_t) -> PlantedEncoding { return std::make_shared<T>(name, facts); };
}

Positions moved(const Positions& at, int64_t by) {
  return {.index = at.index + by, .start = at.start ? std::optional(*at.start + by) : std::nullopt};
}

}  // namespace

std::shared_ptr<Model> PlantedSubject::build(const Variant& variant) const {
  StackConfig c;
  c.dim = 32, c.layers = 2, c.max_length = 64, c.init.std = 0.2;
  c.attention = {.heads = 4, .kv_heads = 2, .head_dim = 8};
  c.attention.dropout = c.dropout = variant.dropout;
  if (!variant.kernel.empty()) c.attention.kernel = Choice<AttentionKernel>(variant.kernel);
  return std::make_shared<PlantedModel>(c, plant_, variant);
}

TEST_CASE("certify: sound models hold, two-sided and causal, with every small encoding", "[unit]") {
  for (const std::string name :
       {"none", "rope", "alibi", "learned", "sinusoidal", "offset_table", "content_table", "key_gate"})
    for (const bool two_sided : {false, true}) {
      if (two_sided && name == "key_gate") continue;  // of what stands before alone
      const auto failed = broken_by({.encoding = kind(name), .two_sided = two_sided});
      INFO(name << (two_sided ? ", two-sided, " : ", causal, ") << listed(failed));
      CHECK(failed.empty());
    }
}

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
  const auto failed = broken_by({.encoding = kind("rope"), .tamper = [](ModelInput& in, const KVCache* cache) {
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
  const auto failed = broken_by({.encoding = kind("sinusoidal"), .tamper = [](ModelInput& in, const KVCache* cache) {
                                   if (in.mask.keys.defined())
                                     in.at =
                                         consecutive(cache != nullptr ? cache->size() : 0, in.ids.size(1), at::kCPU);
                                 }});
  INFO(listed(failed));
  CHECK(names(failed, "padding_invariance"));
}

TEST_CASE("certify finds positions that run on through packed documents", "[unit]") {
  const auto failed = broken_by({.encoding = kind("learned"), .tamper = [](ModelInput& in, const KVCache*) {
                                   if (in.mask.q_segment.defined()) in.at = consecutive(0, in.ids.size(1), at::kCPU);
                                 }});
  INFO(listed(failed));
  CHECK(failed == std::vector<std::string>{"packing_equals_separate"});
}

TEST_CASE("certify finds packed documents that see each other", "[unit]") {
  const auto failed = broken_by({.encoding = kind("rope"), .tamper = [](ModelInput& in, const KVCache*) {
                                   in.mask.q_segment = in.mask.k_segment = Tensor();
                                 }});
  INFO(listed(failed));
  CHECK(failed == std::vector<std::string>{"packing_equals_separate"});
}

TEST_CASE("certify finds a softmax that runs over padding", "[unit]") {
  const auto failed =
      broken_by({.encoding = kind("rope"), .tamper = [](ModelInput& in, const KVCache*) { in.mask.keys = Tensor(); }});
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

// ---- numbers ----

TEST_CASE("certify finds angles in half precision", "[unit]") {
  class HalfAngles final : public PositionEncoding {
   public:
    PositionTraits traits() const override { return {.places = {.query_key = true}}; }
    Tensor frequencies(int64_t) const override { return at::pow(10000.0, at::arange(4, at::kDouble) * -0.25); }
    Tensor query(const Tensor& q, const Positions& at, int64_t) override {
      const Tensor angles = at.index.to(at::kBFloat16).unsqueeze(-1) * frequencies(1).to(at::kBFloat16);
      const auto type = accumulate_type(q.scalar_type());
      return rotate(q, at::cat({angles.to(type).cos(), angles.to(type).sin()}, -1), RotaryLayout::half);
    }
    Tensor key(const Tensor& k, const Positions& at, int64_t layer) override { return query(k, at, layer); }
  };
  const auto failed =
      broken_by({.encoding = [](const PositionFacts&, uint64_t) { return std::make_shared<HalfAngles>(); }});
  INFO(listed(failed));
  CHECK(failed == std::vector<std::string>{"low_precision_error"});
}

TEST_CASE("certify finds a table that stays as a longer call left it", "[unit]") {
  struct Stale final : Wrapped {  // waves stretched to the longest call so far
    using Wrapped::Wrapped;
    Tensor input(const Tensor& x, const Positions& at) override {
      longest = std::max(longest, at.index.max().item<int64_t>() + 1);
      return inner->input(
          x, {.coords = at.index.to(at::kDouble).unsqueeze(-1) * (64.0 / std::max<double>(64.0, longest))});
    }
    int64_t longest = 0;
  };
  const auto failed = broken_by({.encoding = wrapping<Stale>("sinusoidal")});
  INFO(listed(failed));
  CHECK(names(failed, "finite_beyond_length"));
}

TEST_CASE("certify finds an end that is claimed but not kept", "[unit]") {
  struct Endless final : Wrapped {
    using Wrapped::Wrapped;
    PositionTraits traits() const override { return {.places = {.input = true}, .unbounded = false}; }
  };
  const auto failed = broken_by({.encoding = wrapping<Endless>("sinusoidal")});
  INFO(listed(failed));
  CHECK(failed == std::vector<std::string>{"finite_beyond_length"});
}

// ---- training ----

TEST_CASE("certify finds a learned bias that no gradient reaches", "[unit]") {
  struct Detached final : Wrapped {
    using Wrapped::Wrapped;
    std::shared_ptr<const ScoreBias> scores(const AttentionPass& pass) override {
      const at::NoGradGuard none;
      const auto bias = inner->scores(pass);
      struct Frozen final : ScoreBias {
        explicit Frozen(std::shared_ptr<const ScoreBias> b) : live(std::move(b)) {}
        Tensor tile(const Tile& t, const Tensor& q, const Tensor& k) const override {
          return live->tile(t, q, k).detach();
        }
        std::shared_ptr<const ScoreBias> live;
      };
      return std::make_shared<Frozen>(bias);
    }
  };
  const auto failed = broken_by({.encoding = wrapping<Detached>("offset_table")});
  INFO(listed(failed));
  CHECK(failed == std::vector<std::string>{"gradients"});
}

TEST_CASE("certify finds draws that a replayed block makes anew", "[unit]") {
  struct Restless final : Wrapped {
    using Wrapped::Wrapped;
    Tensor query(const Tensor& q, const Positions& at, int64_t layer) override {
      return is_training() ? inner->query(q, at, layer) * (1.0 + 0.1 * static_cast<double>(++calls % 7))
                           : inner->query(q, at, layer);
    }
    int64_t calls = 0;
  };
  const auto failed = broken_by({.encoding = wrapping<Restless>("rope")});
  INFO(listed(failed));
  CHECK(names(failed, "recompute_equals_plain"));
}

TEST_CASE("certify finds numbers that a checkpoint does not hold", "[unit]") {
  class Unsaved final : public PositionEncoding {
   public:
    explicit Unsaved(uint64_t seed) : rows_(noise({64 + 64, 32}, seed)) {}
    PositionTraits traits() const override { return {.places = {.input = true}}; }
    Tensor input(const Tensor& x, const Positions& at) override {
      return x + rows_.to(x.scalar_type()).index_select(0, at.index.flatten()).view({at.index.size(0), -1, 32});
    }

   private:
    Tensor rows_;
  };
  const auto failed =
      broken_by({.encoding = [](const PositionFacts&, uint64_t seed) { return std::make_shared<Unsaved>(seed); }});
  INFO(listed(failed));
  CHECK(failed == std::vector<std::string>{"save_load_round_trip"});
}

}  // namespace ordo::test
