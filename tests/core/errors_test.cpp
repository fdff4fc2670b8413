// SPDX-License-Identifier: Apache-2.0
#include "ordo/core/errors.h"

#include "support/catch.h"

namespace ordo {

TEST_CASE("errors: the class decides the exit code", "[unit]") {
  CHECK(Error("x").exit_code() == 1);
  CHECK(ConfigError("x").exit_code() == 2);
  CHECK(DataError("x").exit_code() == 3);
  CHECK(CheckpointError("x").exit_code() == 4);
  CHECK(NumericError("x").exit_code() == 5);
  CHECK(DeviceError("x").exit_code() == 6);
}

TEST_CASE("errors: require throws the class asked for, with the formatted text", "[unit]") {
  CHECK_NOTHROW(require(true, "never {}", 1));
  CHECK_THROWS_WITH(require<DataError>(false, "width {}, expected {}", 3, 4), "width 3, expected 4");
  CHECK_THROWS_AS(require<DataError>(false, "x"), DataError);
}

TEST_CASE("errors: a broken invariant says that it is a bug, and where", "[unit]") {
  CHECK_NOTHROW(ORDO_ASSERT(1 + 1 == 2));
  try {
    ORDO_ASSERT(1 + 1 == 3);
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    const std::string text = error.what();
    CHECK(text.starts_with("this is a bug in Ordo: '1 + 1 == 3'"));
    CHECK(text.find("errors_test.cpp:") != std::string::npos);
  }
}

}  // namespace ordo
