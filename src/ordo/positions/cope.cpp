// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/cope.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

namespace ordo {

namespace {
constexpr NamedValue kCopeScales[] = {{"official", static_cast<int>(Cope::Scale::official)},
                                      {"nodiv", static_cast<int>(Cope::Scale::nodiv)}};

struct CountedBias final : ScoreBias {
  CountedBias(const AttentionPass& pass, Tensor weight, double of_table)
      : mask(pass.mask), scale(pass.scale), table_scale(of_table), table(std::move(weight)) {}
  Tensor tile(const Tile& t, const Tensor& q, const Tensor& k) const override {
    const Tensor gates = (at::matmul(q, k.transpose(2, 3)) * scale).sigmoid();
    const Tensor z = at::matmul(q, table.t().to(q.scalar_type())) * table_scale;
    return read_at_counts(gates, mask.tile(t, q.device()), z);
  }
  std::vector<Tensor> inputs() const override { return {table}; }
  bool reads_content() const override { return true; }
  bool whole_rows() const override { return true; }
  Mask mask;
  double scale, table_scale;
  Tensor table;  // [P, E]
};
}  // namespace

void fields(Fields& f, Cope::Config& c) {
  f("npos_max", c.npos_max, "rows of the table; larger counts use the last one", within(1, 1 << 20));
  f("scale", c.scale, "what the table's products are multiplied by: as the content's, or 1", kCopeScales);
  f("init_std", c.init_std, "standard deviation of the first values", at_least(0.0));
}

Cope::Cope(const Config& config, const PositionFacts& facts) : config_(config) {
  require<ConfigError>(facts.causal && !facts.cross,
                       "cope: it counts the keys up to the query, and a stack that sees both sides has none such; use "
                       "shaw, deberta or t5_bias");
  weight_ = register_parameter("weight", at::zeros({facts.layers, config_.npos_max, facts.head_dim}));
}

std::shared_ptr<const ScoreBias> Cope::scores(const AttentionPass& pass) {
  const double of_table = config_.scale == Scale::official ? pass.scale : 1.0;
  return std::make_shared<CountedBias>(pass, weight_.select(0, pass.layer), of_table);
}

void Cope::reset(const Initialiser& init, const std::string& path) {
  init.normal(weight_, parameter_name(path, "weight"), config_.init_std);
}

}  // namespace ordo
