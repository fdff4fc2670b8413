// SPDX-License-Identifier: Apache-2.0
// Segment recurrence: a decoder that keeps the hidden states of the segments before.
#include "support/catch.h"

#include <ATen/ops/cat.h>
#include <c10/core/GradMode.h>

#include "ordo/models/probe.h"
#include "support/models.h"
#include "support/thrown.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

constexpr int64_t kSegment = 6;

Decoder::Config remembering(std::string_view encoding, int64_t memory, int64_t layers) {
  Decoder::Config config = small_config(encoding);
  config.layers = layers;
  config.max_length = 0;
  config.memory = memory;
  return config;
}

std::shared_ptr<Decoder> decoder_of(const Decoder::Config& config) {
  return std::make_shared<Decoder>(config,
                                   ModelFacts{.vocab_size = kSmallVocabulary, .max_length = kSegment, .seed = 1});
}

ModelInput segment(const Tensor& ids, int64_t number, SegmentMemory& memory, const Draw& draw = {}) {
  ModelInput in = input_of(ids.slice(1, number * kSegment, (number + 1) * kSegment), draw);
  in.memory = &memory;
  return in;
}

// What the blocks put out, the input of the next one.
struct Outputs final : Probe {
  void block(int64_t layer, const Tensor& output) override {
    if (static_cast<int64_t>(blocks.size()) <= layer) blocks.resize(static_cast<size_t>(layer) + 1);
    blocks[static_cast<size_t>(layer)] = output;
  }
  std::vector<Tensor> blocks;
};

}  // namespace

TEST_CASE("segments: behind its memory, a segment is to one layer what it is in the whole text", "[unit]") {
  const c10::NoGradGuard no_gradients;
  for (const auto placement :
       {NormPlacement::pre, NormPlacement::post, NormPlacement::sandwich, NormPlacement::parallel})
    for (const char* encoding : {"transformer_xl", "rope", "xpos", "alibi", "t5_bias", "shaw", "fox", "cope", "none"}) {
      CAPTURE(encoding, static_cast<int>(placement));
      Decoder::Config config = remembering(encoding, 2 * kSegment, /*layers=*/1);
      config.norm.placement = placement;
      config.attention.kv_heads = 0;
      const auto model = decoder_of(config);
      const Tensor ids = some_ids(2, 3 * kSegment);
      const Tensor whole = model->forward(input_of(ids));
      SegmentMemory memory;
      for (int64_t n = 0; n < 3; ++n)
        CHECK(close(model->forward(segment(ids, n, memory)), whole.slice(1, n * kSegment, (n + 1) * kSegment),
                    Tolerance::fp32_sum));
    }
}

TEST_CASE("segments: a window of attention reaches into the memory as it reaches into a text", "[unit]") {
  const c10::NoGradGuard no_gradients;
  Decoder::Config config = remembering("rope", kSegment, /*layers=*/1);
  config.attention.window = {4};
  const auto model = decoder_of(config);
  const Tensor ids = some_ids(2, 2 * kSegment), whole = model->forward(input_of(ids));
  SegmentMemory memory;
  model->forward(segment(ids, 0, memory));
  CHECK(close(model->forward(segment(ids, 1, memory)), whole.slice(1, kSegment), Tolerance::fp32_sum));
}

TEST_CASE("segments: the memory holds what each block read of the last tokens, and no more than it may", "[unit]") {
  const auto model = decoder_of(remembering("transformer_xl", /*memory=*/8, /*layers=*/3));
  const Tensor ids = some_ids(2, 3 * kSegment);
  SegmentMemory memory;
  std::vector<Tensor> read;  // by block 1, of all tokens so far
  for (int64_t n = 0; n < 3; ++n) {
    Outputs outputs;
    ModelInput in = segment(ids, n, memory);
    in.probe = &outputs;
    model->forward(in);
    read.push_back(outputs.blocks.at(0).detach());
    REQUIRE(memory.hidden.size() == 3);
    const Tensor all = at::cat(read, 1);
    for (const Tensor& hidden : memory.hidden) {
      CHECK(hidden.sizes() == at::IntArrayRef({2, std::min<int64_t>(8, all.size(1)), 16}));
      CHECK_FALSE(hidden.requires_grad());
    }
    CHECK(same_bytes(memory.hidden[1], all.slice(1, std::max<int64_t>(0, all.size(1) - 8)).contiguous()));
  }
}

TEST_CASE("segments: a memory shorter than a segment holds its end", "[unit]") {
  const auto model = decoder_of(remembering("rope", /*memory=*/2, /*layers=*/2));
  const Tensor ids = some_ids(1, 2 * kSegment);
  SegmentMemory memory;
  for (int64_t n = 0; n < 2; ++n) model->forward(segment(ids, n, memory));
  const Tensor last = model->named_parameters()["embedding.weight"].index({ids.slice(1, 2 * kSegment - 2).view({-1})});
  CHECK(same_bytes(memory.hidden[0].view({2, -1}), last.detach()));
}

TEST_CASE("segments: no gradient enters the memory", "[unit]") {
  Decoder::Config config = remembering("transformer_xl", kSegment, /*layers=*/2);
  config.tie_embeddings = false;
  const auto model = decoder_of(config);
  const Tensor before = at::full({1, kSegment}, 3, at::kLong), after = at::full({1, kSegment}, 5, at::kLong);
  const Tensor ids = at::cat({before, after}, 1);
  SegmentMemory memory;
  model->forward(segment(ids, 0, memory));
  const Tensor without = model->forward(input_of(after)), hidden = model->forward(segment(ids, 1, memory));
  CHECK_FALSE(close(hidden, without, Tolerance::bf16));  // what stands before is seen …
  hidden.sum().backward();
  const Tensor gradient = model->named_parameters()["embedding.weight"].grad();
  CHECK(gradient[3].abs().max().item<double>() == 0.0);  // … and learns nothing
  CHECK(gradient[5].abs().max().item<double>() > 0.0);
}

TEST_CASE("segments: recomputed blocks give the same gradients to the bit, and the same memory", "[unit]") {
  const auto trained = [](const std::vector<bool>& recomputed) {
    Decoder::Config config = remembering("transformer_xl", kSegment, /*layers=*/3);
    config.dropout = 0.1;
    const auto model = decoder_of(config);
    model->recompute(recomputed);
    const Tensor ids = some_ids(2, 2 * kSegment);
    SegmentMemory memory;
    std::vector<Tensor> results;
    for (int64_t n = 0; n < 2; ++n) {
      const Tensor hidden = model->forward(segment(ids, n, memory, {.seed = 1, .step = n}));
      (hidden * hidden).sum().backward();
    }
    for (const auto& p : model->named_parameters())
      if (p.key().find("position") == std::string::npos) results.push_back(p.value().grad());
    results.insert(results.end(), memory.hidden.begin(), memory.hidden.end());
    return results;
  };
  const auto plain = trained({}), replayed = trained({true, true, true});
  REQUIRE(plain.size() == replayed.size());
  for (size_t i = 0; i < plain.size(); ++i)
    if (plain[i].defined()) CHECK(same_bytes(plain[i], replayed[i]));
}

TEST_CASE("segments: a cache holds all that stands before, so generation needs no memory", "[unit]") {
  const c10::NoGradGuard no_gradients;
  const auto model = decoder_of(remembering("transformer_xl", /*memory=*/4, /*layers=*/2));
  model->eval();
  const Tensor ids = some_ids(2, 3 * kSegment);
  const auto cache = model->make_cache();
  std::vector<Tensor> parts;
  for (int64_t from = 0; from < ids.size(1); from += 3)
    parts.push_back(
        model->forward({.ids = ids.slice(1, from, from + 3), .at = consecutive(from, 3, at::kCPU)}, cache.get()));
  CHECK(close(at::cat(parts, 1), model->forward(input_of(ids)), Tolerance::fp32_sum));
}

TEST_CASE("segments: their keys count in the arithmetic", "[unit]") {
  const double plain = decoder_of(remembering("rope", 0, /*layers=*/2))->cost(kSegment).flops_per_token;
  const double with = decoder_of(remembering("rope", 4, /*layers=*/2))->cost(kSegment).flops_per_token;
  const double scores = 2.0 * 2.0 * 16.0 * 4.0;                 // four more keys: scores and weighted values
  const double keys = 2.0 * 2.0 * 16.0 * 8.0 * 4.0 / kSegment;  // keys and values of two groups, made once a segment
  CHECK(with - plain == Approx(2.0 * (scores + keys)).epsilon(1e-12));  // in each of two layers
}

TEST_CASE("segments: what cannot go on is refused in words", "[unit]") {
  for (const char* encoding : {"learned", "sinusoidal", "shape", "randomized"}) {
    CAPTURE(encoding);
    const auto message = thrown<ConfigError>([&] { decoder_of(remembering(encoding, 4, 1)); });
    CHECK(contains(message, "model.memory (4) needs an encoding that looks at distances"));
    CHECK(contains(message, std::string(encoding) + " does not"));
  }
  CHECK(contains(thrown<ConfigError>([] { decoder_of(remembering("xpos", 40'000, 1)); }),
                 "model.memory (40000) stands before train.length (6)"));
  const auto model = decoder_of(remembering("rope", 4, 1));
  SegmentMemory memory;
  const Tensor ids = some_ids(2, 2 * kSegment);
  ModelInput padded = segment(ids, 0, memory);
  padded.mask.keys = at::ones({2, kSegment}, at::kBool);
  CHECK(contains(thrown<ConfigError>([&] { model->forward(padded); }), "no padding"));
  model->forward(segment(ids, 0, memory));
  CHECK(contains(thrown<Error>([&] { model->forward(segment(ids.slice(0, 0, 1), 1, memory)); }),
                 "a memory of 1 blocks of [2, 4, 16] does not fit 1 rows"));
}

}  // namespace ordo::test
