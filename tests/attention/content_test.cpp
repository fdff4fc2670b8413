// SPDX-License-Identifier: Apache-2.0
// Biases of content and value terms given as tables over offsets, under `tiled` on the CPU: each combination of tables
// against `eager`, which asks for one tile.
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/einsum.h>
#include <ATen/ops/ones.h>
#include <fmt/format.h>

#include <algorithm>

#include "attention/kernel_case.h"
#include "ordo/attention/cpu_strips.h"

namespace ordo::test {
namespace {

// Rows of a table [1|H, Lq+Lk-1, E] at each (row, column) of a tile: [1|H, rows, columns, E].
Tensor gathered(const Tensor& table, const Tile& t, int64_t Lq) {
  const Tensor entry = at::arange(t.k0, t.k1).unsqueeze(0) - at::arange(t.q0, t.q1).unsqueeze(1) + Lq - 1;
  return table.index_select(1, entry.flatten()).view({table.size(0), t.rows(), t.columns(), table.size(2)});
}

// Only what is defined takes part.
struct ContentTables {
  Tensor queries, keys, offsets, values;
};

struct TablesBias final : ScoreBias {
  TablesBias(ContentTables t, int64_t Lq, double s) : tables(std::move(t)), rows(Lq), scale(s) {}
  Tensor tile(const Tile& t, const Tensor& q, const Tensor& k) const override {
    const int64_t H = q.size(1);
    Tensor sum = at::zeros({1, H, t.rows(), t.columns()}, q.options());
    const auto of_heads = [&](const Tensor& table) { return gathered(table, t, rows).expand({H, -1, -1, -1}); };
    if (tables.queries.defined()) sum = sum + at::einsum("bhre,hrce->bhrc", {q, of_heads(tables.queries)}) * scale;
    if (tables.keys.defined()) sum = sum + at::einsum("bhce,hrce->bhrc", {k, of_heads(tables.keys)}) * scale;
    if (tables.offsets.defined()) sum = sum + gathered(tables.offsets.unsqueeze(2), t, rows).squeeze(3).unsqueeze(0);
    return sum;
  }
  std::optional<ContentForm> by_content() const override {
    return ContentForm{.queries = tables.queries, .keys = tables.keys, .offsets = tables.offsets};
  }
  std::vector<Tensor> inputs() const override {
    std::vector<Tensor> all;
    for (const Tensor& t : {tables.queries, tables.keys, tables.offsets})
      if (t.defined()) all.push_back(t);
    return all;
  }
  bool reads_content() const override { return true; }
  ContentTables tables;
  int64_t rows;
  double scale;
};

struct TablesTerm final : ValueTerm {
  TablesTerm(Tensor v, int64_t Lq) : values(std::move(v)), rows(Lq) {}
  Tensor tile(const Tile& t, const Tensor& weights) const override {
    return at::einsum("bhrc,hrce->bhre", {weights, gathered(values, t, rows).expand({weights.size(1), -1, -1, -1})});
  }
  std::optional<Tensor> by_offset() const override { return values; }
  std::vector<Tensor> inputs() const override { return {values}; }
  Tensor values;
  int64_t rows;
};

struct TablesCase {
  bool queries = true, keys = true, offsets = true, values = true;
  int64_t table_heads = 4;  // 1: one table for all heads
  int64_t B = 2, H = 4, G = 4, Lq = 70, Lk = 70, E = 8, Ev = 8;
  Mask mask = {.causal = true};
  double dropout = 0.0;
  at::ScalarType type = at::kFloat;
};

// A call on leaves that want gradients.
class TablesCall {
 public:
  explicit TablesCall(const TablesCase& c) {
    const auto leaf = [&](at::IntArrayRef shape, at::ScalarType type) {
      leaves_.push_back(noise(shape, leaves_.size() + 1, type).requires_grad_(true));
      return leaves_.back();
    };
    const auto wide = accumulate_type(c.type);
    const int64_t entries = c.Lq + c.Lk - 1;
    call_ = {.q = leaf({c.B, c.H, c.Lq, c.E}, c.type),
             .k = leaf({c.B, c.G, c.Lk, c.E}, c.type),
             .v = leaf({c.B, c.G, c.Lk, c.Ev}, c.type),
             .mask = c.mask,
             .scale = 0.35,
             .dropout = c.dropout,
             .draw = 99};
    ContentTables tables;
    if (c.queries) tables.queries = leaf({c.table_heads, entries, c.E}, wide);
    if (c.keys) tables.keys = leaf({c.table_heads, entries, c.E}, wide);
    if (c.offsets) tables.offsets = leaf({c.H, entries}, wide);
    if (c.queries || c.keys || c.offsets) call_.bias = std::make_shared<TablesBias>(tables, c.Lq, call_.scale);
    if (c.values) call_.value_term = std::make_shared<TablesTerm>(leaf({c.table_heads, entries, c.Ev}, wide), c.Lq);
  }
  const AttentionCall& call() const { return call_; }
  const std::vector<Tensor>& leaves() const { return leaves_; }

 private:
  std::vector<Tensor> leaves_;
  AttentionCall call_;
};

Outcome run_tables(const std::string& kernel, const TablesCase& c) {
  const at::AutoGradMode with_gradients(true);
  const TablesCall made(c);
  const Tensor out = kernels().build(kernel, {})->run(made.call()).out;
  out.backward(noise(out.sizes(), 50, out.scalar_type()));
  Outcome result{out.detach(), {}};
  for (const Tensor& leaf : made.leaves()) result.gradients.push_back(leaf.grad());
  return result;
}

// Output and all gradients, taken by the fast path, against eager's.
Closeness tables_agree(const TablesCase& c, Tolerance tolerance = Tolerance::fp32_sum, double relative = 2e-5) {
  if (!attend_on_cpu(TablesCall(c).call())) return {false, "the fast path refused the call"};
  const Outcome expected = run_tables("eager", c), found = run_tables("tiled", c);
  const Closeness outputs = close(found.out, expected.out, tolerance);
  if (!outputs) return {false, "outputs: " + outputs.why};
  double largest = 0.0;
  for (const Tensor& g : expected.gradients) largest = std::max(largest, g.abs().max().item<double>());
  for (size_t i = 0; i < expected.gradients.size(); ++i) {
    const Closeness near = close_gradient(found.gradients[i], expected.gradients[i], relative, 1e-2 * largest);
    if (!near) return {false, fmt::format("gradient {} (q, k, v, tables): {}", i, near.why)};
  }
  return {true, ""};
}

std::vector<TablesCase> combinations() {
  std::vector<TablesCase> all;
  for (int i = 1; i < 16; ++i)
    all.push_back({.queries = (i & 1) != 0, .keys = (i & 2) != 0, .offsets = (i & 4) != 0, .values = (i & 8) != 0});
  return all;
}
std::string name_of(const TablesCase& c) {
  return fmt::format("{}{}{}{}", c.queries ? "queries " : "", c.keys ? "keys " : "", c.offsets ? "offsets " : "",
                     c.values ? "values" : "");
}

// Two documents in row 0, three in row 1.
Mask two_documents(int64_t L) {
  Tensor segments = at::ones({2, L}, at::kLong);
  segments[0].slice(0, L / 2).fill_(2);
  segments[1].slice(0, L / 4).fill_(5);
  segments[1].slice(0, L - 3).fill_(3);
  return {.causal = true, .q_segment = segments, .k_segment = segments};
}
// Padding on the left of row 0 and within row 1.
Mask padded_keys(int64_t L, bool causal) {
  Tensor keys = at::ones({2, L}, at::kBool);
  keys[0].slice(0, 0, L / 3).fill_(false);
  keys[1].slice(0, L / 2, L / 2 + 5).fill_(false);
  return {.causal = causal, .keys = keys};
}

}  // namespace

TEST_CASE("content tables: each combination equals eager, causal and two-sided, for shared keys and shared tables",
          "[unit]") {
  for (TablesCase c : combinations())
    for (const bool causal : {true, false})
      for (const int64_t table_heads : {1, 4}) {
        INFO(name_of(c) << (causal ? " causal " : " two-sided ") << table_heads);
        c.mask.causal = causal, c.table_heads = table_heads, c.G = 2;
        CHECK(tables_agree(c));
      }
}

TEST_CASE("content tables: lengths around a strip and around a block of keys equal eager", "[unit]") {
  for (const int64_t L : {1, 2, 31, 32, 33, 64, 65, 97, 129}) {
    INFO("L = " << L);
    CHECK(tables_agree({.B = 1, .Lq = L, .Lk = L}));
  }
}

TEST_CASE("content tables: full strips of long rows equal eager", "[unit]") {
  CHECK(tables_agree({.table_heads = 2, .B = 1, .H = 2, .G = 2, .Lq = 300, .Lk = 300}));
}

TEST_CASE("content tables: cached keys before the queries, and more queries than keys, equal eager", "[unit]") {
  for (const TablesCase& c : combinations()) {
    INFO(name_of(c));
    TablesCase cached = c, one = c, more = c;
    cached.Lq = 20, cached.Lk = 60, cached.mask.offset = 40;
    one.Lq = 1, one.Lk = 41, one.mask.offset = 40;
    more.Lq = 90, more.Lk = 33, more.mask.causal = false;
    CHECK(tables_agree(cached));
    CHECK(tables_agree(one));
    CHECK(tables_agree(more));
  }
}

TEST_CASE("content tables: windows, prefixes, padding and packed documents hide what they hide under eager", "[unit]") {
  std::vector<Mask> masks{
      {.causal = true, .window = 17}, {.causal = false, .window = 9}, {.causal = true, .prefix = 30}};
  masks.push_back(two_documents(70));
  masks.push_back(padded_keys(70, true));
  masks.push_back(padded_keys(70, false));
  for (TablesCase c : combinations())
    for (size_t i = 0; i < masks.size(); ++i) {
      INFO(name_of(c) << ", mask " << i);
      c.mask = masks[i];
      CHECK(tables_agree(c));
    }
}

TEST_CASE("content tables: values of another width than queries equal eager", "[unit]") {
  CHECK(tables_agree({.Ev = 12}));
}

TEST_CASE("content tables: dropout drops what eager drops", "[unit]") {
  for (TablesCase c : combinations()) {
    INFO(name_of(c));
    c.dropout = 0.3;
    CHECK(tables_agree(c));
  }
}

TEST_CASE("content tables: fp64 calls agree with eager to fp64 accuracy", "[unit]") {
  for (TablesCase c : combinations()) {
    INFO(name_of(c));
    c.type = at::kDouble, c.dropout = 0.2, c.G = 2;
    CHECK(tables_agree(c, Tolerance::fp64, 1e-10));
  }
}

TEST_CASE("content tables: fp64 gradients are those of finite differences", "[unit]") {
  const TablesCall made({.B = 1, .G = 2, .Lq = 9, .Lk = 9, .dropout = 0.2, .type = at::kDouble});
  const auto kernel = kernels().build("tiled", {});
  const Tensor weights = noise({1, 4, 9, 8}, 60, at::kDouble);
  const auto value = [&] { return (kernel->run(made.call()).out * weights).sum(); };
  value().backward();
  REQUIRE(made.leaves().size() == 7);
  for (const Tensor& leaf : made.leaves()) {
    const at::NoGradGuard plain;
    const Tensor direction = noise(leaf.sizes(), 70, at::kDouble);
    constexpr double kStep = 1e-5;
    leaf.add_(direction, kStep);
    const double ahead = value().item<double>();
    leaf.add_(direction, -2 * kStep);
    const double behind = value().item<double>();
    leaf.add_(direction, kStep);
    CHECK((ahead - behind) / (2 * kStep) ==
          Approx((leaf.grad() * direction).sum().item<double>()).epsilon(1e-7).margin(1e-9));
  }
}

TEST_CASE("content tables: bf16 calls are as near to fp32 as rounding allows", "[unit]") {
  CHECK(tables_agree({.type = at::kBFloat16}, Tolerance::bf16, 2e-2));
}

TEST_CASE("content tables: what a larger batch sums in shares is the sum over its rows", "[unit]") {
  CHECK(tables_agree({.table_heads = 1, .B = 11, .H = 2, .G = 1, .Lq = 20, .Lk = 20}));
}

TEST_CASE("content tables: a table of another length is refused with both shapes", "[unit]") {
  TablesCall made({.queries = true, .keys = false, .offsets = false, .values = false, .Lq = 10, .Lk = 10});
  AttentionCall call = made.call();
  call.k = call.k.slice(2, 0, 8), call.v = call.v.slice(2, 0, 8);
  CHECK_THROWS_WITH(kernels().build("tiled", {})->run(call),
                    Catch::Contains("[4, 19, 8]") && Catch::Contains("[1 or 4, 17, 8]"));
}

}  // namespace ordo::test
