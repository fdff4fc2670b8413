// SPDX-License-Identifier: Apache-2.0
// The worked example is computed a second time, in plain loops, from the vectors of the words alone.
#include "ordo/certify/explain.h"

#include "support/catch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "ordo/config/config.h"
#include "ordo/core/text.h"
#include "ordo/models/stack.h"

namespace ordo::test {
namespace {

using Numbers = std::vector<double>;
using Turn = std::function<Numbers(const Numbers&, int position)>;
using Bias = std::function<double(int query, int key)>;

struct Worked {
  Rows64 scores, scaled, weights, outputs;
};

double dot(const Numbers& a, const Numbers& b) {
  double sum = 0.0;
  for (size_t c = 0; c < a.size(); ++c) sum += a[c] * b[c];
  return sum;
}

// values [3][4]; queries and keys are the values, turned.
Worked by_hand(const Rows64& values, bool causal, const Turn& turn, const Bias& bias) {
  Worked all{Rows64(3, Numbers(3)), Rows64(3, Numbers(3)), Rows64(3, Numbers(3, 0.0)), Rows64(3, Numbers(4, 0.0))};
  for (int i = 0; i < 3; ++i) {
    double sum = 0.0;
    for (int j = 0; j < 3; ++j) {
      all.scores[i][j] = dot(turn(values[i], i), turn(values[j], j));
      all.scaled[i][j] = all.scores[i][j] / 2.0;
      if (!causal || j <= i) sum += all.weights[i][j] = std::exp(all.scaled[i][j] + bias(i, j));
    }
    for (int j = 0; j < 3; ++j) {
      all.weights[i][j] /= sum;
      for (int c = 0; c < 4; ++c) all.outputs[i][c] += all.weights[i][j] * values[j][c];
    }
  }
  return all;
}

Numbers as_it_is(const Numbers& x, int) { return x; }
double nothing(int, int) { return 0.0; }

const Rows64 kFirst{{1.0, 0.5, 0.0, 1.0}, {0.0, 1.0, 1.0, 0.5}, {0.5, -0.5, 1.0, 1.0}};  // cat chases mouse
const Rows64 kSecond{kFirst[2], kFirst[1], kFirst[0]};

void check_rows(const Json& found, const Rows64& expected) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    for (size_t j = 0; j < expected[i].size(); ++j)
      CHECK(found[i][j].get<double>() == Approx(expected[i][j]).epsilon(1e-9).margin(1e-12));
}

void check_order(const Json& order, const Worked& expected) {
  check_rows(order["scores"], expected.scores);
  check_rows(order["scaled"], expected.scaled);
  check_rows(order["weights"], expected.weights);
  check_rows(order["outputs"], expected.outputs);
}

WorkedExample example_of(const std::string& kind, bool causal) {
  const PositionFacts facts{
      .dim = 32, .heads = 4, .kv_heads = 2, .head_dim = 8, .layers = 2, .max_length = 16, .causal = causal};
  return worked_example({Choice<PositionEncoding>(kind)}, facts);
}

// Channels (0, 2) by the position, (1, 3) by a hundredth of it.
Numbers turned(const Numbers& x, int position) {
  const double a = position, b = 0.01 * position;
  return {x[0] * std::cos(a) - x[2] * std::sin(a), x[1] * std::cos(b) - x[3] * std::sin(b),
          x[2] * std::cos(a) + x[0] * std::sin(a), x[3] * std::cos(b) + x[1] * std::sin(b)};
}

double worst_of_words(const Rows64& first, const Rows64& second) {
  double worst = 0.0;
  for (size_t t = 0; t < 3; ++t)
    for (size_t c = 0; c < 4; ++c) worst = std::max(worst, std::abs(first[t][c] - second[2 - t][c]));
  return worst;
}

}  // namespace

TEST_CASE("worked example: without an encoding the outputs of the two orders are the same, permuted", "[unit]") {
  const Json example = as_json(example_of("none", /*causal=*/true));
  const Json& orders = example["plain"]["orders"];
  CHECK(orders[0]["words"] == Json({"cat", "chases", "mouse"}));
  CHECK(orders[0]["words_zh"] == Json({"猫", "追", "老鼠"}));
  CHECK(orders[1]["words_zh"] == Json({"老鼠", "追", "猫"}));
  const Worked first = by_hand(kFirst, false, as_it_is, nothing), second = by_hand(kSecond, false, as_it_is, nothing);
  check_order(orders[0], first);
  check_order(orders[1], second);
  CHECK(worst_of_words(first.outputs, second.outputs) < 1e-12);
  CHECK(example["plain"]["difference"].get<double>() < 1e-12);
}

TEST_CASE("worked example: with rope each number is that of turned queries and keys, and the orders differ", "[unit]") {
  for (const bool causal : {true, false}) {
    const Json example = as_json(example_of("rope", causal));
    const Json& orders = example["encoded"]["orders"];
    CHECK(example["encoded"]["causal"] == causal);
    const Worked first = by_hand(kFirst, causal, turned, nothing), second = by_hand(kSecond, causal, turned, nothing);
    check_order(orders[0], first);
    check_order(orders[1], second);
    check_rows(orders[0]["queries"], {turned(kFirst[0], 0), turned(kFirst[1], 1), turned(kFirst[2], 2)});
    const double difference = worst_of_words(first.outputs, second.outputs);
    CHECK(difference > 0.01);
    CHECK(example["encoded"]["difference"].get<double>() == Approx(difference));
  }
}

TEST_CASE("worked example: with alibi the bias is the slope of one head times the distance", "[unit]") {
  const double slope = std::exp2(-8.0);
  const auto bias = [slope](int i, int j) { return -slope * std::abs(i - j); };
  const Json example = as_json(example_of("alibi", /*causal=*/true));
  const Json& orders = example["encoded"]["orders"];
  check_order(orders[0], by_hand(kFirst, true, as_it_is, bias));
  check_order(orders[1], by_hand(kSecond, true, as_it_is, bias));
  CHECK(orders[0]["bias"][2][0].get<double>() == Approx(-2.0 * slope));
  const Worked masked = by_hand(kFirst, true, as_it_is, nothing), back = by_hand(kSecond, true, as_it_is, nothing);
  CHECK(example["mask_alone"].get<double>() == Approx(worst_of_words(masked.outputs, back.outputs)));
  CHECK(example["encoding_alone"].get<double>() > 1e-4);
}

TEST_CASE("worked example: a bias of distance alone does not see a reversal, and the text says why", "[unit]") {
  const WorkedExample example = example_of("alibi", /*causal=*/false);
  CHECK(example.encoded.difference < 1e-12);
  CHECK(example.encoding_alone > 1e-4);
  CHECK_THAT(worked_text(example), Catch::Matchers::Contains("the first reversed"));
}

TEST_CASE("worked example: sinusoids are added to the vectors before all else", "[unit]") {
  const auto placed = [](Rows64 rows) {
    for (int i = 0; i < 3; ++i)
      rows[i] = {rows[i][0] + std::sin(i), rows[i][1] + std::cos(i), rows[i][2] + std::sin(0.01 * i),
                 rows[i][3] + std::cos(0.01 * i)};
    return rows;
  };
  const Json example = as_json(example_of("sinusoidal", /*causal=*/false));
  const Json& orders = example["encoded"]["orders"];
  check_rows(orders[0]["inputs"], placed(kFirst));
  check_order(orders[0], by_hand(placed(kFirst), false, as_it_is, nothing));
  check_order(orders[1], by_hand(placed(kSecond), false, as_it_is, nothing));
  CHECK(example["encoded"]["difference"].get<double>() > 0.01);
}

TEST_CASE("worked example: without the scaling softmax saturates as vectors grow", "[unit]") {
  const Json widths = as_json(example_of("none", false))["widths"];
  REQUIRE(widths.size() == 5);
  const auto softmax = [](const Numbers& s, double by) {
    Numbers e;
    double sum = 0.0;
    for (const double v : s) sum += e.emplace_back(std::exp((v - *std::max_element(s.begin(), s.end())) * by));
    for (double& v : e) v /= sum;
    return e;
  };
  for (const Json& row : widths) {
    const int d = row["d"].get<int>();
    Numbers scores(3, 0.0);
    for (int w = 0; w < 3; ++w)
      for (int c = 1; c <= d; ++c)
        scores[w] += std::sqrt(2.0) * std::sin(1.0 * c * c) * std::sqrt(2.0) * std::cos((w + 2.0) * c * c);
    check_rows({row["scores"], row["unscaled"], row["scaled"]},
               {scores, softmax(scores, 1.0), softmax(scores, 1.0 / std::sqrt(d))});
  }
  CHECK(widths[4]["unscaled"][2].get<double>() > 0.999);
  CHECK(widths[4]["scaled"][2].get<double>() < 0.9);
}

TEST_CASE("worked example: every number of the JSON stands in the text, in columns that line up", "[unit]") {
  const WorkedExample example = example_of("rope", /*causal=*/false);
  const std::string text = worked_text(example);
  for (const auto* pass : {&example.plain, &example.encoded})
    for (const auto& order : pass->orders)
      for (const auto* rows : {&order.queries, &order.scores, &order.scaled, &order.weights, &order.outputs})
        for (const auto& row : *rows)
          for (const double v : row)
            CHECK(text.find(fmt::format("{:.4f}", std::abs(v) < 5e-5 ? 0.0 : v)) != std::string::npos);
  // LabRows of one table end in the same column, wide characters counted as two.
  std::istringstream lines(text);
  size_t before = 0;
  int compared = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool of_words = line.find("猫") != std::string::npos || line.find("追") != std::string::npos ||
                          line.find("老鼠") != std::string::npos;
    const bool numbers = of_words && line.find('.') != std::string::npos;
    if (numbers && before != 0) {
      CHECK(display_width(line) == before);
      ++compared;
    }
    before = numbers ? display_width(line) : 0;
  }
  CHECK(compared > 30);
}

TEST_CASE("worked example: an encoding made for other widths is shown at the model's own", "[unit]") {
  StackConfig stack;
  load_config_text("dim: 32\nlayers: 2\nmax_length: 16\nattention: {heads: 4}\nposition: {kind: rope, rotary_dim: 8}\n",
                   walk_of(stack), {});
  const WorkedExample example = worked_example(stack.position, position_facts(stack, /*causal=*/false));
  CHECK(example.head_dim == 8);
  CHECK(example.encoded.orders[0].scaled[0][0] == Approx(2.25 / std::sqrt(8.0)));
  CHECK(example.plain.difference < 1e-12);
  CHECK(example.encoded.difference > 0.01);
}

TEST_CASE("worked example: only what acts in the layer that is shown is named, with its settings", "[unit]") {
  StackConfig stack;
  load_config_text(
      "dim: 32\nlayers: 2\nmax_length: 16\nattention: {heads: 4}\n"
      "position: [{kind: rope, theta: 100, layers: [1, 0]}, {kind: alibi, layers: [0, 1]}]\n",
      walk_of(stack), {});
  const PositionFacts facts = position_facts(stack, /*causal=*/true);
  const auto text = [&](std::optional<int64_t> layer) {
    return worked_text(worked_example(stack.position, facts, layer));
  };
  CHECK_THAT(text({}), Catch::Matchers::Contains("2. With rope, theta 100, as this causal model sees") &&
                           Catch::Matchers::Contains("layer 0 of 2: rope (alibi acts in other layers; --layer)") &&
                           !Catch::Matchers::Contains("added by the encoding"));
  CHECK_THAT(text(1),
             Catch::Matchers::Contains("2. With alibi, as") && Catch::Matchers::Contains("added by the encoding"));
  CHECK(as_json(worked_example(stack.position, facts, 1)).at("encoding") == "alibi");
  CHECK_THROWS_AS(text(2), ConfigError);
}

TEST_CASE("worked example: the table of widths stands after both parts", "[unit]") {
  const std::string text = worked_text(example_of("rope", /*causal=*/true));
  CHECK(text.find("Why 1/√d") > text.find("2. With rope"));
  CHECK(text.find("Why 1/√d") != std::string::npos);
}

}  // namespace ordo::test
