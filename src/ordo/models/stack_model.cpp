// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/stack_model.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "ordo/config/config.h"
#include "ordo/models/cost.h"
#include "ordo/models/token_input.h"

namespace ordo {

namespace {

StackModelConfig checked(const StackModelConfig& config, const ModelFacts& facts, bool causal) {
  Problems problems;
  check(config, "model", problems);
  if (causal && config.pool == Pool::class_token)
    problems.add(
        "model.pool",
        "model.pool: class_token stands in front of a row, where a causal model has seen nothing yet; use last "
        "or mean");
  if (!facts.pools && (config.pool != Pool::automatic || config.pooler))
    problems.add(config.pooler ? "model.pooler" : "model.pool",
                 "{} makes one vector of a whole row, but this task asks of each token: leave it out",
                 config.pooler ? "model.pooler" : "model.pool");
  if (config.token_types > 0 && facts.signal.defined())
    problems.add("model.token_types",
                 "model.token_types ({}) marks which of several texts a token is of, and the data of this task are {}: "
                 "leave it out",
                 config.token_types, facts.signal.image() ? "images" : "frames of numbers");
  problems.throw_if_any();
  return config;
}

// Coordinates are for encodings that read them; others count.
void fit_coordinates(Positions& at, PositionEncoding& position) {
  if (!at.coords.defined()) return;
  for (PositionEncoding* const part : position.parts())
    if (part->traits().takes_axes == at.coords.size(2)) return;
  at.coords = Tensor();
}

}  // namespace

void fields(Fields& f, StackModelConfig& c) {
  fields(f, static_cast<StackConfig&>(c));
  f("input", c.input, "what makes tokens of what the task's data are");
  f("pool", c.pool, "of tasks that ask of a whole row: how its hidden states become one vector", kPools);
  f("pooler", c.pooler, "a linear layer and tanh behind the pooled vector, as in BERT");
  f("token_types", c.token_types, "learned marks of which of several texts a token is of; 0: none", within(0, 1 << 20));
}

StackModel::StackModel(const std::string& name, const StackModelConfig& config, const ModelFacts& facts, bool causal,
                       int64_t memory)
    : config_(checked(config, facts, causal)), causal_(causal), pools_(facts.pools), memory_(memory) {
  if (config_.pool == Pool::automatic) config_.pool = causal ? Pool::last : Pool::mean;
  input_ = register_module("embedding", inputs().build(config_.input, {.dim = config_.dim,
                                                                       .vocab_size = facts.vocab_size,
                                                                       .signal = facts.signal,
                                                                       .scaled = config_.scale_embedding,
                                                                       .bias = config_.bias}));
  if (config_.token_types > 0)
    token_types_ = register_module("token_types", std::make_shared<Embedding>(config_.token_types, config_.dim));
  if (pools_ && config_.pool == Pool::class_token)
    class_token_ = register_parameter("class_token", at::zeros({config_.dim}));
  // A length that the config gives counts tokens already; a row's counts pixels, frames or steps.
  const bool counted = config_.max_length > 0 || facts.trained_length == 0;
  const int64_t trained = counted ? facts.trained_length : tokens(facts.trained_length);
  ModelFacts read = facts;
  read.max_length = tokens(facts.max_length);
  complete(config_, read);
  stack_ = register_module(name, std::make_shared<Stack>(config_, causal, trained));
  if (memory_ > 0) check_memory(facts);
  build_head(facts);
  initialise(*this, facts.seed, config_.init, config_.layers);
}

void StackModel::build_head(const ModelFacts& facts) {
  int64_t width = config_.dim;
  if (pools_ && config_.pool == Pool::flatten) width *= tokens(facts.max_length);
  pooled_width_ = width;
  if (config_.pooler)
    pooler_ = register_module("pooler", std::make_shared<Linear>(width, width, Linear::Options{.bias = config_.bias}));
  head_ = register_module("head", facts.outputs > 0
                                      ? std::make_shared<Head>(width, facts.outputs, config_.softcap, config_.bias)
                                      : make_head(config_, input_->table()));
}

void StackModel::reset(const Initialiser& init, const std::string& path) {
  if (class_token_.defined()) init.normal(class_token_, parameter_name(path, "class_token"), init.embedding_std());
}

Embedded StackModel::read(const ModelInput& in) const {
  Embedded read = input_->forward(in);
  if (token_types_) {
    const Tensor types = in.types.defined() ? in.types : at::zeros_like(in.ids);
    if (types.is_cpu() && types.numel() > 0) {
      const auto last = types.max().item<int64_t>();
      require<ConfigError>(last < config_.token_types,
                           "model.token_types ({}) marks fewer texts than a row of this task has ({}): raise it, or "
                           "give 0",
                           config_.token_types, last + 1);
    }
    read.x = read.x + token_types_->forward(types);
  }
  if (class_token_.defined()) put_class_token(read);
  fit_coordinates(read.at, stack_->position());
  return read;
}

// At position 0; all others move on by one. Its coordinates are those of the first token.
void StackModel::put_class_token(Embedded& read) const {
  require(!read.mask.q_segment.defined(), "a class token stands in front of a row, which packed rows have several of");
  const int64_t B = read.x.size(0);
  read.x = at::cat({class_token_.to(read.x.scalar_type()).expand({B, 1, config_.dim}), read.x}, 1);
  read.at.index = at::constant_pad_nd(read.at.index + 1, {1, 0});
  if (read.at.coords.defined()) read.at.coords = at::cat({read.at.coords.slice(1, 0, 1), read.at.coords}, 1);
  if (read.mask.keys.defined()) read.mask.keys = at::constant_pad_nd(read.mask.keys, {1, 0}, true);
}

Tensor StackModel::run(const Embedded& read, const ModelInput& in, Cache* cache) {
  auto* const kv = dynamic_cast<KVCache*>(cache);
  ORDO_ASSERT(cache == nullptr || kv != nullptr);
  Context c{.at = read.at, .mask = read.mask, .draw = in.draw, .cache = kv, .probe = in.probe};
  if (in.memory != nullptr && memory_ > 0) go_on(c, *in.memory, read.x.size(0));
  check_reach(position(), c.at, read.x.size(1) + c.mask.offset + (kv != nullptr ? kv->size() : 0));
  return stack_->forward(read.x, c);
}

// A segment's tokens count on from those that stand before it.
void StackModel::go_on(Context& c, SegmentMemory& segments, int64_t rows) const {
  require(c.cache == nullptr, "a cache holds all that stands before: it takes no memory of segments beside it");
  require<ConfigError>(c.at.start && c.mask.positional(),
                       "model.memory ({}) goes on from one segment to the next, so rows can have no padding and no "
                       "border between two texts in them",
                       memory_);
  c.segments = &segments;
  c.kept_tokens = memory_;
  if (segments.hidden.empty()) return;
  const auto [B, M, D] = sizes<3>(segments.hidden[0], "memory [B, M, D]");
  require(std::ssize(segments.hidden) == layers() && B == rows && D == dim(),
          "a memory of {} blocks of [{}, {}, {}] does not fit {} rows of a model of {} blocks and width {}",
          segments.hidden.size(), B, M, D, rows, layers(), dim());
  c.at = consecutive(M + *c.at.start, c.at.length(), c.at.index.device());
  c.mask.offset = M;
}

// What is remembered stands where no table and no input layer counts: only distances may matter.
void StackModel::check_memory(const ModelFacts& facts) {
  const auto parts = position().parts();
  for (size_t i = 0; i < config_.position.size(); ++i) {
    const PositionTraits traits = parts.at(i)->traits();
    const Places places = traits.places;
    if (traits.relative && !places.input && !places.positions) continue;
    refuse_at(config_.position[i].source,
              fmt::format("model.memory ({}) needs an encoding that looks at distances between tokens alone, as "
                          "transformer_xl, rope, alibi and t5_bias do, or none; {} does not",
                          memory_, config_.position[i].kind));
  }
  const auto refused = position().refuses_length(tokens(facts.max_length) + memory_);
  require<ConfigError>(!refused, "model.memory ({}) stands before train.length ({}): {}", memory_, facts.max_length,
                       refused.value_or(""));
}

Tensor StackModel::forward(const ModelInput& in, Cache* cache) { return run(read(in), in, cache); }

Tensor StackModel::pooled(const ModelInput& in) {
  ORDO_ASSERT(pools_);
  const Embedded tokens = read(in);
  const Tensor row = ordo::pooled(run(tokens, in, nullptr), tokens.mask.keys, config_.pool, pooled_width_);
  return pooler_ ? pooler_->forward(row).tanh() : row;
}

std::optional<std::string> StackModel::refuses_length(int64_t length) {
  if (auto refused = input_->refuses_length(length)) return refused;
  return position().refuses_length(tokens(length));
}

ModelCost StackModel::cost(int64_t length) const {
  const int64_t n = tokens(length);
  ModelCost total = stack_cost(config_, causal_, n, memory_);
  double head = 2.0 * static_cast<double>(head_->weight().numel());
  if (pools_) head /= static_cast<double>(n);  // once a row
  total.flops_per_token += head + input_->flops_per_token();
  // Whoever multiplies by a row's length counts pixels or frames where an input layer makes fewer tokens of them.
  const double share = static_cast<double>(n) / static_cast<double>(length);
  total.flops_per_token *= share;
  total.activation_bytes_per_token *= share;
  return total;
}

}  // namespace ordo
