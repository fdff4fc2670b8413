// SPDX-License-Identifier: Apache-2.0
// What moves of positions share, and how a list of encodings takes them.
#include "support/catch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>

#include <set>

#include "ordo/positions/chain.h"
#include "ordo/positions/learned.h"
#include "ordo/positions/moves.h"
#include "ordo/positions/randomized.h"
#include "ordo/positions/rope.h"
#include "ordo/positions/rope_2d.h"
#include "ordo/positions/shape.h"
#include "support/positions.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {
struct KeyedMove final : PositionMove {
  explicit KeyedMove(std::string_view kind) : PositionMove(kind) {}
  PositionTraits traits() const override { return {.places = {.positions = true}}; }
  int64_t reach(int64_t length) const override { return length; }
  uint64_t drawn(const Draw& draw) const { return draw_key(draw); }
};
uint64_t key_drawn(std::string_view kind, const std::string& path, const Draw& draw) {
  KeyedMove move(kind);
  move.reset(Initialiser(1, {}, 1), path);
  return move.drawn(draw);
}

// A move before a table of so many rows.
Chain moved_table(const std::shared_ptr<PositionEncoding>& move, int64_t rows) {
  return Chain({move, std::make_shared<Learned>(Learned::Config{.max_positions = rows},
                                                PositionFacts{.dim = 4, .max_length = 8})});
}
}  // namespace

TEST_CASE("moved positions: kinds, stacks, steps and micro-batches draw numbers of their own", "[unit]") {
  const Draw draw{.seed = 5, .step = 2, .micro = 1};
  const std::set<uint64_t> keys{key_drawn("shape", "decoder.position", draw),
                                key_drawn("cape", "decoder.position", draw),
                                key_drawn("shape", "encoder.position", draw),
                                key_drawn("shape", "decoder.position", {.seed = 6, .step = 2, .micro = 1}),
                                key_drawn("shape", "decoder.position", {.seed = 5, .step = 3, .micro = 1}),
                                key_drawn("shape", "decoder.position", {.seed = 5, .step = 2, .micro = 0})};
  CHECK(keys.size() == 6);
  CHECK(key_drawn("shape", "decoder.position", draw) == key_drawn("shape", "decoder.position", draw));
}

TEST_CASE("moved positions: what is initialised again draws as before", "[unit]") {
  const Draw draw{.seed = 5, .step = 2};
  KeyedMove move("shape");
  const Initialiser init(1, {}, 1);
  move.reset(init, "encoder.position");
  move.reset(init, "decoder.position");
  CHECK(move.drawn(draw) == key_drawn("shape", "decoder.position", draw));
}

TEST_CASE("moved positions: grids of two stacks are shifted by numbers of their own", "[unit]") {
  const auto placed = [](const std::string& path) {
    Rope2d grid({.shift = 1.0}, small_facts());
    grid.reset(Initialiser(1, {}, 1), path);
    return grid.place(consecutive(0, 5, at::kCPU), 1, {.seed = 1, .step = 4}).coords;
  };
  CHECK(same_bytes(placed("encoder.position"), placed("encoder.position")));
  CHECK_FALSE(placed("encoder.position").equal(placed("decoder.position")));
}

TEST_CASE("moved positions: a table beside them must have a row for each that may come", "[unit]") {
  const PositionFacts facts{.dim = 4, .max_length = 8};
  const auto randomized = std::make_shared<Randomized>(Randomized::Config{.max_position = 32}, facts);
  CHECK_THAT(moved_table(randomized, 31).refuses_length(8).value_or(""),
             Catch::Contains("8 tokens reach up to 31") && Catch::Contains("31 positions of the learned table"));
  CHECK_FALSE(moved_table(randomized, 32).refuses_length(8));
  const auto shape = std::make_shared<ShiftedPositions>(ShiftedPositions::Config{.max_shift = 10}, facts);
  CHECK(moved_table(shape, 17).refuses_length(8));
  CHECK_FALSE(moved_table(shape, 18).refuses_length(8));
}

TEST_CASE("moved positions: in evaluation a table must hold what evaluation reads", "[unit]") {
  const PositionFacts facts{.dim = 4, .max_length = 8};
  auto list = moved_table(std::make_shared<ShiftedPositions>(ShiftedPositions::Config{.max_shift = 10}, facts), 17);
  list.eval();
  CHECK_FALSE(list.refuses_length(8));
  auto spread = moved_table(std::make_shared<Randomized>(Randomized::Config{.max_position = 32}, facts), 29);
  spread.eval();
  CHECK_FALSE(spread.refuses_length(8));  // 0, 4, … 28
}

TEST_CASE("moved positions: a move acts before every other encoding, wherever it stands in the list", "[unit]") {
  const PositionFacts facts = small_facts();
  const auto shape = std::make_shared<ShiftedPositions>(ShiftedPositions::Config{.max_shift = 50}, facts);
  const auto rope = std::make_shared<Rope>(Rope::Config{}, facts);
  const Positions at = consecutive(0, 5, at::kCPU);
  const Draw draw{.seed = 1, .step = 4};
  const Positions first = Chain({shape, rope}).place(at, 3, draw), last = Chain({rope, shape}).place(at, 3, draw);
  CHECK(same_bytes(first.index, last.index));
  CHECK(first.index.size(0) == 3);
}

TEST_CASE("moved positions: one move counts from what another gives", "[unit]") {
  const PositionFacts facts{.dim = 4, .max_length = 8};
  const auto shape = std::make_shared<ShiftedPositions>(ShiftedPositions::Config{.max_shift = 30}, facts);
  const auto randomized = std::make_shared<Randomized>(Randomized::Config{.max_position = 64}, facts);
  CHECK(Chain({shape, randomized}).refuses_length(8));  // 8 + 30 are more than evaluation has room for
  Chain list({shape, randomized});
  list.eval();
  CHECK_FALSE(list.refuses_length(8));
  CHECK(same_bytes(list.place(consecutive(0, 4, at::kCPU), 1, {}).index, at::arange(4).unsqueeze(0) * 8));
}

}  // namespace ordo::test
