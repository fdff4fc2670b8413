// SPDX-License-Identifier: Apache-2.0
// Moments as people and programs write them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ordo {

// Seconds since 1970-01-01 00:00 UTC, a moment without a zone being taken as UTC; nothing: no such moment. Read are
//   2016-07, 2016-07-01, 2016-07-01 13:00, 2016-07-01T13:00:30.5, with Z or +02:00 or -0500 behind the clock
//   Sat, 22 Apr 2017 15:11:58 -0500 (of mail, RFC 5322), with or without the day of the week
// with blanks around. A month alone is its first day.
std::optional<double> parse_moment(std::string_view text);
// "2016-07-01 13:00:30": whole seconds, UTC.
std::string moment_text(double seconds);
// So many months later at the same hour; on the month's last day where it has no such day.
double months_later(double seconds, int64_t months);
// Months in a step of 28 to 31 days, of a quarter or of a year; 0: it is none.
int64_t months_in(double step);

}  // namespace ordo
