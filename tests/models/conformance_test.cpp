// SPDX-License-Identifier: Apache-2.0
// What every position encoding must do under every kernel and cache: whoever is listed in a catalogue is tested here.
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

#include "ordo/config/config.h"
#include "ordo/ops/autocast.h"
#include "support/conformance.h"
#include "support/positions.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

constexpr Tolerance kModel = Tolerance{2e-5, 2e-4};  // two layers of sums in another order

// Feeds ids chunk by chunk through a fresh cache of the kind.
Tensor in_chunks(Subject& subject, const std::string& cache_kind, const Tensor& ids, const Tensor& index,
                 const Tensor& keys, const std::vector<int64_t>& ends) {
  const auto cache = caches().build(cache_kind, {.layers = kConformingLayers});
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

// In one go, at every place in two, and in several pieces.
std::vector<std::vector<int64_t>> splits_of(int64_t length) {
  std::vector<std::vector<int64_t>> all{{length}, {10, 11, 15, length}};
  for (int64_t first = 1; first < length; ++first) all.push_back({first, length});
  return all;
}

// Caches that decode; `fixed` holds an encoder's output and has its own tests.
std::vector<std::string> decoding_caches() {
  std::vector<std::string> kinds;
  for (const auto& c : caches().kinds())
    if (c.kind != "fixed") kinds.emplace_back(c.kind);
  return kinds;
}

void check_gradients(torch::nn::Module& found, torch::nn::Module& expected) {
  double largest = 0.0;
  for (const Tensor& p : expected.parameters())
    if (p.grad().defined()) largest = std::max(largest, p.grad().abs().max().item<double>());
  const auto wanted = expected.named_parameters();
  for (const auto& p : found.named_parameters()) {
    INFO(p.key());
    REQUIRE(p.value().grad().defined() == wanted[p.key()].grad().defined());
    if (p.value().grad().defined())
      CHECK(close_gradient(p.value().grad(), wanted[p.key()].grad(), 1e-4, 1e-2 * largest));
  }
}

void outputs_and_gradients_are_those_of_eager(Scope scope) {
  const Tensor ids = at::cat({mixed_ids(40), mixed_ids(40, 9)}, 0);
  const auto run = [&](Subject& s) {
    const Tensor out = s.run(ids);
    out.backward(noise(out.sizes(), 4));
    return out.detach();
  };
  for_every_case(scope,
                 [&](Subject& subject) {
                   ConformingCase eager = subject.what();
                   eager.kernel = "eager";
                   Subject reference(eager);
                   const Tensor expected = run(reference), found = run(subject);
                   CHECK(close(found, expected, kModel));
                   check_gradients(subject, reference);
                 },
                 {.gradients = true});
}

void decoding_equals_one_pass_at_every_split(Scope scope) {
  const Tensor ids = mixed_ids(20);
  for_every_case(scope,
                 [&](Subject& subject) {
                   const Tensor whole = subject.run(ids);
                   for (const std::string& cache : decoding_caches())
                     for (const auto& ends : splits_of(ids.size(1))) {
                       INFO("cache " << cache << ", first chunk " << ends[0]);
                       const Tensor stepped = in_chunks(subject, cache, ids, {}, {}, ends);
                       CHECK(close(stepped, whole, kModel));
                     }
                 },
                 {.causal_only = true});
}

void padding_changes_nothing_for_real_tokens(Scope scope) {
  const Tensor ids = mixed_ids(12), pads = at::ones({1, 5}, at::kLong);
  const Tensor both = at::cat({at::cat({pads, ids}, 1), at::cat({ids, pads}, 1), mixed_ids(17, 20)}, 0);
  Tensor keys = at::ones({3, 17}, at::kBool);
  keys[0].slice(0, 0, 5).fill_(false);
  keys[1].slice(0, 12).fill_(false);
  for_every_case(scope, [&](Subject& subject) {
    const Tensor alone = subject.run(ids)[0];
    Mask mask;
    mask.keys = keys;
    const Tensor padded = subject.run(both, from_padding(keys), mask);
    CHECK(close(padded[0].slice(0, 5), alone, kModel));
    CHECK(close(padded[1].slice(0, 0, 12), alone, kModel));
  });
}

void decoding_of_a_left_padded_row_equals_the_row_alone(Scope scope) {
  const Tensor ids = mixed_ids(12),
               both = at::cat({at::cat({at::ones({1, 5}, at::kLong), ids}, 1), mixed_ids(17, 20)}, 0);
  Tensor keys = at::ones({2, 17}, at::kBool);
  keys[0].slice(0, 0, 5).fill_(false);
  for_every_case(
      scope,
      [&](Subject& subject) {
        const Tensor alone = subject.run(ids)[0], other = subject.run(both.slice(0, 1))[0];
        for (const std::string& cache : decoding_caches()) {
          const Tensor stepped = in_chunks(subject, cache, both, from_padding(keys).index, keys, {9, 10, 11, 17});
          CHECK(close(stepped[0].slice(0, 5), alone, kModel));
          CHECK(close(stepped[1], other, kModel));
        }
      },
      {.causal_only = true});
}

void packed_documents_equal_the_documents_alone(Scope scope) {
  const Tensor first = mixed_ids(9), second = mixed_ids(14, 30), packed = at::cat({first, second}, 1);
  const Tensor segments = at::cat({at::ones({1, 9}, at::kLong), at::ones({1, 14}, at::kLong) * 2}, 1);
  for_every_case(scope, [&](Subject& subject) {
    Mask mask;
    mask.q_segment = mask.k_segment = segments;
    const Tensor together = subject.run(packed, from_segments(segments), mask)[0];
    const Tensor first_alone = subject.run(first)[0], second_alone = subject.run(second)[0];
    CHECK(close(together.slice(0, 0, 9), first_alone, kModel));
    CHECK(close(together.slice(0, 9), second_alone, kModel));
  });
}

void a_later_token_changes_nothing_earlier(Scope scope) {
  const Tensor ids = mixed_ids(24);
  Tensor changed = ids.clone();
  changed.slice(1, 15).copy_((ids.slice(1, 15) + 1).remainder(kConformingVocabulary));
  for_every_case(scope, [&](Subject& subject) {
    const Tensor before = subject.run(ids), after = subject.run(changed);
    const Tensor now = after.slice(1, 0, 15), then = before.slice(1, 0, 15);
    if (subject.what().causal)
      CHECK(close(now, then, Tolerance::fp32));
    else
      CHECK_FALSE(close(now, then, Tolerance::fp32));
    CHECK_FALSE(close(after.slice(1, 15), before.slice(1, 15), Tolerance::fp32));
  });
}

void relative_encodings_alone_do_not_see_a_common_shift(Scope scope) {
  constexpr int64_t kTokens = 20, kNear = 11, kFar = 100;
  const Tensor ids = mixed_ids(kTokens);
  for_every_case(scope, [&](Subject& subject) {
    const Tensor here = subject.run(ids), near = subject.run(ids, consecutive(kNear, kTokens, at::kCPU));
    const PositionTraits traits = subject.traits();
    if (traits.relative) {
      CHECK(close(near, here, kModel));
      return;
    }
    if (traits.places.input) CHECK_FALSE(close(near, here, kModel));
    // Some, as FIRE, depend on where a query stands only beyond the length that they were built for.
    const int64_t far = traits.unbounded ? kFar : kConformingLength - kTokens;
    const Tensor there = subject.run(ids, consecutive(far, kTokens, at::kCPU));
    CHECK_FALSE(close(there, here, kModel));
  });
}

void a_row_that_sees_no_key_stays_a_number(Scope scope) {
  const Tensor ids = at::cat({mixed_ids(10), mixed_ids(10, 7)}, 0);
  Tensor keys = at::ones({2, 10}, at::kBool);
  keys[0].fill_(false);
  Mask mask;
  mask.keys = keys;
  for_every_case(scope,
                 [&](Subject& subject) {
                   const Tensor out = subject.run(ids, consecutive(0, 10, at::kCPU), mask);
                   out.sum().backward();
                   CHECK(out.isfinite().all().item<bool>());
                   for (const Tensor& p : subject.parameters())
                     if (p.grad().defined()) CHECK(p.grad().isfinite().all().item<bool>());
                 },
                 {.gradients = true});
}

void bf16_autocast_stays_near_fp32(Scope scope) {
  const Tensor ids = mixed_ids(30);
  for_every_case(scope, [&](Subject& subject) {
    const Tensor exact = subject.run(ids);
    const AutocastScope half(at::kCPU, {.enabled = true, .dtype = at::kBFloat16});
    const Tensor rounded = subject.run(ids).to(at::kFloat);
    CHECK((rounded - exact).norm().item<double>() < 0.03 * exact.norm().item<double>());
  });
}

void it_works_past_its_length_or_refuses_in_words(Scope scope) {
  for_every_case(scope, [&](Subject& subject) {
    const int64_t beyond = kConformingLength + 40;
    const auto refusal = subject.position().refuses_length(beyond);
    CHECK((refusal.has_value() || subject.traits().unbounded));
    if (refusal) {
      CHECK_THROWS_WITH(subject.run(mixed_ids(beyond)), Catch::Matchers::Contains(std::to_string(beyond)));
      return;
    }
    const Tensor out = subject.run(mixed_ids(beyond));
    CHECK(out.isfinite().all().item<bool>());
  });
}

}  // namespace

// The part that every run of the tests does.
TEST_CASE("conformance: outputs and gradients are those of eager", "[conformance]") {
  outputs_and_gradients_are_those_of_eager(Scope::fixed);
}
TEST_CASE("conformance: decoding through a cache equals one full pass, at every split", "[conformance]") {
  decoding_equals_one_pass_at_every_split(Scope::fixed);
}
TEST_CASE("conformance: padding on the left or on the right changes nothing for real tokens", "[conformance]") {
  padding_changes_nothing_for_real_tokens(Scope::fixed);
}
TEST_CASE("conformance: cached decoding of a left-padded row equals the row alone", "[conformance]") {
  decoding_of_a_left_padded_row_equals_the_row_alone(Scope::fixed);
}
TEST_CASE("conformance: packed documents equal the documents alone", "[conformance]") {
  packed_documents_equal_the_documents_alone(Scope::fixed);
}
TEST_CASE("conformance: a later token changes nothing earlier in a causal stack, and does in a two-sided one",
          "[conformance]") {
  a_later_token_changes_nothing_earlier(Scope::fixed);
}
TEST_CASE("conformance: relative encodings do not see a common shift, absolute ones do", "[conformance]") {
  relative_encodings_alone_do_not_see_a_common_shift(Scope::fixed);
}
TEST_CASE("conformance: a row that sees no key stays a number, and so do gradients", "[conformance]") {
  a_row_that_sees_no_key_stays_a_number(Scope::fixed);
}
TEST_CASE("conformance: bf16 autocast stays near fp32", "[conformance]") {
  bf16_autocast_stays_near_fp32(Scope::fixed);
}
TEST_CASE("conformance: every encoding works past its max_length, or refuses in words", "[conformance]") {
  it_works_past_its_length_or_refuses_in_words(Scope::fixed);
}

TEST_CASE("conformance, whole: outputs and gradients are those of eager", "[slow]") {
  outputs_and_gradients_are_those_of_eager(Scope::whole);
}
TEST_CASE("conformance, whole: decoding equals one pass, padding and packing change nothing", "[slow]") {
  decoding_equals_one_pass_at_every_split(Scope::whole);
  padding_changes_nothing_for_real_tokens(Scope::whole);
  decoding_of_a_left_padded_row_equals_the_row_alone(Scope::whole);
  packed_documents_equal_the_documents_alone(Scope::whole);
}
TEST_CASE("conformance, whole: causality, shift, rows without a key, bf16, past the length", "[slow]") {
  a_later_token_changes_nothing_earlier(Scope::whole);
  relative_encodings_alone_do_not_see_a_common_shift(Scope::whole);
  a_row_that_sees_no_key_stays_a_number(Scope::whole);
  bf16_autocast_stays_near_fp32(Scope::whole);
  it_works_past_its_length_or_refuses_in_words(Scope::whole);
}

}  // namespace ordo::test
