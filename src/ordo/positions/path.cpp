// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/path.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/alias.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/diag_embed.h>
#include <ATen/ops/linalg_solve_triangular.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace ordo {

namespace {

// The factors of a call, solved for in blocks of columns (the WY form): a query that has passed everything right of a
// block, `a`, loses sum_t y_t w_t inside of it, where y_t = b_t (w_t . a - sum_{s > t} y_s w_t . w_s). With M = I +
// diag(b) strictly_upper(W W^T) that is y = solved (W a), solved = M^-1 diag(b). Entries of W a that a row does not see
// are zeroed: those behind the row solve to y = 0, as they must.
struct PathFactors {
  Tensor w;       // [B, H, L, E]
  Tensor solved;  // [B, H, blocks, kBlock, kBlock]
};

PathFactors path_factors(const Tensor& w, const Tensor& b, const Mask& mask, int64_t heads) {
  constexpr int64_t kBlock = Path::kBlock;
  const auto [B, G, L, E] = sizes<4>(w, "w [B, G, L, E]");
  const int64_t blocks = (L + kBlock - 1) / kBlock, spare = blocks * kBlock - L;
  const Tensor by_block = at::constant_pad_nd(w, {0, 0, 0, spare}).view({B, G, blocks, kBlock, E});
  const Tensor strength = at::constant_pad_nd(b, {0, spare}).view({B, G, blocks, kBlock, 1});
  Tensor upper = at::matmul(by_block, by_block.transpose(3, 4)).triu(1) * strength;
  if (mask.k_segment.defined()) {  // a document's factors know nothing of another's
    const Tensor document = at::constant_pad_nd(mask.k_segment, {0, spare}).view({-1, 1, blocks, kBlock});
    upper = upper.masked_fill(document.unsqueeze(4).ne(document.unsqueeze(3)), 0.0);
  }
  const Tensor solved = at::linalg_solve_triangular(upper, at::diag_embed(strength.squeeze(4)), /*upper=*/true,
                                                    /*left=*/true, /*unitriangular=*/true);
  // A kernel takes gradients of both for themselves: neither may be made of the other.
  return {repeat_groups(at::alias(w), heads),
          repeat_groups(solved.flatten(2, 3), heads).view({B, heads, blocks, kBlock, kBlock})};
}

struct PathBias final : ScoreBias {
  PathBias(PathFactors f, Mask m, int64_t first_column, double s)
      : factors(std::move(f)), mask(std::move(m)), first(first_column), scale(s) {}

  // The columns [c0, c1) of one block as seen by the rows of a tile.
  struct Step {
    Tensor w, y;  // [B, H, c1-c0, E], [B, H, rows, c1-c0]
    int64_t c0, c1;
  };
  Step step(const Tile& t, const Tensor& a, int64_t block) const {
    const int64_t c0 = block * Path::kBlock, c1 = std::min(c0 + Path::kBlock, factors.w.size(2)), n = c1 - c0;
    const Tensor w = factors.w.slice(2, c0, c1).to(a.scalar_type());
    const Tensor solved = factors.solved.select(2, block).slice(2, 0, n).slice(3, 0, n).to(a.scalar_type());
    const Tensor hidden = mask.tile({t.q0, t.q1, c0, c1}, a.device()).logical_not();
    const Tensor met = at::matmul(a, w.transpose(2, 3)).masked_fill(hidden, 0.0);
    return {w, at::matmul(met, solved.transpose(2, 3)), c0, c1};
  }

  // Scores of the columns [j0, j1) within a block: factors right of a column have turned what it meets.
  static Tensor within(const Step& s, const Tensor& a, const Tensor& k, int64_t j0) {
    const Tensor met = at::matmul(s.w, k.transpose(2, 3)).tril(s.c0 - j0 - 1);  // row t, column j: t > j alone
    return at::matmul(a, k.transpose(2, 3)) - at::matmul(s.y, met);
  }

  Tensor tile(const Tile& t, const Tensor& q, const Tensor& k) const override {
    const int64_t B = q.size(0), H = q.size(1), last = first + t.q1;  // columns from `last` on are the future
    std::vector<Tensor> parts;                                        // from right to left
    if (const int64_t covered = covered_to(last); t.k1 > covered)
      parts.push_back(at::zeros({B, H, t.rows(), t.k1 - std::max(t.k0, covered)}, q.options()));
    Tensor a = q;
    for (int64_t block = (last - 1) / Path::kBlock; block >= t.k0 / Path::kBlock; --block) {
      const Step s = step(t, a, block);
      const int64_t j0 = std::max(s.c0, t.k0), j1 = std::min(s.c1, t.k1);
      if (j0 < j1) parts.push_back(within(s, a, k.slice(2, j0 - t.k0, j1 - t.k0), j0));
      if (s.c0 > t.k0) a = a - at::matmul(s.y, s.w);
    }
    std::reverse(parts.begin(), parts.end());
    return (at::cat(parts, 3) - at::matmul(q, k.transpose(2, 3))) * scale;
  }
  // The end of the block that holds the last row's own column.
  int64_t covered_to(int64_t last) const {
    return std::min((last + Path::kBlock - 1) / Path::kBlock * Path::kBlock, factors.w.size(2));
  }

  std::vector<Tensor> inputs() const override { return {factors.w, factors.solved}; }
  bool reads_content() const override { return true; }

  PathFactors factors;
  Mask mask;      // whose factors a row passes: causality, padding and documents, whatever the window
  int64_t first;  // the column of query 0: queries are the last keys
  double scale;
};
}  // namespace

void fields(Fields& f, Path::Config& c) {
  f("rank", c.rank, "width between x and the directions w; 0: one full matrix", within(0, 1 << 16));
}

Path::Path(const Config& config, const PositionFacts& facts)
    : heads_(facts.heads), groups_(facts.kv_heads), head_dim_(facts.head_dim) {
  require<ConfigError>(facts.causal && !facts.cross,
                       "path: it multiplies what lies between a key and a later query, and needs a causal stack; use "
                       "rope, shaw or transformer_xl");
  if (config.rank > 0) down_ = register_parameter("down", at::zeros({facts.layers, config.rank, facts.dim}));
  up_ = register_parameter("up",
                           at::zeros({facts.layers, groups_ * head_dim_, config.rank > 0 ? config.rank : facts.dim}));
  gate_ = register_parameter("gate", at::zeros({facts.layers, groups_, facts.dim}));
  bias_ = register_parameter("gate_bias", at::zeros({facts.layers, groups_}));
}

Tensor Path::keep(const Tensor& x, const Positions& at, int64_t layer) {
  (void)at;
  constexpr double kShortest = 1e-12;  // of a squared length: a vector of zeros stays one
  const Tensor wide = x.to(accumulate_type(x.scalar_type()));
  const Tensor inner = down_.defined() ? at::linear(wide, down_.select(0, layer)) : wide;
  const Tensor w = at::linear(inner, up_.select(0, layer)).unflatten(2, {groups_, head_dim_});
  const Tensor unit = w * (w.square().sum(3, /*keepdim=*/true) + kShortest).rsqrt();
  const Tensor b = at::linear(wide, gate_.select(0, layer), bias_.select(0, layer)).sigmoid() * 2.0;
  return at::cat({unit.flatten(2), b}, 2);
}

std::shared_ptr<const ScoreBias> Path::scores(const AttentionPass& pass) {
  require<ConfigError>(pass.mask.prefix == 0,
                       "path: keys of a prefix that stand behind a query have no path to it; use rope or shaw");
  const int64_t width = groups_ * head_dim_;
  const Tensor w = pass.kept.slice(2, 0, width).unflatten(2, {groups_, head_dim_}).transpose(1, 2);
  Tensor b = pass.kept.slice(2, width).transpose(1, 2);  // [B, G, Lk]
  if (pass.mask.keys.defined()) b = b.masked_fill(pass.mask.keys.logical_not().unsqueeze(1), 0.0);
  const int64_t first = pass.k.length() - pass.q.length();
  const Mask passed{.causal = true,
                    .offset = first,
                    .keys = pass.mask.keys,
                    .q_segment = pass.mask.q_segment,
                    .k_segment = pass.mask.k_segment};
  return std::make_shared<PathBias>(path_factors(w, b, pass.mask, heads_), passed, first, pass.scale);
}

void Path::reset(const Initialiser& init, const std::string& path) {
  if (down_.defined()) init.normal(down_, parameter_name(path, "down"), init.std(down_.size(-1)));
  init.normal(up_, parameter_name(path, "up"), init.std(up_.size(-1)));
  init.normal(gate_, parameter_name(path, "gate"), init.std(gate_.size(-1)));
  bias_.zero_();
}

}  // namespace ordo
