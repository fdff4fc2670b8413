// SPDX-License-Identifier: Apache-2.0
#include "support/small_encodings.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/log_sigmoid.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "ordo/ops/autocast.h"

namespace ordo::test {

namespace {
// key - query, clipped to [-reach, reach] and counted from 0: int64 [B|1, q, k].
Tensor clipped_offsets(const Positions& q, const Positions& k, const Tile& t, int64_t reach) {
  const Tensor rows = q.slice(t.q0, t.q1).index, columns = k.slice(t.k0, t.k1).index;
  return (columns.unsqueeze(1) - rows.unsqueeze(2)).clamp(-reach, reach) + reach;
}

// The rows of `table` [2 reach + 1, E] at each offset of consecutive queries and keys, [1, Lq+Lk-1, E]; nothing for
// other positions.
std::optional<Tensor> over_offsets(const AttentionPass& pass, const Tensor& table, int64_t reach) {
  if (!pass.q.start || !pass.k.start) return std::nullopt;
  const int64_t apart = *pass.k.start - *pass.q.start;
  const Tensor offset = at::arange(apart - pass.q.length() + 1, apart + pass.k.length());
  return table.index_select(0, offset.clamp(-reach, reach) + reach).unsqueeze(0);
}

struct TableBias final : OffsetBias {
  TableBias(const AttentionPass& pass, const Tensor& table) : OffsetBias(pass, {table}), table_(table) {}
  Tensor at(const Tensor& offset) const override {
    constexpr int64_t kReach = OffsetTable::kReach;
    const Tensor column = (offset.clamp(-kReach, kReach) + kReach).squeeze(1);  // [B|1, q, k]
    return table_.index_select(1, column.flatten())
        .view({table_.size(0), column.size(0), column.size(1), column.size(2)})
        .transpose(0, 1);
  }
  Tensor table_;
};

struct ContentBias final : ScoreBias {
  ContentBias(const AttentionPass& p, Tensor t) : pass(p), table(std::move(t)) {}
  Tensor tile(const Tile& t, const Tensor& q, const Tensor& k) const override {
    (void)k;
    const Tensor all = at::matmul(q, table.t().to(q.scalar_type())) * pass.scale;  // [B, H, q, 2 reach + 1]
    const Tensor column =
        clipped_offsets(pass.q, pass.k, t, ContentTable::kReach).unsqueeze(1).expand({q.size(0), q.size(1), -1, -1});
    return all.gather(3, column);
  }
  std::optional<ContentForm> by_content() const override {
    const auto queries = over_offsets(pass, table, ContentTable::kReach);
    return queries ? std::optional<ContentForm>({.queries = *queries}) : std::nullopt;
  }
  std::vector<Tensor> inputs() const override { return {table}; }
  bool reads_content() const override { return true; }
  AttentionPass pass;
  Tensor table;
};

struct ContentTerm final : ValueTerm {
  ContentTerm(const AttentionPass& p, Tensor t) : pass(p), table(std::move(t)) {}
  Tensor tile(const Tile& t, const Tensor& weights) const override {
    const int64_t B = weights.size(0), H = weights.size(1), rows = weights.size(2);
    const Tensor column = clipped_offsets(pass.q, pass.k, t, ContentTable::kReach).unsqueeze(1).expand({B, H, -1, -1});
    const Tensor sums = at::zeros({B, H, rows, table.size(0)}, weights.options()).scatter_add(3, column, weights);
    return at::matmul(sums, table.to(weights.scalar_type()));
  }
  std::optional<Tensor> by_offset() const override { return over_offsets(pass, table, ContentTable::kReach); }
  std::vector<Tensor> inputs() const override { return {table}; }
  AttentionPass pass;
  Tensor table;
};

struct GateBias final : ScoreBias {
  // sums [B, H, Lk]: ln f summed up to and including each key; the queries are the last keys.
  GateBias(Tensor s, int64_t f) : sums(std::move(s)), first(f) {}
  Tensor tile(const Tile& t, const Tensor& q, const Tensor& k) const override {
    (void)q, (void)k;
    return sums.slice(2, first + t.q0, first + t.q1).unsqueeze(3) - sums.slice(2, t.k0, t.k1).unsqueeze(2);
  }
  std::optional<Tensor> by_key() const override { return -sums.unsqueeze(2); }
  std::vector<Tensor> inputs() const override { return {sums}; }
  Tensor sums;
  int64_t first;  // the column of query 0
};
}  // namespace

OffsetTable::OffsetTable(const Config&, const PositionFacts& facts) {
  table_ = register_parameter("table", at::zeros({facts.heads, 2 * kReach + 1}));
}
std::shared_ptr<const ScoreBias> OffsetTable::scores(const AttentionPass& pass) {
  return std::make_shared<TableBias>(pass, table_);
}
void OffsetTable::reset(const Initialiser& init, const std::string& path) {
  init.normal(table_, parameter_name(path, "table"), 0.5);
}

ContentTable::ContentTable(const Config&, const PositionFacts& facts) {
  keys_ = register_parameter("keys", at::zeros({facts.layers, 2 * kReach + 1, facts.head_dim}));
  values_ = register_parameter("values", at::zeros({facts.layers, 2 * kReach + 1, facts.head_dim}));
}
std::shared_ptr<const ScoreBias> ContentTable::scores(const AttentionPass& pass) {
  return std::make_shared<ContentBias>(pass, keys_.select(0, pass.layer));
}
std::shared_ptr<const ValueTerm> ContentTable::values(const AttentionPass& pass) {
  return std::make_shared<ContentTerm>(pass, values_.select(0, pass.layer));
}
void ContentTable::reset(const Initialiser& init, const std::string& path) {
  init.normal(keys_, parameter_name(path, "keys"), 0.5);
  init.normal(values_, parameter_name(path, "values"), 0.5);
}

KeyGate::KeyGate(const Config&, const PositionFacts& facts) {
  require<ConfigError>(facts.causal, "key_gate: gates stand between a query and the keys before it; use it causally");
  weight_ = register_parameter("weight", at::zeros({facts.layers, facts.heads, facts.dim}));
  bias_ = register_parameter("bias", at::zeros({facts.layers, facts.heads}));
}
Tensor KeyGate::keep(const Tensor& x, const Positions& at, int64_t layer) {
  (void)at;
  const AutocastScope plain(x.device().type(), no_autocast());
  const Tensor wide = x.to(accumulate_type(x.scalar_type()));
  return at::log_sigmoid(at::linear(wide, weight_.select(0, layer), bias_.select(0, layer)));
}
std::shared_ptr<const ScoreBias> KeyGate::scores(const AttentionPass& pass) {
  Tensor logs = pass.kept;  // [B, Lk, H]
  if (pass.mask.keys.defined()) logs = logs.masked_fill(pass.mask.keys.logical_not().unsqueeze(2), 0.0);
  return std::make_shared<GateBias>(logs.transpose(1, 2).cumsum(2), pass.k.length() - pass.q.length());
}
void KeyGate::reset(const Initialiser& init, const std::string& path) {
  init.normal(weight_, parameter_name(path, "weight"), 0.5);
  bias_.fill_(1.0);
}

void fields(Fields& f, OffsetTable::Config& c) { (void)f, (void)c; }
void fields(Fields& f, ContentTable::Config& c) { (void)f, (void)c; }
void fields(Fields& f, KeyGate::Config& c) { (void)f, (void)c; }

const PositionCatalog& small_encodings() {
  static const PositionCatalog list("test encoding", {entry<OffsetTable, PositionEncoding, PositionFacts>(),
                                                      entry<ContentTable, PositionEncoding, PositionFacts>(),
                                                      entry<KeyGate, PositionEncoding, PositionFacts>()});
  return list;
}

std::shared_ptr<PositionEncoding> any_encoding(std::string_view kind, const PositionFacts& facts) {
  const auto& small = small_encodings().kinds();
  const bool own = std::any_of(small.begin(), small.end(), [&](const KindInfo& k) { return k.kind == kind; });
  auto made = own ? small_encodings().build(kind, facts) : positions().build(kind, facts);
  initialise(*made, /*seed=*/7, InitConfig{}, facts.layers);
  return made;
}

std::vector<std::string> all_encodings() {
  std::vector<std::string> kinds;
  for (const auto* list : {&positions().kinds(), &small_encodings().kinds()})
    for (const auto& k : *list) kinds.emplace_back(k.kind);
  return kinds;
}

}  // namespace ordo::test
