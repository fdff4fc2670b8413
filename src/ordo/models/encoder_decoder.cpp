// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/encoder_decoder.h"

#include <ATen/TensorOperators.h>

#include "ordo/attention/caches.h"
#include "ordo/config/config.h"
#include "ordo/models/cost.h"
#include "ordo/models/signal_text.h"

namespace ordo {

namespace {

// The decoder's own keys and values, and beside them the memory's, which follow the rows alone.
class EncoderDecoderCache final : public KVCache {
 public:
  explicit EncoderDecoderCache(int64_t layers)
      : own_(caches().build("full", {layers})), memory_(caches().build("fixed", {layers})) {}
  KVCache& own() { return *own_; }
  KVCache& memory() { return *memory_; }
  void advance(const Positions& fresh, const Mask& mask) override { own_->advance(fresh, mask); }
  Held append(int64_t layer, const Tensor& k, const Tensor& v, const Tensor& kept) override {
    return own_->append(layer, k, v, kept);
  }
  int64_t size() const override { return own_->size(); }
  void keep_rows(const Tensor& rows) override {
    own_->keep_rows(rows);
    memory_->keep_rows(rows);
  }
  void truncate(int64_t size) override { own_->truncate(size); }

 private:
  std::shared_ptr<KVCache> own_, memory_;
};

StackConfig side_of(const StackConfig& shared, const SideConfig& side) {
  StackConfig c = shared;
  c.layers = side.layers.value_or(c.layers);
  c.attention = side.attention.value_or(c.attention);
  c.feed_forward = side.feed_forward.value_or(c.feed_forward);
  c.norm = side.norm.value_or(c.norm);
  if (!side.position.empty()) c.position = side.position;
  c.dropout = side.dropout.value_or(c.dropout);
  c.drop_path = side.drop_path.value_or(c.drop_path);
  return c;
}

EncoderDecoder::Config completed_pair(EncoderDecoder::Config config, const ModelFacts& facts) {
  Problems problems;
  check(config, "model", problems);
  problems.throw_if_any();
  complete(config, facts);
  return config;
}

}  // namespace

void fields(Fields& f, SideConfig& c) {
  f("layers", c.layers, "number of blocks of this stack; absent: model.layers", within(1, 10000));
  f("attention", c.attention, "attention of this stack's blocks; absent: model.attention");
  f("feed_forward", c.feed_forward, "feed-forward of this stack's blocks; absent: model.feed_forward");
  f("norm", c.norm, "norms of this stack's blocks; absent: model.norm");
  f("position", c.position, "position encoding of this stack, or a list; absent: model.position");
  f("dropout", c.dropout, "of this stack; absent: model.dropout", below_one());
  f("drop_path", c.drop_path, "of this stack's last block; absent: model.drop_path", below_one());
}

void fields(Fields& f, DecoderSideConfig& c) {
  fields(f, static_cast<SideConfig&>(c));
  f("cross_position", c.cross_position, "position encoding of cross-attention, or a list; absent: none");
}

void fields(Fields& f, EncoderDecoder::Config& c) {
  fields(f, static_cast<StackConfig&>(c));
  f("encoder", c.encoder, "what the encoder has of its own");
  f("decoder", c.decoder, "what the decoder has of its own");
}

void check(const EncoderDecoder::Config& c, const std::string& path, Problems& problems) {
  check(static_cast<const StackConfig&>(c), path, problems);
  if (!problems.empty()) return;  // the sides would say the same again
  check(c.encoder_stack(), path + ".encoder", problems);
  if (!problems.empty()) return;
  const StackConfig decoder = c.decoder_stack();
  check(decoder, path + ".decoder", problems);
  check_layers(c.decoder.cross_position, decoder.layers, path + ".decoder", "cross_position", problems);
}

StackConfig EncoderDecoder::Config::encoder_stack() const { return side_of(*this, encoder); }
StackConfig EncoderDecoder::Config::decoder_stack() const { return side_of(*this, decoder); }

EncoderDecoder::EncoderDecoder(const Config& config, const ModelFacts& facts) : config_(completed_pair(config, facts)) {
  require<ConfigError>(!facts.signal.defined(),
                       "model.kind: {} reads and writes token ids, but the data of this task are {}; use encoder, "
                       "decoder, lstm, gru or cnn, with {}",
                       kKind, signal_kind(facts.signal), inputs_reading(facts.signal));
  embedding_ = register_module("embedding",
                               std::make_shared<TokenInput>(facts.vocab_size, config_.dim, config_.scale_embedding));
  source_embedding_ = embedding_;
  if (facts.source_vocab_size > 0)
    source_embedding_ =
        register_module("source_embedding",
                        std::make_shared<TokenInput>(facts.source_vocab_size, config_.dim, config_.scale_embedding));
  encoder_ = register_module("encoder",
                             std::make_shared<Stack>(config_.encoder_stack(), /*causal=*/false, facts.trained_length));
  decoder_ =
      register_module("decoder", std::make_shared<Stack>(config_.decoder_stack(), /*causal=*/true, facts.trained_length,
                                                         CrossAttention{config_.decoder.cross_position}));
  head_ = register_module("head", make_head(config_, embedding_->table()));
  initialise(*this, facts.seed, config_.init, layers());
}

Tensor EncoderDecoder::encode(const EncoderInput& source, const Draw& draw) {
  const Mask mask{.keys = source.keys};
  const Tensor x = source_embedding_->embed(source.ids, source.at, mask);
  check_reach(encoder_->position(), source.at, source.ids.size(1));
  return encoder_->forward(x, {.at = source.at, .mask = mask, .draw = draw});
}

Tensor EncoderDecoder::forward(const ModelInput& in, Cache* cache) {
  auto* const both = dynamic_cast<EncoderDecoderCache*>(cache);
  ORDO_ASSERT(cache == nullptr || both != nullptr);
  Context c{.at = in.at, .mask = in.mask, .draw = in.draw, .probe = in.probe};
  if (both != nullptr) {
    c.cache = &both->own();
    c.memory.cache = &both->memory();
  }
  if (both == nullptr || both->memory().size() == 0) {
    require(in.source.defined(), "an encoder-decoder reads a source, but none was given");
    require(in.source.ids.size(0) == in.ids.size(0), "{} rows of a source do not fit {} rows to write",
            in.source.ids.size(0), in.ids.size(0));
    check_reach(*decoder_->cross_position(), in.source.at, in.source.ids.size(1));
    c.memory.hidden = encode(in.source, in.draw);
    c.memory.at = in.source.at;
    c.memory.keys = in.source.keys;
  }
  const Tensor x = embedding_->embed(in.ids, in.at, in.mask);
  const int64_t columns = in.ids.size(1) + (both != nullptr ? both->size() : 0);
  for (PositionEncoding* const encoding : {&decoder_->position(), decoder_->cross_position()})
    check_reach(*encoding, in.at, columns);
  return decoder_->forward(x, c);
}

std::shared_ptr<Cache> EncoderDecoder::make_cache() const {
  return std::make_shared<EncoderDecoderCache>(std::ssize(decoder_->blocks()));
}

std::optional<std::string> EncoderDecoder::refuses_length(int64_t length) {
  for (PositionEncoding* const encoding : {&encoder_->position(), &decoder_->position(), decoder_->cross_position()})
    if (auto refused = encoding->refuses_length(length)) return refused;
  return std::nullopt;
}

ModelCost EncoderDecoder::cost(int64_t length) const {
  const StackConfig writes = config_.decoder_stack();
  ModelCost total = stack_cost(config_.encoder_stack(), /*causal=*/false, length);
  for (const ModelCost& more : {stack_cost(writes, /*causal=*/true, length), cross_cost(writes, length)}) {
    total.flops_per_token += more.flops_per_token;
    total.activation_bytes_per_token += more.activation_bytes_per_token;
  }
  total.flops_per_token += 2.0 * static_cast<double>(config_.dim) * static_cast<double>(embedding_->weight.size(0));
  return total;
}

void EncoderDecoder::recompute(const std::vector<bool>& blocks) {
  require<ConfigError>(blocks.empty() || std::ssize(blocks) == layers(), "recompute: {} flags for {} blocks",
                       blocks.size(), layers());
  const auto border = blocks.empty() ? blocks.begin() : blocks.begin() + std::ssize(encoder_->blocks());
  encoder_->recompute({blocks.begin(), border});
  decoder_->recompute({border, blocks.end()});
}

int64_t EncoderDecoder::layers() const { return std::ssize(encoder_->blocks()) + std::ssize(decoder_->blocks()); }

}  // namespace ordo
