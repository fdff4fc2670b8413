// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include <cmath>
#include <numbers>
#include <thread>

#include "ordo/positions/rope.h"
#include "positions/rotary.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

// Heads of eight channels under theta 10000: pairs of 1, 0.1, 0.01 and 0.001 radians a position.
std::shared_ptr<PositionEncoding> scaled(const std::string& scaling, const PositionFacts& facts = heads_of(8)) {
  return position_of("{kind: rope, scaling: " + scaling + "}", facts);
}

Tensor radians(std::initializer_list<double> values) { return at::tensor(values, at::kDouble); }

constexpr Tolerance kByHand{1e-12, 1e-9};

const std::string kDynamic = "{kind: dynamic, factor: 2, original_max_position_embeddings: 8}";
const std::string kLongRope =
    "{kind: longrope, short_factor: [1, 1, 2, 2], long_factor: [1, 2, 4, 8], factor: 4, "
    "original_max_position_embeddings: 8}";

}  // namespace

TEST_CASE("rope scaling: linear divides every frequency", "[unit]") {
  CHECK(close(scaled("{kind: linear, factor: 4}")->frequencies(1), radians({0.25, 0.025, 0.0025, 0.00025}), kByHand));
}

TEST_CASE("rope scaling: linear by 1 is no scaling, to the bit", "[unit]") {
  const Tensor q = noise({2, 2, 40, 8}, 1);
  const Positions at = consecutive(70, 40, at::kCPU);
  const auto one = scaled("{kind: linear, factor: 1}");
  CHECK(same_bytes(one->query(q, at, 0), scaled("none")->query(q, at, 0)));
  CHECK_FALSE(same_bytes(scaled("{kind: linear, factor: 1.01}")->query(q, at, 0), one->query(q, at, 0)));
}

TEST_CASE("rope scaling: ntk slows the slowest pair by the factor and leaves the fastest", "[unit]") {
  // theta' = 10000 * 8^(8/6) = 160000, a fourth root of 20
  CHECK(close(scaled("{kind: ntk, factor: 8}")->frequencies(1), radians({1.0, 0.05, 0.0025, 0.000125}), kByHand));
}

TEST_CASE("rope scaling: dynamic is none up to the original length and ntk by the length past it", "[unit]") {
  const auto encoding = scaled(kDynamic);
  for (const int64_t length : {1, 7, 8})
    CHECK(close(encoding->frequencies(length), radians({1.0, 0.1, 0.01, 0.001}), kByHand));
  // 36 tokens: 2 * 36 / 8 - 1 = 8, the factor of ntk above
  CHECK(close(encoding->frequencies(36), radians({1.0, 0.05, 0.0025, 0.000125}), kByHand));
}

TEST_CASE("rope scaling: yarn slows by the share of the ramp between its two pairs", "[unit]") {
  // With theta 10000 and 8 channels the pair that turns b times in L tokens is log10(L / (2 pi b)): for L = 6283 pair
  // 1 - 6e-6 turns 100 times, pair 3 - 6e-6 turns once.
  const std::string given =
      "{kind: yarn, factor: 4, original_max_position_embeddings: 6283, beta_fast: 100, beta_slow: 1";
  // whole pairs: the ramp goes from 0 to 3
  CHECK(close(scaled(given + "}")->frequencies(1), radians({1.0, 0.1 * 0.75, 0.01 * 0.5, 0.001 * 0.25}), kByHand));
  // as it is: from 1 to 3
  CHECK(close(scaled(given + ", truncate: false}")->frequencies(1),
              radians({1.0, 0.1, 0.01 * (0.5 * 1.0 + 0.5 * 0.25), 0.001 * 0.25}), Tolerance{0.0, 1e-5}));
}

TEST_CASE("rope scaling: a yarn ramp of no width is a step", "[unit]") {
  // L = 6284: pair 2 + 7e-5 turns 10 times
  const auto encoding = scaled(
      "{kind: yarn, factor: 4, original_max_position_embeddings: 6284, beta_fast: 10, beta_slow: 10, truncate: false}");
  CHECK(close(encoding->frequencies(1), radians({1.0, 0.1, 0.01, 0.001 / 4}), kByHand));
}

TEST_CASE("rope scaling: a yarn ramp ends within the pairs that are there", "[unit]") {
  // 10^9 tokens: even the slowest pair turns 10^9 * 0.001 / 2 pi > 32 times: nothing is slowed
  CHECK(close(scaled("{kind: yarn, factor: 4, original_max_position_embeddings: 1000000000}")->frequencies(1),
              radians({1.0, 0.1, 0.01, 0.001}), kByHand));
  // 4 tokens: no pair turns once; the first stays as the formula has it
  CHECK(close(scaled("{kind: yarn, factor: 4, original_max_position_embeddings: 4}")->frequencies(1),
              radians({1.0, 0.025, 0.0025, 0.00025}), kByHand));
}

TEST_CASE("rope scaling: yarn multiplies queries and keys by its attention factor, once each", "[unit]") {
  const std::string given = "{kind: yarn, factor: 4, original_max_position_embeddings: 64";
  const auto factor_of = [&](const std::string& more) {
    const auto encoding = scaled(given + more + "}");
    const Tensor one = at::ones({1, 1, 1, 8}, at::kDouble);
    const Positions at = consecutive(0, 1, at::kCPU);  // angle 0
    CHECK(same_bytes(encoding->query(one, at, 0), encoding->key(one, at, 0)));
    return encoding->query(one, at, 0)[0][0][0][5].item<double>();
  };
  CHECK(factor_of("") == Approx(1.1386294361119891).epsilon(1e-12));  // 0.1 ln 4 + 1
  CHECK(factor_of(", attention_factor: 1.5") == Approx(1.5).epsilon(1e-12));
  CHECK(factor_of(", mscale: 2, mscale_all_dim: 1") == Approx(1.2772588722239782 / 1.1386294361119891).epsilon(1e-12));
  CHECK(factor_of(", mscale: 0.7, mscale_all_dim: 0.7") == Approx(1.0).epsilon(1e-12));
  CHECK(scaled("{kind: yarn, factor: 1, original_max_position_embeddings: 64}")
            ->query(at::ones({1, 1, 1, 8}), consecutive(0, 1, at::kCPU), 0)
            .eq(1.0)
            .all()
            .item<bool>());
}

TEST_CASE("rope scaling: channels that do not turn are not scaled by the attention factor", "[unit]") {
  const auto encoding =
      position_of("{kind: rope, rotary_dim: 4, scaling: {kind: yarn, factor: 4, original_max_position_embeddings: 64}}",
                  heads_of(8));
  const Tensor q = noise({1, 1, 3, 8}, 2), got = encoding->query(q, consecutive(5, 3, at::kCPU), 0);
  CHECK(same_bytes(got.slice(3, 4), q.slice(3, 4)));
}

TEST_CASE("rope scaling: gradients pass the attention factor", "[unit]") {
  const auto encoding = scaled("{kind: yarn, factor: 4, original_max_position_embeddings: 64}");
  const Tensor q = noise({1, 2, 3, 8}, 3, at::kDouble).requires_grad_(), weight = noise({1, 2, 3, 8}, 4, at::kDouble);
  const Positions at = consecutive(9, 3, at::kCPU);
  (encoding->query(q, at, 0) * weight).sum().backward();
  const Tensor along = noise({1, 2, 3, 8}, 5, at::kDouble);  // the turn is linear: <J x, w> = <x, J^T w>
  const double forwards = (encoding->query(along, at, 0) * weight).sum().item<double>();
  CHECK((along * q.grad()).sum().item<double>() == Approx(forwards).epsilon(1e-12));
}

TEST_CASE("rope scaling: llama3 keeps fast pairs, slows slow ones, mixes between its two thresholds", "[unit]") {
  const auto at_length = [](int64_t original) {
    return scaled(fmt::format("{{kind: llama3, factor: 8, original_max_position_embeddings: {}}}", original))
        ->frequencies(1);
  };
  // 1571 tokens: the pairs turn 250.03, 25, 2.5003 and 0.25 times; 1 and 4 turns are the thresholds
  const double share = (1571.0 * 0.01 / (2.0 * std::numbers::pi) - 1.0) / 3.0;
  CHECK(share == Approx(0.5).epsilon(1e-3));
  CHECK(close(at_length(1571), radians({1.0, 0.1, 0.01 * ((1.0 - share) / 8.0 + share), 0.001 / 8.0}), kByHand));
  // 628 tokens: the third pair turns 0.9995 times, just less than once; 629: 1.001 times
  CHECK(close(at_length(628), radians({1.0, 0.1, 0.01 / 8.0, 0.001 / 8.0}), kByHand));
  CHECK(at_length(629)[2].item<double>() > 0.01 / 8.0);
  // 2513 tokens: 3.9996 times, 2514: 4.0012 times
  CHECK(at_length(2513)[2].item<double>() < 0.01);
  CHECK(at_length(2514)[2].item<double>() == Approx(0.01).epsilon(1e-12));
}

TEST_CASE("rope scaling: longrope takes the long factors from the first token past the original length", "[unit]") {
  const auto encoding = scaled(kLongRope);
  const Tensor near = radians({1.0, 0.1, 0.005, 0.0005}), far = radians({1.0, 0.05, 0.0025, 0.000125});
  CHECK(close(encoding->frequencies(1), near, kByHand));
  CHECK(close(encoding->frequencies(8), near, kByHand));
  CHECK(close(encoding->frequencies(9), far, kByHand));
  // and so do the turns of rows of that length: sqrt(1 + ln 4 / ln 8) = 1.2909944 is their size
  const auto last = [&](int64_t length) {
    return turn_of(*encoding, consecutive(0, length, at::kCPU), 8, at::kDouble)[0][length - 1].slice(0, 0, 4);
  };
  CHECK(close(last(8), (near * 7.0).cos() * std::sqrt(5.0 / 3.0), kByHand));
  CHECK(close(last(9), (far * 8.0).cos() * std::sqrt(5.0 / 3.0), kByHand));
}

TEST_CASE("rope scaling: longrope finds its attention factor by the model's length, unless it is given", "[unit]") {
  const auto size = [](const std::string& more, int64_t max_length) {
    const auto encoding = scaled(
        "{kind: longrope, short_factor: [1, 1, 1, 1], long_factor: [1, 1, 1, 1], original_max_position_embeddings: 16" +
            more + "}",
        heads_of(8, max_length));
    return turn_of(*encoding, consecutive(0, 1, at::kCPU), 8, at::kDouble)[0][0][0].item<double>();
  };
  CHECK(size("", 64) == Approx(std::sqrt(1.5)).epsilon(1e-12));  // ln 4 / ln 16 = 1/2
  CHECK(size("", 16) == 1.0);
  CHECK(size(", factor: 16", 64) == Approx(std::sqrt(2.0)).epsilon(1e-12));
  CHECK(size(", attention_factor: 1.25", 64) == 1.25);
}

TEST_CASE("rope scaling: proportional turns the fastest pairs of the whole head", "[unit]") {
  const auto turning = [](const std::string& share, int64_t head_dim) {
    return position_of("{kind: rope, scaling: proportional, " + share + "}", heads_of(head_dim))->frequencies(1);
  };
  CHECK(close(turning("partial_rotary_factor: 0.5", 8), radians({1.0, 0.1, 0.0, 0.0}), kByHand));
  CHECK(close(turning("rotary_dim: 6", 8), radians({1.0, 0.1, 0.01, 0.0}), kByHand));
  CHECK(turning("partial_rotary_factor: 0.36", 20).count_nonzero().item<int64_t>() == 3);  // floor(7.2 / 2)
}

TEST_CASE("rope scaling: a common shift leaves scores unchanged under every fixed scaling", "[unit]") {
  const Tensor q = noise({1, 2, 6, 8}, 6), k = noise({1, 2, 6, 8}, 7);
  for (const std::string scaling :
       {"none", "{kind: linear, factor: 3}", "{kind: ntk, factor: 3}",
        "{kind: yarn, factor: 3, original_max_position_embeddings: 64}",
        "{kind: llama3, factor: 3, original_max_position_embeddings: 64}", "proportional"}) {
    INFO(scaling);
    const auto encoding = scaled(scaling);
    CHECK(encoding->traits().relative);
    CHECK(encoding->traits().keys == KeyCache::turned);
    CHECK(close(turned_scores(*encoding, q, k, consecutive(1000, 6, at::kCPU)),
                turned_scores(*encoding, q, k, consecutive(0, 6, at::kCPU)), Tolerance::fp32_sum));
  }
}

TEST_CASE("rope scaling: where the length matters keys are cached before their turn", "[unit]") {
  for (const std::string& scaling : {kDynamic, kLongRope}) {
    const PositionTraits traits = scaled(scaling)->traits();
    CHECK(traits.keys == KeyCache::raw);
    CHECK_FALSE(traits.relative);
  }
}

TEST_CASE("rope scaling: each row of a batch is turned by its own length", "[unit]") {
  // 5 tokens after six of padding; 11; two documents of 2 and 9 tokens, so a length of 9
  const Tensor index =
      at::cat({at::tensor({0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}, at::kLong), at::arange(11), at::arange(2), at::arange(9)})
          .view({3, 11});
  const Tensor x = noise({3, 2, 11, 8}, 8);
  for (const std::string& scaling : {kDynamic, kLongRope}) {
    INFO(scaling);
    const auto encoding = scaled(scaling);
    const Tensor together = encoding->query(x, {.index = index}, 0);
    for (int64_t b = 0; b < 3; ++b)
      CHECK(close(together.slice(0, b, b + 1),
                  encoding->query(x.slice(0, b, b + 1), {.index = index.slice(0, b, b + 1)}, 0), Tolerance::fp32));
    const auto documents = x.slice(0, 2, 3);
    CHECK(close(together.slice(0, 2, 3).slice(2, 2),
                encoding->query(documents.slice(2, 2), consecutive(0, 9, at::kCPU), 0), Tolerance::fp32));
    CHECK(close(together.slice(0, 1, 2), encoding->query(x.slice(0, 1, 2), consecutive(0, 11, at::kCPU), 0),
                Tolerance::fp32));
    CHECK_FALSE(close(together.slice(0, 1, 2).slice(2, 4),
                      scaled("none")->query(x.slice(0, 1, 2).slice(2, 4), consecutive(4, 7, at::kCPU), 0),
                      Tolerance::bf16));
  }
}

TEST_CASE("rope scaling: real-valued positions count as the length that they reach", "[unit]") {
  const auto encoding = scaled(kDynamic);
  const Tensor stamps = at::tensor({0.5, 3.25, 35.75}, at::kDouble).view({1, 3, 1});
  const Tensor turn =
      turn_of(*encoding, {.index = at::arange(3).unsqueeze(0), .coords = stamps}, 8, at::kDouble)[0].slice(1, 0, 4);
  CHECK(close(turn, (stamps[0] * encoding->frequencies(36)).cos(), kByHand));
}

TEST_CASE("rope scaling: a longer call does not change a later shorter one", "[unit]") {
  const Tensor x = noise({1, 1, 6, 8}, 9);
  for (const std::string& scaling : {kDynamic, kLongRope}) {
    const auto encoding = scaled(scaling), fresh = scaled(scaling);
    turn_of(*encoding, consecutive(0, 40, at::kCPU), 8);
    CHECK(same_bytes(encoding->query(x, consecutive(0, 6, at::kCPU), 0),
                     fresh->query(x, consecutive(0, 6, at::kCPU), 0)));
  }
}

TEST_CASE("rope scaling: dynamic with keep_longest goes on with the longest call until a short one", "[unit]") {
  const auto encoding = scaled("{kind: dynamic, factor: 2, original_max_position_embeddings: 8, keep_longest: true}");
  const auto by_formula = scaled(kDynamic);
  const auto second = [&](int64_t length) {  // the turn of position 1 in a call of this length
    return turn_of(*encoding, consecutive(0, length, at::kCPU), 8, at::kDouble)[0][1].slice(0, 0, 4);
  };
  CHECK(close(second(20), by_formula->frequencies(20).cos(), kByHand));
  CHECK(close(second(12), by_formula->frequencies(20).cos(), kByHand));
  CHECK(close(encoding->frequencies(12), by_formula->frequencies(20), kByHand));
  CHECK(close(second(8), by_formula->frequencies(20).cos(), kByHand));          // not shorter than the original
  CHECK(close(encoding->frequencies(7), by_formula->frequencies(8), kByHand));  // asking changes nothing
  CHECK(close(second(9), by_formula->frequencies(20).cos(), kByHand));
  CHECK(close(second(7), by_formula->frequencies(8).cos(), kByHand));
  CHECK(close(second(9), by_formula->frequencies(9).cos(), kByHand));
}

TEST_CASE("rope scaling: with keep_longest the rows of a batch share one length", "[unit]") {
  const auto encoding = scaled("{kind: dynamic, factor: 2, original_max_position_embeddings: 8, keep_longest: true}");
  const Tensor index = at::stack({at::arange(20), at::arange(20).clamp_max(4)});
  const Tensor turn = turn_of(*encoding, {.index = index}, 8, at::kDouble);
  CHECK(close(turn[1].slice(1, 0, 4), (index[1].unsqueeze(1) * encoding->frequencies(20)).cos(), kByHand));
}

TEST_CASE("rope scaling: calls from two threads get what one thread would", "[unit]") {
  for (const std::string& scaling : {kDynamic, kLongRope}) {
    const auto encoding = scaled(scaling);
    const auto want = [&](int64_t length) { return turn_of(*scaled(scaling), consecutive(0, length, at::kCPU), 8); };
    const Tensor near = want(6), far = want(30);
    const auto repeat = [&](int64_t length, const Tensor& expected, bool& equal) {
      for (int i = 0; i < 200; ++i)
        equal = equal && turn_of(*encoding, consecutive(0, length, at::kCPU), 8).equal(expected);
    };
    bool near_equal = true, far_equal = true;
    std::thread other([&] { repeat(6, near, near_equal); });
    repeat(30, far, far_equal);
    other.join();
    CHECK((near_equal && far_equal));
  }
}

TEST_CASE("rope scaling: an absent original length is that of the checkpoint", "[unit]") {
  PositionFacts facts = heads_of(8);
  facts.trained_length = 8;
  CHECK(
      close(scaled("{kind: dynamic, factor: 2}", facts)->frequencies(36), scaled(kDynamic)->frequencies(36), kByHand));
  for (const std::string kind : {"{kind: yarn, factor: 2", "{kind: llama3, factor: 2",
                                 "{kind: longrope, short_factor: [1, 1, 1, 1], long_factor: [2, 2, 2, 2]"}) {
    INFO(kind);
    const auto from_run = scaled(kind + "}", facts), given = scaled(kind + ", original_max_position_embeddings: 8}");
    CHECK(same_bytes(from_run->frequencies(9), given->frequencies(9)));
    const auto other = scaled(kind + ", original_max_position_embeddings: 16384}", facts);  // what is given counts
    CHECK_FALSE(same_bytes(other->frequencies(9), given->frequencies(9)));
  }
}

TEST_CASE("rope scaling: angles stay exact at position 131071", "[unit]") {
  const auto encoding = position_of(
      "{kind: rope, scaling: {kind: yarn, factor: 32, original_max_position_embeddings: 4096, attention_factor: 1}}",
      heads_of(128));
  const Tensor angles = encoding->frequencies(131072) * 131071.0;
  const Tensor want = at::cat({angles.cos(), angles.sin()}).to(at::kFloat);
  CHECK(close(turn_of(*encoding, consecutive(131071, 1, at::kCPU), 128)[0][0], want, Tolerance{1e-6, 0.0}));
}

TEST_CASE("rope scaling: values that turn are refused under scalings that change size or turn late", "[unit]") {
  for (const std::string& scaling :
       {kDynamic, kLongRope, std::string("{kind: yarn, factor: 4, original_max_position_embeddings: 64}")})
    CHECK_THROWS_WITH(position_of("{kind: rope, rotary_value: true, scaling: " + scaling + "}", heads_of(8)),
                      Catch::Contains("rope: rotary_value turns values once and for all"));
  CHECK_NOTHROW(position_of("{kind: rope, rotary_value: true, scaling: {kind: linear, factor: 2}}", heads_of(8)));
}

}  // namespace ordo::test
