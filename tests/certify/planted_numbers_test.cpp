// SPDX-License-Identifier: Apache-2.0
// Planted bugs of numbers, lengths, gradients and files: the certificate names the property that each one breaks.
#include "certify/planted.h"

#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/pow.h>

#include <c10/util/Exception.h>
#include <algorithm>

#include "ordo/positions/rotate.h"
#include "support/positions.h"

namespace ordo::test {

// ---- numbers ----

TEST_CASE("certify finds angles in half precision, also where coordinates are turned exactly", "[unit]") {
  class HalfAngles final : public PositionEncoding {
   public:
    explicit HalfAngles(int64_t axes) : axes_(axes) {}
    PositionTraits traits() const override { return {.places = {.query_key = true}, .takes_axes = axes_}; }
    Tensor frequencies(int64_t) const override { return at::pow(10000.0, at::arange(4, at::kDouble) * -0.25); }
    Tensor query(const Tensor& q, const Positions& at, int64_t) override {
      const auto type = accumulate_type(q.scalar_type());
      const Tensor angles = at.coords.defined()
                                ? at.coords.select(-1, 0).to(at::kDouble).unsqueeze(-1) * frequencies(1)
                                : at.index.to(at::kBFloat16).unsqueeze(-1) * frequencies(1).to(at::kBFloat16);
      return rotate(q, at::cat({angles.to(type).cos(), angles.to(type).sin()}, -1), RotaryLayout::half);
    }
    Tensor key(const Tensor& k, const Positions& at, int64_t layer) override { return query(k, at, layer); }

   private:
    int64_t axes_;
  };
  const auto axes = GENERATE(int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3});
  const auto failed =
      broken_by({.encoding = [axes](const PositionFacts&, uint64_t) { return std::make_shared<HalfAngles>(axes); }});
  INFO(axes << " axes; " << listed(failed));
  CHECK(failed == std::vector<std::string>{"low_precision_error"});
}

TEST_CASE("certify finds an encoding that stops in half precision where the bare model runs", "[unit]") {
  struct Choosy final : Wrapped {
    using Wrapped::Wrapped;
    Tensor query(const Tensor& q, const Positions& at, int64_t layer) override {
      TORCH_CHECK(q.scalar_type() != at::kBFloat16, "not implemented for 'BFloat16'");
      return inner->query(q, at, layer);
    }
  };
  const auto failed = broken_by({.encoding = wrapping<Choosy>("rope")});
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
