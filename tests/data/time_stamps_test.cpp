// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/time_stamps.h"

namespace ordo::test {

TEST_CASE("time stamps: dates, clocks, zones and the form of mail are read", "[unit]") {
  struct Case {
    const char* text;
    double seconds;
  };
  constexpr double kDay = 86400.0;
  for (const auto& [text, seconds] : {Case{"1970-01-01", 0.0},
                                      {"1970-02", 31 * kDay},
                                      {"2000-03-01", 11017 * kDay},
                                      {"2016-07-01 00:00:00", 16983 * kDay},
                                      {"2016-07-01 13:00", 16983 * kDay + 46800},
                                      {"2016-07-01T13:00:30.25", 16983 * kDay + 46830.25},
                                      {" 2016-07-01 13:00:30Z\t", 16983 * kDay + 46830},
                                      {"2016-07-01T13:00+02:00", 16983 * kDay + 39600},
                                      {"2016-07-01 13:00 -0530", 16983 * kDay + 66600},
                                      {"1969-12-31 23:59:59", -1.0},
                                      {"Sat, 22 Apr 2017 15:11:58 -0500", 1492891918.0},
                                      {"2 Jan 2013 17:46:43 GMT", 1357148803.0}}) {
    INFO(text);
    const auto read = parse_moment(text);
    REQUIRE(read.has_value());
    CHECK(*read == Approx(seconds).margin(1e-6));
  }
}

TEST_CASE("time stamps: what is no moment is none", "[unit]") {
  for (const char* text :
       {"", " ", "yesterday", "2016", "2016-13-01", "2015-02-29", "2016-07-01 24:00", "2016-07-01 12:60",
        "2016-07-01 12", "2016-7-1", "2016-07-01x", "2016-07-01 12:00 CET", "2016-07-01 12:00:00.", "01/07/2016",
        "Sat 22 Apr 2017 15:11:58 -0500", "Sat, 31 Apr 2017 15:11:58 -0500", "22 Apr 2017 15:11:58"}) {
    INFO(text);
    CHECK_FALSE(parse_moment(text).has_value());
  }
}

TEST_CASE("time stamps: a moment is written as it is read", "[unit]") {
  for (const char* text : {"2016-07-01 13:00:30", "1969-12-31 23:59:59", "2000-02-29 00:00:00"})
    CHECK(moment_text(parse_moment(text).value()) == text);
}

}  // namespace ordo::test
