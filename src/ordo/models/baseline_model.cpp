// SPDX-License-Identifier: Apache-2.0
#include "ordo/models/baseline_model.h"

#include <algorithm>

#include "ordo/config/config.h"

namespace ordo {

namespace {

void require_pool(const BaselineConfig& config, const ModelFacts& facts) {
  require<ConfigError>(facts.pools || config.pool == Pool::automatic,
                       "model.pool makes one vector of a whole row, but this task asks of each token: leave it out");
}

}  // namespace

void fields(Fields& f, BaselineConfig& c) {
  f("dim", c.dim, "width of the embedding and of the hidden states", required(within(1, 1 << 20)));
  f("dropout", c.dropout, "of what enters and leaves the layers", below_one());
  f("bias", c.bias, "linear layers, gates and norms have biases");
  f("input", c.input, "what makes tokens of what the task's data are");
  f("pool", c.pool, "of tasks that ask of a whole row: how its hidden states become one vector", kPools);
  f("init", c.init, "first values of the weights");
  f("tie_embeddings", c.tie_embeddings, "the head uses the embedding's weight");
  f("scale_embedding", c.scale_embedding, "multiply token embeddings by sqrt(dim)");
  f("softcap", c.softcap, "output logits become cap * tanh(logit / cap)", above(0.0));
}

void check(const BaselineConfig& c, const std::string& path, Problems& problems) {
  if (c.dim < 1) {  // of a config made in code; the reader has reported it already
    if (problems.empty()) problems.add(path, "{}.dim ({}) must be at least 1", path, c.dim);
    return;
  }
  if (c.pool == Pool::class_token)
    problems.add(path + ".pool",
                 "{}.pool: class_token is a token that attention fills from all others, and there is none here; use "
                 "mean, max or last",
                 path);
  check(c.init, path + ".init", problems);
  if (c.tie_embeddings && c.init.kind == InitKind::lecun_normal && !c.init.embedding_std)
    problems.add(path + ".init.embedding_std",
                 "{}.init.embedding_std: null gives embeddings a standard deviation of 1, far too much for a head that "
                 "shares them ({}.tie_embeddings); give a number, or tie_embeddings: false",
                 path, path);
}

BaselineModel::BaselineModel(const BaselineConfig& config, const ModelFacts& facts)
    : dim_(config.dim), pools_(facts.pools), pool_(config.pool), none_(make_position({}, {})) {
  require_pool(config, facts);
  input_ = register_module("embedding", inputs().build(config.input, {.dim = config.dim,
                                                                      .vocab_size = facts.vocab_size,
                                                                      .signal = facts.signal,
                                                                      .scaled = config.scale_embedding,
                                                                      .bias = config.bias}));
  max_length_ = tokens(std::max<int64_t>(facts.max_length, 1));
}

void BaselineModel::build_head(const BaselineConfig& config, const ModelFacts& facts,
                               std::optional<int64_t> pooled_width) {
  if (pool_ == Pool::automatic) pool_ = causal() ? Pool::last : Pool::mean;
  int64_t width = dim_;
  if (pools_) width = pooled_width.value_or(pool_ == Pool::flatten ? dim_ * max_length_ : dim_);
  if (facts.outputs > 0) {
    head_ = std::make_shared<Head>(width, facts.outputs, config.softcap, config.bias);
  } else {
    const Tensor table = input_->table();
    require<ConfigError>(table.defined(), "model.input ({}) has no token ids, and the task names nothing else to write",
                         config.input.kind);
    head_ = config.tie_embeddings ? std::make_shared<Head>(table, config.softcap)
                                  : std::make_shared<Head>(width, table.size(0), config.softcap);
  }
  register_module("head", head_);
}

// ---- passes ----

Tensor BaselineModel::through(const Embedded& in, States& states, const Draw& draw) {
  require(in.mask.prefix == 0, "a prefix is seen by all tokens through attention, which this model does not have");
  return over_documents([&](const Tensor& x, const DocumentRows* rows, States& now) { return run(x, rows, now, draw); },
                        in.x, in.mask, states);
}

Tensor BaselineModel::read(const ModelInput& in, StateCache* cache, const States& first) {
  const ModelInput all = cache != nullptr ? cache->to_read(in) : in;
  States states = cache != nullptr ? cache->states() : States{};
  if (states.empty()) states = first;
  Tensor hidden = through(input_->forward(all), states, in.draw);
  if (cache == nullptr) return hidden;
  hidden = hidden.slice(1, cache->lost());
  cache->hold(in, states);
  return hidden;
}

Tensor BaselineModel::forward(const ModelInput& in, Cache* cache) {
  auto* const held = dynamic_cast<StateCache*>(cache);
  ORDO_ASSERT(cache == nullptr || held != nullptr);
  return read(in, held);
}

Tensor BaselineModel::pooled(const ModelInput& in) {
  ORDO_ASSERT(pools_);
  const Embedded embedded = input_->forward(in);
  require(!embedded.mask.q_segment.defined(), "a row that holds several documents has no single vector");
  States states;
  return pool(through(embedded, states, in.draw), embedded.mask.keys, in.draw);
}

Tensor BaselineModel::pool(const Tensor& hidden, const Tensor& keys, const Draw& draw) {
  (void)draw;
  return ordo::pooled(hidden, keys, pool_, pool_ == Pool::flatten ? dim_ * max_length_ : 0);
}

std::optional<std::string> BaselineModel::refuses_length(int64_t length) { return input_->refuses_length(length); }

std::shared_ptr<Cache> BaselineModel::make_cache() const {
  require<ConfigError>(causal(),
                       "a model that sees both sides of a token reads a sequence as a whole, so it cannot go on token "
                       "by token; train one that reads from left to right");
  return std::make_shared<StateCache>();
}

void BaselineModel::recompute(const std::vector<bool>& blocks) {
  require<ConfigError>(
      std::find(blocks.begin(), blocks.end(), true) == blocks.end(),
      "train.recompute drops the insides of attention blocks, which this model does not have; leave it "
      "at none, or lower train.batch_size and raise train.accumulate");
}

ModelCost BaselineModel::cost(int64_t length) const {
  const auto n = static_cast<double>(tokens(length));
  ModelCost total = layers_cost(tokens(length));
  const double head = 2.0 * static_cast<double>(head_->weight().numel());
  total.flops_per_token += input_->flops_per_token() + (pools_ ? head / n : head);  // pooled: once a row
  // Whoever multiplies by a row's length counts pixels or frames where an input layer makes fewer tokens of them.
  const double share = n / static_cast<double>(length);
  total.flops_per_token *= share;
  total.activation_bytes_per_token *= share;
  return total;
}

}  // namespace ordo
