// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/recurrent.h"

#include "ordo/config/config.h"

namespace ordo {

namespace {

constexpr int64_t kSourceParts = 3;  // outputs, their scored form, keys; behind them the last states

RecurrentConfig checked_recurrent(const RecurrentConfig& config) {
  Problems problems;
  check(config, "model", problems);
  problems.throw_if_any();
  return config;
}

RecurrentStackConfig recurrent_stack(RecurrentCell cell, const RecurrentConfig& c, bool bidirectional) {
  return {.cell = cell,
          .dim = c.dim,
          .layers = c.layers,
          .bidirectional = bidirectional,
          .bias = c.bias,
          .dropout = c.dropout};
}

// Of a token in all layers: products of the gates; and in fp32 what backward reads, inputs, gates and states.
ModelCost recurrent_cost(RecurrentCell cell, const RecurrentConfig& c, bool bidirectional) {
  const double gates = cell == RecurrentCell::lstm ? 4.0 : 3.0, layers = static_cast<double>(c.layers);
  const auto D = static_cast<double>(c.dim);
  const double H = bidirectional ? D / 2.0 : D;
  constexpr double kBytes = 4.0, kStates = 2.0;
  return {.flops_per_token = layers * 2.0 * gates * D * (D + H),  // D: H numbers of each direction
          .activation_bytes_per_token = layers * kBytes * D * (1.0 + gates + kStates)};
}

}  // namespace

void fields(Fields& f, RecurrentConfig& c) {
  fields(f, static_cast<BaselineConfig&>(c));
  f("layers", c.layers, "number of layers; of an encoder-decoder of each side", required(within(1, 10000)));
  f("bidirectional", c.bidirectional, "each layer reads both ways, with half its width each: it sees both sides");
  f("cross_attention", c.cross_attention,
    "an encoder-decoder: how the decoder weighs the source, by an additive or a multiplicative score", kSourceScores);
}

void fields(Fields& f, Lstm::Config& c) { fields(f, static_cast<RecurrentConfig&>(c)); }
void fields(Fields& f, Gru::Config& c) { fields(f, static_cast<RecurrentConfig&>(c)); }

void check(const RecurrentConfig& c, const std::string& path, Problems& problems) {
  check(static_cast<const BaselineConfig&>(c), path, problems);
  const bool pair = c.cross_attention != SourceScore::none;
  if (c.layers < 1 && problems.empty()) problems.add(path, "{}.layers ({}) must be at least 1", path, c.layers);
  if ((c.bidirectional || pair) && c.dim % 2 != 0)
    problems.add(path + ".dim", "{}.dim ({}) is shared by two directions ({}), so it must be even; make it {} or {}",
                 path, c.dim, pair ? path + ".cross_attention: the encoder reads both ways" : path + ".bidirectional",
                 c.dim - 1, c.dim + 1);
  if (!pair) return;
  if (c.bidirectional)
    problems.add(path + ".bidirectional",
                 "{0}.bidirectional and {0}.cross_attention contradict: of an encoder-decoder the encoder always reads "
                 "both ways and the decoder never; leave {0}.bidirectional out",
                 path);
  if (c.pool != Pool::automatic)
    problems.add(path + ".pool",
                 "{0}.pool and {0}.cross_attention contradict: an encoder-decoder writes tokens and makes no vector of "
                 "a whole row; leave one of them out",
                 path);
  if (c.input.kind != TokenInput::kKind)
    problems.add(path + ".input", "{0}.cross_attention reads and writes token ids: {0}.input must be {1}, found {2}",
                 path, TokenInput::kKind, c.input.kind);
}

RecurrentModel::RecurrentModel(RecurrentCell cell, const RecurrentConfig& config, const ModelFacts& facts)
    : BaselineModel(checked_recurrent(config), facts), cell_(cell), config_(config) {
  const bool pair = config.cross_attention != SourceScore::none;
  if (pair) build_encoder(facts);
  const char* const name = pair ? "decoder" : cell == RecurrentCell::lstm ? "lstm" : "gru";
  stack_ = register_module(name, std::make_shared<RecurrentStack>(recurrent_stack(cell, config, config.bidirectional)));
  build_head(config, facts);
  initialise(*this, facts.seed, config.init, layers());
}

void RecurrentModel::build_encoder(const ModelFacts& facts) {
  if (facts.source_vocab_size > 0)
    source_embedding_ =
        register_module("source_embedding",
                        std::make_shared<TokenInput>(facts.source_vocab_size, config_.dim, config_.scale_embedding));
  encoder_ = register_module("encoder",
                             std::make_shared<RecurrentStack>(recurrent_stack(cell_, config_, /*bidirectional=*/true)));
  attention_ = register_module("attention",
                               std::make_shared<SourceAttention>(config_.cross_attention, config_.dim, config_.bias));
  dropout_ = register_module("dropout", std::make_shared<Dropout>(config_.dropout));
}

Tensor RecurrentModel::run(const Tensor& x, const DocumentRows* rows, States& states, const Draw& draw) {
  return stack_->forward(x, rows, states, draw);
}

States RecurrentModel::encode(const EncoderInput& source, const Draw& draw) {
  const Mask mask{.keys = source.keys};
  auto& embedding = source_embedding_ ? *source_embedding_ : dynamic_cast<TokenInput&>(input());
  States last;
  const Tensor hidden = over_documents([&](const Tensor& x, const DocumentRows* rows,
                                           States& states) { return encoder_->forward(x, rows, states, draw); },
                                       embedding.embed(source.ids, source.at, mask), mask, last);
  const Tensor each = source.keys.defined() ? source.keys.expand(source.ids.sizes()) : source.keys;
  const auto [outputs, scored, keys] = attention_->source(hidden, each);
  States made{outputs, scored, keys};
  made.insert(made.end(), last.begin(), last.end());
  return made;
}

Tensor RecurrentModel::forward(const ModelInput& in, Cache* cache) {
  if (!reads_source()) return BaselineModel::forward(in, cache);
  auto* const held = dynamic_cast<StateCache*>(cache);
  ORDO_ASSERT(cache == nullptr || held != nullptr);
  States source = held != nullptr ? held->source : States{};
  if (source.empty()) {
    require(in.source.defined(), "an encoder-decoder reads a source, but none was given");
    require(in.source.ids.size(0) == in.ids.size(0), "{} rows of a source do not fit {} rows to write",
            in.source.ids.size(0), in.ids.size(0));
    source = encode(in.source, in.draw);
    if (held != nullptr) held->source = source;
  }
  const Tensor h = read(in, held, {source.begin() + kSourceParts, source.end()});
  return dropout_->forward(attention_->forward(h, {.hidden = source[0], .scored = source[1], .keys = source[2]}),
                           in.draw);
}

Tensor RecurrentModel::pooled(const ModelInput& in) {
  require<ConfigError>(!reads_source(),
                       "model.cross_attention makes an encoder-decoder, which writes tokens and has no vector of a "
                       "whole row, which classes and values are read from; leave it out");
  return BaselineModel::pooled(in);
}

ModelCost RecurrentModel::layers_cost(int64_t tokens) const {
  ModelCost total = recurrent_cost(cell_, config_, config_.bidirectional);
  if (!reads_source()) return total;
  const ModelCost reads = recurrent_cost(cell_, config_, /*bidirectional=*/true);
  total.flops_per_token += reads.flops_per_token + attention_->flops(tokens);
  total.activation_bytes_per_token += reads.activation_bytes_per_token + attention_->activation_bytes(tokens);
  return total;
}

}  // namespace ordo
