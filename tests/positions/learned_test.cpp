// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/stack.h>
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
// The same where rows are read between two.
Tensor places_read(Learned& encoding, const Positions& at) {
  return encoding.input(at::zeros({at.index.size(0), at.length(), 1}), at).squeeze(-1).detach();
}

void check_padded_rows(const GoldenCase& golden) {
  const Tensor want = golden.tensor("out"), start = golden.tensor("start");
  const Tensor keys = at::arange(want.size(1)).unsqueeze(0) >= start.unsqueeze(1);
  Learned encoding = learned_with(golden.tensor("table") * golden.param("scale", 1.0));
  CHECK(close(encoding.input(at::zeros_like(want), from_padding(keys)).detach(), want, golden.tolerance("out")));
}

// A saved table of one grid is loaded into a model of another; its rows are then what the input gets.
void check_resized_grid(const GoldenCase& golden) {
  REQUIRE_FALSE(golden.param("align_corners", true));
  REQUIRE_FALSE(golden.param("antialias", true));
  const Tensor want = golden.tensor("out"), saved = golden.tensor("table").squeeze(0);
  const auto side = golden.param<int64_t>("grid", 0);
  Learned encoding({.grid = golden.param<std::vector<int64_t>>("new_grid", {}),
                    .saved_grid = {side, side},
                    .prefix_tokens = golden.param<int64_t>("prefix_tokens", 0)},
                   {.dim = want.size(2), .max_length = want.size(1)});
  const auto resized = encoding.resized("weight", saved);
  REQUIRE(resized);
  const at::NoGradGuard no_grad;
  encoding.named_parameters()["weight"].copy_(resized->value);
  CHECK(close(encoding.input(at::zeros_like(want), consecutive(0, want.size(1), at::kCPU)), want,
              golden.tolerance("out")));
}

void check_padded_ids(const GoldenCase& golden) {
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

void check_packed_ids(const GoldenCase& golden) {
  const Tensor index = from_segments(golden.tensor("document_ids")).index, first = index == 0;
  CHECK(same_bytes(index, golden.tensor("position_ids")));
  CHECK(same_bytes(first.view(-1).nonzero().view(-1), golden.tensor("cu_seqlens").slice(0, 0, -1).contiguous()));
  CHECK(golden.tensor("cu_seqlens")[-1].item<int64_t>() == index.size(1));
  CHECK(same_bytes(first, golden.tensor("labels") == -100));  // a document's first token is not predicted
}

}  // namespace

TEST_CASE("learned: rows read under left padding, and resized grids, equal those of other implementations",
          "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "learned")) {
    INFO(golden.id());
    if (golden.has("start"))
      check_padded_rows(golden);
    else if (golden.param<std::string>("mode", "") == "bicubic")
      check_resized_grid(golden);
    else
      FAIL("a case of an unknown sort");
  }
}

TEST_CASE("position ids: padding, table offsets and packed documents count as in other implementations",
          "[golden][positions]") {
  for (const GoldenCase& golden : goldens("positions", "position_ids")) {
    INFO(golden.id());
    if (golden.has("mask"))
      check_padded_ids(golden);
    else if (golden.has("document_ids"))
      check_packed_ids(golden);
    else
      FAIL("a case of an unknown sort");
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

TEST_CASE("learned: on_overflow interpolate squeezes the rows that are too long, each by its longest position",
          "[unit]") {
  Learned encoding = row_numbers(8, {.on_overflow = Learned::Overflow::interpolate});
  const Tensor longer = at::arange(15), shorter = at::arange(15).clamp_max(5);
  const Tensor read = places_read(encoding, {.index = at::stack({longer, shorter})});
  CHECK(same_bytes(read[0], longer.to(at::kFloat) / 2));
  CHECK(same_bytes(read[1], shorter.to(at::kFloat)));
  CHECK(same_bytes(places_read(encoding, consecutive(0, 15, at::kCPU))[0], read[0]));
  CHECK_FALSE(encoding.refuses_length(1000));
  CHECK(encoding.traits().unbounded);
}

TEST_CASE("learned: squeezed rows lie behind the offset, and send gradients to both neighbours", "[unit]") {
  Learned encoding = row_numbers(5, {.offset = 2, .on_overflow = Learned::Overflow::interpolate});
  const Positions at{.index = at::tensor({1, 8}, at::kLong).unsqueeze(0)};  // 3 rows: 8 -> the last, 1 -> a quarter
  CHECK(same_bytes(places_read(encoding, at), at::tensor({2.25, 4.0}, at::kFloat).unsqueeze(0)));
  encoding.input(at::zeros({1, 2, 1}), at).sum().backward();
  CHECK(same_bytes(encoding.named_parameters()["weight"].grad().squeeze(1),
                   at::tensor({0.0, 0.0, 0.75, 0.25, 1.0}, at::kFloat)));
}

TEST_CASE("learned: weights of another length are kept row by row, or stretched end to end", "[unit]") {
  const Tensor saved = at::tensor({0.0, 1.0, 4.0}, at::kFloat).unsqueeze(1);
  const auto made = [&](int64_t rows, OnResize how) {
    const auto resized = row_numbers(rows, {.on_resize = how}).resized("weight", saved);
    REQUIRE(resized);
    return std::pair(resized->value.squeeze(1), resized->how);
  };
  const auto row = [](std::vector<double> values) { return at::tensor(values, at::kFloat); };
  const auto [kept, said] = made(5, OnResize::extend);
  CHECK(same_bytes(kept, row({0.0, 1.0, 4.0, 3.0, 4.0})));  // row_numbers() says which rows are the model's own
  CHECK(said == "3 rows kept, 2 new");
  const auto [cut, said_cut] = made(2, OnResize::extend);
  CHECK(same_bytes(cut, row({0.0, 1.0})));
  CHECK(said_cut == "the first 2 of 3 rows kept");
  const auto [stretched, said_stretched] = made(5, OnResize::interpolate);
  CHECK(same_bytes(stretched, row({0.0, 0.5, 1.0, 2.5, 4.0})));
  CHECK(said_stretched == "interpolated from 3 to 5 rows");
  CHECK(same_bytes(made(2, OnResize::interpolate).first, row({0.0, 4.0})));
}

TEST_CASE("learned: rows of an offset are not stretched", "[unit]") {
  const Tensor saved = at::tensor({-7.0, -8.0, 0.0, 2.0}, at::kFloat).unsqueeze(1);
  const auto resized = row_numbers(5, {.offset = 2, .on_resize = OnResize::interpolate}).resized("weight", saved);
  REQUIRE(resized);
  CHECK(same_bytes(resized->value.squeeze(1), at::tensor({-7.0, -8.0, 0.0, 1.0, 2.0}, at::kFloat)));
  CHECK(resized->how == "interpolated from 2 to 3 rows");
}

TEST_CASE("learned: rows of another offset move to their positions, at an equal size too", "[unit]") {
  const auto made = [](int64_t rows, const Learned::Config& config, const std::vector<double>& saved) {
    return row_numbers(rows, config).resized("weight", at::tensor(saved, at::kFloat).unsqueeze(1));
  };
  const auto row = [](std::vector<double> values) { return at::tensor(values, at::kFloat); };
  const auto shorter = made(5, {.saved_offset = 2}, {-7.0, -8.0, 10.0, 11.0, 12.0});
  REQUIRE(shorter);
  CHECK(same_bytes(shorter->value.squeeze(1), row({10.0, 11.0, 12.0, 3.0, 4.0})));
  CHECK(shorter->how == "rows moved from offset 2 to 0, 3 rows kept, 2 new");
  const auto longer = made(5, {.offset = 2, .saved_offset = 1}, {-8.0, 10.0, 11.0, 12.0});
  REQUIRE(longer);
  CHECK(same_bytes(longer->value.slice(0, 1).squeeze(1), row({-8.0, 10.0, 11.0, 12.0})));
  CHECK(longer->how == "rows moved from offset 1 to 2");
}

TEST_CASE("learned: a grid of as many patches but other sides is resized when it is named", "[unit]") {
  const Tensor saved = at::tensor({0.0, 1.0}, at::kFloat).unsqueeze(1);
  const auto made = [&](const std::vector<int64_t>& from) {
    return Learned({.grid = {2, 1}, .saved_grid = from}, {.dim = 1, .max_length = 2}).resized("weight", saved);
  };
  const auto turned = made({1, 2});
  REQUIRE(turned);
  CHECK(close(turned->value.squeeze(1), at::tensor({0.5, 0.5}, at::kFloat), Tolerance::fp32));
  CHECK(turned->how == "interpolated from a grid of 1 x 2 to 2 x 1");
  CHECK_FALSE(made({2, 1}));
  CHECK_FALSE(made({}));
}

TEST_CASE("learned: where nothing changes, nothing is resized", "[unit]") {
  for (const OnResize how : {OnResize::extend, OnResize::interpolate})
    CHECK_FALSE(row_numbers(3, {.on_resize = how}).resized("weight", at::zeros({3, 1})));
  CHECK_FALSE(row_numbers(5, {.offset = 2, .saved_offset = 2}).resized("weight", at::zeros({5, 1})));
}

TEST_CASE("learned: what cannot be made to fit is left alone", "[unit]") {
  const Learned line = row_numbers(6);
  CHECK_FALSE(line.resized("weight", at::zeros({3, 2})));  // another width
  CHECK_FALSE(line.resized("fusion.weight", at::zeros({3, 1})));
  const Learned grid({.grid = {2, 3}}, {.dim = 1, .max_length = 6});
  CHECK_FALSE(grid.resized("weight", at::zeros({7, 1})));  // neither a square nor in proportion
  const Learned other({.grid = {2, 3}, .saved_grid = {4, 2}}, {.dim = 1, .max_length = 6});
  CHECK_FALSE(other.resized("weight", at::zeros({9, 1})));
}

TEST_CASE("learned: the grid of saved weights is the one that is named, else a square, else one in proportion",
          "[unit]") {
  const auto said = [](const Learned::Config& config, int64_t rows) {
    const auto resized = Learned(config, {.dim = 2, .max_length = 1}).resized("weight", noise({rows, 2}, 1));
    return resized ? resized->how : "";
  };
  CHECK(said({.grid = {4, 6}, .saved_grid = {8, 2}}, 16) == "interpolated from a grid of 8 x 2 to 4 x 6");
  CHECK(said({.grid = {4, 6}}, 16) == "interpolated from a grid of 4 x 4 to 4 x 6");
  CHECK(said({.grid = {4, 6}, .prefix_tokens = 1}, 7) ==
        "interpolated from a grid of 2 x 3 to 4 x 6, 1 rows before it kept");
}

TEST_CASE("learned: settings that contradict each other are refused with their numbers", "[unit]") {
  const auto made = [](const Learned::Config& config) { return Learned(config, {.dim = 4, .max_length = 10}); };
  CHECK_THROWS_WITH(made({.max_positions = 12, .grid = {3, 3}, .prefix_tokens = 1}),
                    Catch::Contains("[3, 3]") && Catch::Contains("10 positions") && Catch::Contains("12"));
  CHECK_THROWS_WITH(made({.grid = {3, 3}}), Catch::Contains("(9)") && Catch::Contains("max_length (10)"));
  CHECK_THROWS_WITH(made({.grid = {10}}), Catch::Contains("two numbers"));
  CHECK_THROWS_WITH(made({.grid = {2, 5}, .saved_grid = {1, 2, 3}}), Catch::Contains("saved_grid takes two numbers"));
  CHECK_THROWS_WITH(made({.prefix_tokens = 1}), Catch::Contains("give grid"));
  CHECK_THROWS_WITH(made({.offset = 2, .grid = {2, 5}}), Catch::Contains("no offset (2)"));
  CHECK_THROWS_WITH(made({.on_overflow = Learned::Overflow::interpolate, .grid = {2, 5}}),
                    Catch::Contains("stretches a line"));
  CHECK_THROWS_WITH(made({.on_resize = OnResize::extend, .grid = {2, 5}}), Catch::Contains("no end to extend"));
}

TEST_CASE("learned: a grid with its class token has a row for each position", "[unit]") {
  const Learned encoding({.grid = {3, 4}, .prefix_tokens = 1}, {.dim = 2, .max_length = 13});
  CHECK(encoding.named_parameters()["weight"].size(0) == 13);
  CHECK(encoding.refuses_length(14));
}

}  // namespace ordo::test
