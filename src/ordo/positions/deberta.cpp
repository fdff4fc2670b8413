// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/deberta.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

namespace ordo {

namespace {
constexpr NamedValue kDebertaTerms[] = {{"c2p", static_cast<int>(Deberta::Term::c2p)},
                                        {"p2c", static_cast<int>(Deberta::Term::p2c)}};
constexpr NamedValue kDebertaNorms[] = {{"none", static_cast<int>(Deberta::TableNorm::none)},
                                        {"layer_norm", static_cast<int>(Deberta::TableNorm::layer_norm)}};
constexpr double kDebertaEps = 1e-7;  // of its layer norms

bool deberta_has(const Deberta::Config& c, Deberta::Term term) {
  return std::find(c.pos_att_type.begin(), c.pos_att_type.end(), term) != c.pos_att_type.end();
}

Deberta::Config deberta_resolved(Deberta::Config c, const PositionFacts& facts) {
  const auto c2p = std::count(c.pos_att_type.begin(), c.pos_att_type.end(), Deberta::Term::c2p);
  const auto p2c = std::count(c.pos_att_type.begin(), c.pos_att_type.end(), Deberta::Term::p2c);
  require<ConfigError>(!c.pos_att_type.empty() && c2p <= 1 && p2c <= 1,
                       "deberta: pos_att_type takes c2p, p2c or both, each once; found {} entries; name one or both, "
                       "or leave it out for both",
                       c.pos_att_type.size());
  if (c.max_relative_positions == 0) c.max_relative_positions = facts.max_length;
  require<ConfigError>(c.max_relative_positions > 0,
                       "deberta: max_relative_positions is 0 and the model has no max_length; give one of them");
  c.position_buckets = std::max<int64_t>(c.position_buckets, 0);
  require<ConfigError>(c.position_buckets != 1, "deberta: position_buckets: 1 holds no distance; use 2 or more, or 0");
  require<ConfigError>(
      c.position_buckets == 0 || c.max_relative_positions - 1 > c.position_buckets / 2,
      "deberta: position_buckets ({}) widen beyond {} and must end before max_relative_positions ({}); "
      "use fewer buckets, or 0 for none",
      c.position_buckets, c.position_buckets / 2, c.max_relative_positions);
  return c;
}
}  // namespace

void fields(Fields& f, Deberta::Config& c) {
  f("pos_att_type", c.pos_att_type, "which products a score gains: content to position, position to content",
    kDebertaTerms);
  f("position_buckets", c.position_buckets, "buckets on each side, wider with the distance; 0 or -1: none",
    within(-1, 1 << 20));
  f("max_relative_positions", c.max_relative_positions,
    "distances beyond share a row (with buckets: the last bucket's end); 0: the model's max_length",
    within(0, 1 << 20));
  f("share_att_key", c.share_att_key, "project the table with the layer's own q and k, instead of projections apart");
  f("norm_rel_ebd", c.norm_rel_ebd, "the table is layer-normed before it is used (v3), or not", kDebertaNorms);
}

Deberta::Deberta(const Config& config, const PositionFacts& facts)
    : config_(deberta_resolved(config, facts)),
      heads_(facts.heads),
      head_dim_(facts.head_dim),
      span_(config_.position_buckets > 0 ? config_.position_buckets : config_.max_relative_positions),
      shrink_(1.0 / std::sqrt(1.0 + static_cast<double>(config_.pos_att_type.size()))) {
  weight_ = register_parameter("weight", at::zeros({2 * span_, facts.dim}));
  if (config_.norm_rel_ebd == TableNorm::layer_norm) {
    norm_scale_ = register_parameter("norm_weight", at::ones({facts.dim}));
    shift_ = register_parameter("norm_bias", at::zeros({facts.dim}));
  }
  if (deberta_has(config_, Term::c2p)) project(key_, "pos_key", facts);
  if (deberta_has(config_, Term::p2c)) project(query_, "pos_query", facts);
}

void Deberta::project(Projection& p, const char* name, const PositionFacts& facts) {
  p.shared.resize(static_cast<size_t>(facts.layers), nullptr);
  if (config_.share_att_key) return;
  const std::string path = name;
  p.weight = register_parameter(path + "_weight", at::zeros({facts.layers, heads_ * head_dim_, facts.dim}));
  p.bias = register_parameter(path + "_bias", at::zeros({facts.layers, heads_ * head_dim_}));
}

void Deberta::attach(int64_t layer, const Linear& q, const Linear& k) {
  const auto place = static_cast<size_t>(layer);
  if (place < key_.shared.size()) key_.shared[place] = &k;
  if (place < query_.shared.size()) query_.shared[place] = &q;
}

Tensor Deberta::query(const Tensor& q, const Positions& at, int64_t layer) {
  (void)at, (void)layer;
  return q * shrink_;
}

Tensor Deberta::bucket(const Tensor& distance, int64_t buckets, int64_t longest) {
  const int64_t mid = buckets / 2;
  const Tensor size = distance.abs();
  const auto single = distance.options().dtype(at::kFloat);  // as checkpoints were trained: fp32 decides at the borders
  const Tensor end = at::scalar_tensor(static_cast<double>(longest - 1) / static_cast<double>(mid), single).log();
  const Tensor far = (size.clamp_min(mid).to(at::kFloat) / mid).log() / end * (mid - 1);
  const Tensor beyond = (far.ceil() + mid).to(at::kLong) * distance.sign();
  return at::where(size.le(mid), distance, beyond);
}

Tensor Deberta::table() const {
  return norm_scale_.defined() ? at::layer_norm(weight_, {weight_.size(1)}, norm_scale_, shift_, kDebertaEps) : weight_;
}

Tensor Deberta::projected(const Tensor& table, const Projection& p, int64_t layer) const {
  Tensor rows;
  if (config_.share_att_key) {
    const Linear* own = p.shared.at(static_cast<size_t>(layer));
    require<ConfigError>(own != nullptr, "deberta: share_att_key projects with layer {}'s q and k, and it gave none",
                         layer);
    rows = own->forward(table);
  } else {
    rows = at::linear(table, p.weight.select(0, layer), p.bias.select(0, layer));
  }
  const Tensor by_head = rows.view({1, rows.size(0), -1, head_dim_}).transpose(1, 2);  // [1, H|G, R, E]
  return repeat_groups(by_head, heads_).squeeze(0);
}

std::shared_ptr<const ScoreBias> Deberta::scores(const AttentionPass& pass) {
  refuse_coords(pass, kKind);
  const Tensor rows = table();
  ContentForm tables;
  if (!key_.shared.empty()) tables.queries = projected(rows, key_, pass.layer);
  if (!query_.shared.empty()) tables.keys = projected(rows, query_, pass.layer) * shrink_;
  const auto row = [buckets = config_.position_buckets, longest = config_.max_relative_positions,
                    span = span_](const Tensor& offset) {
    const Tensor distance = -offset;
    return ((buckets > 0 ? bucket(distance, buckets, longest) : distance) + span).clamp(0, 2 * span - 1);
  };
  return std::make_shared<ContentBias>(pass, tables, row);
}

void Deberta::reset(const Initialiser& init, const std::string& path) {
  init.normal(weight_, parameter_name(path, "weight"), init.std(/*inputs=*/1));  // a row is looked up
  if (norm_scale_.defined()) {
    norm_scale_.fill_(1.0);
    shift_.zero_();
  }
  const auto draw = [&](const Projection& p, const char* name) {
    if (!p.weight.defined()) return;
    init.normal(p.weight, parameter_name(path, name), init.std(p.weight.size(-1)));
    p.bias.zero_();
  };
  draw(key_, "pos_key_weight");
  draw(query_, "pos_query_weight");
}

}  // namespace ordo
