// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "ordo/positions/learned.h"
#include "support/goldens.h"
#include "support/positions.h"

namespace ordo::test {

namespace {

Learned learned_with(const Tensor& table, Learned::Config config = {}) {
  config.max_positions = table.size(0) - config.offset;
  Learned encoding(config, {.dim = table.size(1), .max_length = 1});
  const at::NoGradGuard no_grad;
  encoding.named_parameters()["weight"].copy_(table);
  return encoding;
}

// A table whose row r holds the number r: the output says which row was read.
Learned row_numbers(int64_t rows, const Learned::Config& config = {}) {
  return learned_with(at::arange(rows, at::TensorOptions(at::kFloat)).unsqueeze(1), config);
}
Tensor rows_read(Learned& encoding, const Positions& at) {
  return encoding.input(at::zeros({at.index.size(0), at.length(), 1}), at).squeeze(-1).detach().to(at::kLong);
}

}  // namespace

TEST_CASE("learned: rows read under left padding equal those of another implementation", "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "learned")) {
    if (golden.params().contains("mode")) continue;  // resized image grids are not among the settings
    const Tensor want = golden.tensor("out"), start = golden.tensor("start");
    const Tensor keys = at::arange(want.size(1)).unsqueeze(0) >= start.unsqueeze(1);
    Learned encoding = learned_with(golden.tensor("table") * golden.param("scale", 1.0));
    INFO(golden.id());
    CHECK(close(encoding.input(at::zeros_like(want), from_padding(keys)).detach(), want, golden.tolerance("out")));
  }
}

TEST_CASE("position ids: padded rows count as in other implementations, and tables with an offset read their rows",
          "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "position_ids")) {
    if (!golden.has("mask")) continue;
    INFO(golden.id());
    const Tensor keys = golden.tensor("mask").to(at::kBool);
    const Positions at = from_padding(keys);
    const auto real = [&](const Tensor& t) { return t.masked_select(keys); };
    CHECK(same_bytes(at.index.expand_as(keys).contiguous(), golden.tensor("bloom")));
    CHECK(same_bytes(real(at.index), real(golden.tensor("generate"))));
    const int64_t opt = golden.param<int64_t>("opt_offset", 2), padding = golden.param<int64_t>("padding_idx", 1);
    Learned as_opt = row_numbers(32, {.offset = opt}), as_roberta = row_numbers(32, {.offset = padding + 1});
    CHECK(same_bytes(real(rows_read(as_opt, at)), real(golden.tensor("opt_table_row"))));
    CHECK(same_bytes(real(rows_read(as_roberta, at)), real(golden.tensor("roberta"))));
    CHECK(same_bytes(real(rows_read(as_roberta, at)), real(golden.tensor("fairseq"))));
  }
}

TEST_CASE("position ids: packed documents restart as in other implementations", "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "position_ids")) {
    if (!golden.has("document_ids")) continue;
    INFO(golden.id());
    CHECK(same_bytes(from_segments(golden.tensor("document_ids")).index, golden.tensor("position_ids")));
  }
}

TEST_CASE("learned: consecutive positions and the same positions listed read the same rows", "[unit]") {
  Learned encoding = row_numbers(12, {.offset = 2});
  const Positions slice = consecutive(3, 5, at::kCPU);
  CHECK(same_bytes(rows_read(encoding, slice), rows_read(encoding, {.index = slice.index})));
  CHECK(same_bytes(rows_read(encoding, slice), at::arange(5, 10).unsqueeze(0)));
}

TEST_CASE("learned: a sequence past the table is refused with the length and the limit", "[unit]") {
  const Learned encoding = row_numbers(8);
  CHECK_FALSE(encoding.refuses_length(8));
  CHECK_THAT(encoding.refuses_length(9).value_or(""), Catch::Contains("9 tokens") && Catch::Contains("8 positions"));
}

TEST_CASE("learned: a position past the table is an error, never another row", "[unit]") {
  Learned encoding = row_numbers(8);
  CHECK_THROWS_AS(rows_read(encoding, consecutive(6, 3, at::kCPU)), ConfigError);
  CHECK_THROWS_AS(rows_read(encoding, {.index = at::tensor({0, 8}, at::kLong).unsqueeze(0)}), ConfigError);
}

TEST_CASE("learned: on_overflow clamp reads the last row", "[unit]") {
  Learned encoding = row_numbers(8, {.on_overflow = Learned::Overflow::clamp});
  CHECK(same_bytes(rows_read(encoding, consecutive(6, 4, at::kCPU)), at::tensor({6, 7, 7, 7}, at::kLong).unsqueeze(0)));
  CHECK_FALSE(encoding.refuses_length(1000));
}

TEST_CASE("learned: only rows in use get a gradient", "[unit]") {
  Learned encoding = row_numbers(6);
  encoding.input(at::zeros({2, 3, 1}), consecutive(1, 3, at::kCPU)).sum().backward();
  CHECK(same_bytes(encoding.named_parameters()["weight"].grad().squeeze(1),
                   at::tensor({0.0, 2.0, 2.0, 2.0, 0.0, 0.0}, at::kFloat)));
}

TEST_CASE("learned: a table shorter than the model's length is refused with both numbers", "[unit]") {
  CHECK_THROWS_WITH(Learned({.max_positions = 16}, {.dim = 4, .max_length = 32}),
                    Catch::Contains("max_positions (16)") && Catch::Contains("max_length (32)"));
}

TEST_CASE("learned: real-valued positions are refused in words", "[unit]") {
  Learned encoding = row_numbers(8);
  const Positions at{.index = at::zeros({1, 2}, at::kLong), .coords = at::zeros({1, 2, 1})};
  CHECK_THROWS_WITH(rows_read(encoding, at), Catch::Contains("real-valued"));
}

}  // namespace ordo::test
