// SPDX-License-Identifier: Apache-2.0
// Decoding under rotary encodings whose turns depend on the length of the sequence.
#include "support/catch.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>

#include "ordo/attention/cache.h"
#include "ordo/models/decoder.h"
#include "support/conformance.h"
#include "support/position_text.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

constexpr Tolerance kDecoded{2e-5, 2e-4};

std::shared_ptr<Decoder> rotary_decoder(const std::string& yaml, int64_t layers) {
  Decoder::Config c;
  c.dim = 32, c.layers = layers, c.max_length = 512;
  c.attention = {.heads = 4, .kv_heads = 2, .head_dim = 8, .kernel = Choice<AttentionKernel>("auto")};
  c.init.std = 0.3;
  c.position = choices_of(yaml);
  return std::make_shared<Decoder>(c, ModelFacts{.vocab_size = kConformingVocabulary, .seed = 3});
}

// Hidden states [1, L, D] of a full pass, and of a pass that is fed in chunks that end where told.
Tensor whole_pass(Decoder& model, const Tensor& ids) {
  return model.forward({.ids = ids, .at = consecutive(0, ids.size(1), at::kCPU)});
}
Tensor chunked_pass(Decoder& model, const Tensor& ids, const std::vector<int64_t>& ends, int64_t layers) {
  const auto cache = caches().build("full", {.layers = layers});
  std::vector<Tensor> outs;
  int64_t from = 0;
  for (const int64_t to : ends) {
    outs.push_back(
        model.forward({.ids = ids.slice(1, from, to), .at = consecutive(from, to - from, at::kCPU)}, cache.get()));
    from = to;
  }
  return at::cat(outs, 1);
}

std::vector<int64_t> one_by_one(int64_t prefill, int64_t length) {
  std::vector<int64_t> ends;
  for (int64_t end = prefill; end <= length; ++end) ends.push_back(end);
  return ends;
}

const std::vector<std::string>& by_length() {  // original length 16
  static const std::vector<std::string> kByLength{
      "{kind: rope, scaling: {kind: dynamic, factor: 4, original_max_position_embeddings: 16}}",
      "{kind: rope, scaling: {kind: dynamic, factor: 4, original_max_position_embeddings: 16, keep_longest: true}}",
      "{kind: rope, scaling: {kind: longrope, factor: 4, original_max_position_embeddings: 16, short_factor: [1, 1, 1, "
      "1], long_factor: [1, 2, 4, 8]}}"};
  return kByLength;
}

}  // namespace

TEST_CASE("rope scaling: up to the original length decoding equals one full pass", "[unit]") {
  const at::NoGradGuard plain;
  const Tensor ids = mixed_ids(16);
  for (const std::string& yaml : by_length()) {
    INFO(yaml);
    const auto model = rotary_decoder(yaml, 2);
    const Tensor whole = whole_pass(*model, ids);
    for (const auto& ends : std::vector<std::vector<int64_t>>{one_by_one(1, 16), {9, 16}, {15, 16}})
      CHECK(close(chunked_pass(*model, ids, ends, 2), whole, kDecoded));
  }
}

TEST_CASE("rope scaling: past the original length a new token sees all keys under the new frequencies", "[unit]") {
  const at::NoGradGuard plain;
  const Tensor ids = mixed_ids(24);
  for (const std::string& yaml : by_length()) {
    INFO(yaml);
    const auto model = rotary_decoder(yaml, 1);  // one layer: what is cached does not depend on any frequency
    const Tensor stepped = chunked_pass(*model, ids, one_by_one(12, 24), 1);
    for (const int64_t seen : {13, 16, 17, 18, 24}) {
      INFO(seen << " tokens");
      CHECK(close(stepped.slice(1, seen - 1, seen), whole_pass(*model, ids.slice(1, 0, seen)).slice(1, seen - 1),
                  kDecoded));
    }
  }
}

TEST_CASE("rope scaling: the rows of a batch grow past the original length apart", "[unit]") {
  const at::NoGradGuard plain;
  const Tensor ids = mixed_ids(20), pads = at::ones({1, 8}, at::kLong);
  const Tensor both = at::cat({ids, at::cat({pads, ids.slice(1, 0, 12)}, 1)});
  Mask mask;
  mask.keys = at::ones({2, 20}, at::kBool);
  mask.keys[1].slice(0, 0, 8).fill_(false);
  for (const std::string& yaml : {by_length()[0], by_length()[2]}) {
    INFO(yaml);
    const auto model = rotary_decoder(yaml, 2);
    const Tensor together = model->forward({.ids = both, .at = from_padding(mask.keys), .mask = mask});
    CHECK(close(together[0], whole_pass(*model, ids)[0], kDecoded));
    CHECK(close(together[1].slice(0, 8), whole_pass(*model, ids.slice(1, 0, 12))[0], kDecoded));
  }
}

TEST_CASE("xpos: decoding equals one full pass where a centre that moved would show", "[unit]") {
  const at::NoGradGuard plain;
  const Tensor ids = mixed_ids(200);  // z_0^(100 / 8) = 1.6e-7: keys of another centre would be lost
  const auto model = rotary_decoder("{kind: xpos, scale_base: 8}", 2);
  const Tensor whole = whole_pass(*model, ids);
  CHECK(close(chunked_pass(*model, ids, {100, 101, 102, 150, 199, 200}, 2), whole, kDecoded));
}

}  // namespace ordo::test
