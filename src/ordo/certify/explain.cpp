// SPDX-License-Identifier: Apache-2.0
#include "ordo/certify/explain.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ordo/certify/subject.h"
#include "ordo/positions/parts.h"

namespace ordo {

const std::array<WorkedWord, 3> kWorkedWords{{{"cat", "猫", {1.0, 0.5, 0.0, 1.0}},
                                              {"chases", "追", {0.0, 1.0, 1.0, 0.5}},
                                              {"mouse", "老鼠", {0.5, -0.5, 1.0, 1.0}}}};

std::vector<int64_t> worked_channels(int64_t head_dim) {
  const int64_t half = std::max<int64_t>(head_dim / 2, 2);
  std::vector<int64_t> channels{0, 1, half, half + 1};
  std::erase_if(channels, [&](int64_t c) { return c >= head_dim; });
  return channels;
}

namespace {

constexpr int64_t kWords = 3, kNumbers = 4;

// An encoding as the model has it, for the words' vectors.
class OneHead {
 public:
  OneHead(const std::vector<Choice<PositionEncoding>>& position, const PositionFacts& facts,
          std::optional<int64_t> layer)
      : facts_(facts) {
    position_ = make_position(position, facts);
    parts_ = parts_of(position, position_);
    layer_ = layer.value_or(first_acting_layer(parts_, facts.layers));
    initialise(*position_, /*seed=*/1, InitConfig{.std = 0.5}, facts.layers);
    stir_zeros(*position_);
    position_->to(at::kDouble);
    position_->eval();
    acting_ = acting_in(parts_, layer_).empty() ? make_position({}, facts) : position_;
    const auto same = [&](int64_t heads) {
      auto linear = std::make_shared<Linear>(facts.dim, heads * facts.head_dim, Linear::Options{.bias = false});
      const at::NoGradGuard no_grad;
      linear->weight.copy_(at::eye(heads * facts.head_dim, facts.dim, at::kFloat));
      linear->to(at::kDouble);
      return linear;
    };
    q_ = same(facts.heads);
    k_ = same(facts.kv_heads);
    acting_->attach(layer_, *q_, *k_);
  }
  const PositionFacts& facts() const { return facts_; }
  const std::vector<PositionPart>& parts() const { return parts_; }
  int64_t layer() const { return layer_; }

  WorkedOrder work(const std::vector<size_t>& words, bool causal) const {
    const at::NoGradGuard no_grad;
    const Mask mask{.causal = causal};
    const Positions at = position_->place(consecutive(0, kWords, at::kCPU), 1, {});
    const Tensor x = position_->input(embedded(words), at);
    const double scale = 1.0 / std::sqrt(static_cast<double>(facts_.head_dim));
    const Tensor queries = heads_of(x, facts_.heads), keys = heads_of(x, facts_.kv_heads);
    const Tensor q = acting_->query(queries, at, layer_);
    const Tensor k = repeat_groups(acting_->key(keys, at, layer_), facts_.heads);
    const Tensor v = repeat_groups(acting_->value(keys, at, layer_), facts_.heads);
    const AttentionPass pass{layer_, at, at, scale, x, acting_->keep(x, at, layer_), mask};
    const Tile all{0, kWords, 0, kWords};
    const Tensor scores = at::matmul(q, k.transpose(-1, -2));
    const auto bias = acting_->scores(pass);
    const Tensor added = (bias ? bias->tile(all, q, k) : at::zeros({1}, at::kDouble)).expand_as(scores);
    const Tensor hidden = mask.tile(all, at::kCPU).logical_not();
    const Tensor weights =
        at::softmax((scores * scale + added).masked_fill(hidden, -std::numeric_limits<double>::infinity()), -1);
    Tensor outputs = at::matmul(weights, v);
    if (const auto term = acting_->values(pass)) outputs = outputs + term->tile(all, weights);
    return {.words = words,
            .inputs = rows(x.slice(2, 0, facts_.head_dim)),
            .queries = rows(q),
            .keys = rows(k),
            .values = rows(v),
            .scores = rows(scores),
            .scaled = rows(scores * scale),
            .bias = bias ? rows(added.masked_fill(hidden, 0.0)) : Rows64(),
            .weights = rows(weights),
            .outputs = rows(outputs)};
  }

 private:
  // The four numbers of each word in every head.
  Tensor embedded(const std::vector<size_t>& words) const {
    Tensor x = at::zeros({1, kWords, facts_.dim}, at::kDouble);
    const auto channels = worked_channels(facts_.head_dim);
    for (int64_t t = 0; t < kWords; ++t)
      for (int64_t h = 0; h < facts_.heads; ++h)
        for (size_t c = 0; c < channels.size(); ++c)
          x[0][t][h * facts_.head_dim + channels[c]].fill_(kWorkedWords.at(words[static_cast<size_t>(t)]).vector.at(c));
    return x;
  }
  Tensor heads_of(const Tensor& x, int64_t heads) const {
    return x.slice(2, 0, heads * facts_.head_dim).view({1, kWords, heads, facts_.head_dim}).transpose(1, 2);
  }
  // The last two dimensions of the first row and head.
  static Rows64 rows(const Tensor& t) {
    Tensor plain = t;
    while (plain.dim() > 2) plain = plain[0];
    plain = plain.contiguous();
    Rows64 all;
    for (int64_t i = 0; i < plain.size(0); ++i) {
      const double* first = plain[i].const_data_ptr<double>();
      all.emplace_back(first, first + plain.size(1));
    }
    return all;
  }

  PositionFacts facts_;
  std::shared_ptr<PositionEncoding> position_, acting_;  // acting_: in the layer; none where nothing does
  std::vector<PositionPart> parts_;
  std::shared_ptr<Linear> q_, k_;
  int64_t layer_ = 0;
};

double farthest(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0.0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

WorkedPass work_both(const OneHead& head, bool causal) {
  WorkedPass pass{.causal = causal, .orders = {head.work({0, 1, 2}, causal), head.work({2, 1, 0}, causal)}};
  for (size_t t = 0; t < 3; ++t)  // the word at place t of the one order stands at 2 - t of the other
    pass.difference = std::max(pass.difference, farthest(pass.orders[0].outputs[t], pass.orders[1].outputs[2 - t]));
  return pass;
}

std::vector<double> softmax_of(std::vector<double> values) {
  const double most = *std::max_element(values.begin(), values.end());
  double sum = 0.0;
  for (double& v : values) sum += v = std::exp(v - most);
  for (double& v : values) v /= sum;
  return values;
}

// Vectors whose numbers spread like draws of variance 1: q √2·sin((w+1)(c+1)²), k √2·cos((w+2)(c+1)²).
WorkedWidth at_width(int64_t width) {
  WorkedWidth made{.width = width};
  for (int w = 0; w < kWords; ++w) {
    double score = 0.0;
    for (int64_t c = 0; c < width; ++c) {
      const auto square = static_cast<double>((c + 1) * (c + 1));
      score += 2.0 * std::sin(square) * std::cos((w + 2) * square);
    }
    made.scores.push_back(score);
  }
  std::vector<double> scaled;
  for (const double s : made.scores) scaled.push_back(s / std::sqrt(static_cast<double>(width)));
  made.unscaled = softmax_of(made.scores);
  made.scaled = softmax_of(scaled);
  return made;
}

OneHead smallest_head(const std::vector<Choice<PositionEncoding>>& position, const PositionFacts& facts,
                      std::optional<int64_t> layer) {
  require<ConfigError>(!layer || (*layer >= 0 && *layer < facts.layers), "--layer {}: the model has the layers 0 to {}",
                       layer.value_or(0), facts.layers - 1);
  PositionFacts one = facts;
  one.dim = one.head_dim = kNumbers;
  one.heads = one.kv_heads = 1;
  one.scale = 0.0;
  try {
    return {position, one, layer};
  } catch (const Error&) {  // made for other widths (sections of channels, factors of each pair …)
    PositionFacts own = facts;
    own.dim = own.heads * own.head_dim;
    own.scale = 0.0;
    return {position, own, layer};
  }
}

}  // namespace

WorkedExample worked_example(const std::vector<Choice<PositionEncoding>>& position, const PositionFacts& facts,
                             std::optional<int64_t> layer) {
  const OneHead with = smallest_head(position, facts, layer), without({}, with.facts(), 0);
  const auto acting = acting_in(with.parts(), with.layer());
  WorkedExample example{.encoding = kinds_text(acting, " + "),
                        .title = titles_text(acting),
                        .layer = with.layer(),
                        .layer_note = layer_text(with.parts(), with.layer(), facts.layers, "--layer"),
                        .head_dim = with.facts().head_dim,
                        .plain = work_both(without, false),
                        .encoded = work_both(with, facts.causal)};
  const WorkedPass masked = work_both(without, facts.causal);
  if (facts.causal) example.mask_alone = masked.difference;
  for (size_t order = 0; order < 2; ++order)
    for (size_t t = 0; t < 3; ++t)
      example.encoding_alone = std::max(
          example.encoding_alone, farthest(example.encoded.orders[order].outputs[t], masked.orders[order].outputs[t]));
  for (const int64_t width : {4, 16, 64, 256, 1024}) example.widths.push_back(at_width(width));
  return example;
}

WorkedExample worked_example(const Choice<Model>& model, const ModelFacts& facts, std::optional<int64_t> layer) {
  const StackConfig stack = stack_of(model, facts);
  return worked_example(stack.position, position_facts(stack, !two_sided(model), facts.trained_length), layer);
}

}  // namespace ordo
