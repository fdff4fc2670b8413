// SPDX-License-Identifier: Apache-2.0
#include "ordo/core/text.h"

#include <cmath>
#include <limits>

#include "support/catch.h"

namespace ordo {

TEST_CASE("text: edits are insertions, deletions, replacements and swaps of neighbours", "[unit]") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("theta", "tehta") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("rope", "rope") == 0);
  CHECK(edit_distance("ab", "ba") == 1);
}

TEST_CASE("text: the nearest name is found through slips of the fingers and habits of spelling", "[unit]") {
  const std::vector<std::string> names{"batch_size", "theta", "lr", "warmup", "dim", "kv_heads"};
  CHECK(nearest("tehta", names) == "theta");
  CHECK(nearest("batchSize", names) == "batch_size");
  CHECK(nearest("kv-heads", names) == "kv_heads");
  CHECK(nearest("rl", names) == "lr");
  CHECK(nearest("DIM", names) == "dim");
  CHECK(nearest("optimizer", names) == "");
  CHECK(nearest("", names) == "");
  CHECK(nearest("x", names) == "");
  CHECK(nearest("x", std::vector<std::string>{"y"}) == "");
}

TEST_CASE("text: a number is the shortest text that reads back to it", "[unit]") {
  CHECK(number_text(3e-4) == "0.0003");
  CHECK(number_text(1e-8) == "1e-08");
  CHECK(number_text(2.0) == "2");
  CHECK(number_text(0.1) == "0.1");
  for (const double value : {1.0 / 3.0, 1e300, 123456789012345.0, -0.0, std::numeric_limits<double>::max()})
    CHECK(std::stod(number_text(value)) == value);
}

TEST_CASE("text: decimals are four, and a zero has no sign", "[unit]") {
  CHECK(decimal_text(0.25) == "0.2500");
  CHECK(decimal_text(-1.23456) == "-1.2346");
  CHECK(decimal_text(-4e-5) == "0.0000");
  CHECK(decimal_text(-6e-5) == "-0.0001");
  CHECK(decimal_text(std::nan("")) == "-");
}

TEST_CASE("text: counts and bytes get a unit and at most one decimal", "[unit]") {
  CHECK(count_text(0) == "0");
  CHECK(count_text(999) == "999");
  CHECK(count_text(1000) == "1k");
  CHECK(count_text(10745088) == "10.7M");
  CHECK(count_text(999960) == "1M");
  CHECK(count_text(7.24e9) == "7.2B");
  CHECK(bytes_text(512) == "512 B");
  CHECK(bytes_text(1.3e9) == "1.3 GB");
  CHECK(bytes_text(999.97e3) == "1 MB");
}

TEST_CASE("text: durations have two units at most", "[unit]") {
  CHECK(duration_text(0) == "0ms");
  CHECK(duration_text(0.012) == "12ms");
  CHECK(duration_text(0.8) == "0.8s");
  CHECK(duration_text(42.3) == "42s");
  CHECK(duration_text(59.7) == "1m 00s");
  CHECK(duration_text(123) == "2m 03s");
  CHECK(duration_text(3 * 3600 + 7 * 60) == "3h 07m");
  CHECK(duration_text(2 * 86400 + 3 * 3600) == "2d 03h");
  CHECK(duration_text(-1) == "?");
  CHECK(duration_text(std::nan("")) == "?");
}

TEST_CASE("text: parts are joined", "[unit]") {
  CHECK(join(std::vector<std::string>{}, ", ") == "");
  CHECK(join(std::vector<std::string>{"a", "b"}, ", ") == "a, b");
}

}  // namespace ordo
