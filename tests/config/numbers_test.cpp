// SPDX-License-Identifier: Apache-2.0
#include "ordo/config/numbers.h"

#include "support/catch.h"

namespace ordo {

TEST_CASE("numbers: what YAML 1.2 calls a number is one, and nothing else", "[unit]") {
  for (const char* text : {"0", "-0", "+1", "12", "1.5", "1.", ".5", "-.5", "1e3", "1E-3", "1.5e+3", "0.001", "0e0"}) {
    INFO(text);
    CHECK(read_number(text).value.has_value());
  }
  for (const char* text : {"",    "+",   "-",    ".",        "e3",    "1e",     "1e+",   "1.2.3", "--1", "1 ",
                           " 1",  "01",  "-01",  "00",       "0x1",   "0b1",    "0o7",   "1_0",   "1,0", "1f",
                           "inf", "nan", ".inf", "infinity", "1e400", "1e-400", "0x1p3", "１"}) {
    INFO(text);
    CHECK_FALSE(read_number(text).value.has_value());
  }
}

TEST_CASE("numbers: a text that is nearly a number gets told how to write it", "[unit]") {
  CHECK(read_number("-007").hint == "write it without the leading zero: -7");
  CHECK(read_number("0b101").hint == "write it as 5");
  CHECK(read_number("0o17").hint == "write it as 15");
  CHECK(read_number("1,000.5").hint == "write it without separators: 1000.5");
  CHECK(read_number("-.Inf").hint == "NaN and infinity are not taken");
  CHECK(read_number("abc").hint == "");
}

TEST_CASE("numbers: whole ones reach over all 64 bits and no further", "[unit]") {
  CHECK(read_whole("-9223372036854775808").value == INT64_MIN);
  CHECK(read_whole("9223372036854775807").value == INT64_MAX);
  CHECK(read_whole("9.223372036854775807e18").value == INT64_MAX);
  CHECK(read_whole("1e18").value == 1'000'000'000'000'000'000);
  CHECK(read_whole("100e-2").value == 1);
  CHECK(read_whole("0.0").value == 0);
  CHECK(read_whole("-0").value == 0);
  CHECK(read_whole("0e99999999999999999999").value == 0);
  for (const char* text : {"9223372036854775808", "-9223372036854775809", "1e19", "1e99999999999", "0.5", "1e-1", "1.5",
                           "99999999999999999999999999"}) {
    INFO(text);
    CHECK_FALSE(read_whole(text).value.has_value());
  }
}

TEST_CASE("numbers: amounts", "[unit]") {
  CHECK(read_quantity("1e-2epochs", kHorizonUnits).value == Quantity{0.01, "epochs"});
  CHECK(read_quantity("3   tokens", kHorizonUnits).value == Quantity{3, "tokens"});
  CHECK(read_quantity("1 step", kHorizonUnits).value == Quantity{1, "steps"});
  for (const char* text :
       {"", "steps", "5 steps extra", "5s", "5 STEPS", "nan epochs", "5 ", "0x10", "1e400 steps", "5,000 steps"}) {
    INFO(text);
    CHECK_FALSE(read_quantity(text, kHorizonUnits).value.has_value());
  }
}

}  // namespace ordo
