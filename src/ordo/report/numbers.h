// SPDX-License-Identifier: Apache-2.0
// Numbers as a report prints them; what is not finite is "–".
#pragma once
#include <string>

#include "ordo/study/summary.h"

namespace ordo::report {

inline constexpr const char* kNothing = "–";

std::string value_text(double value);                  // 0.9983, 12.3457, 1.2e-05
std::string rounded_text(double value, double error);  // to two digits of its error, four decimals at most
std::string interval_text(const Interval& interval);   // "[0.994, 1.002]"
std::string p_text(double p);                          // 0.25, 0.0312, < 0.0001
// "0.998 ± 0.004"; the mean alone where there is no interval; mean and ends where the interval is not symmetric.
std::string estimate_text(double mean, const Interval& interval);
// The same of a cell: a cell of two modes has no ±, one without values says why.
std::string estimate_text(const Cell& cell);
std::string mean_text(const Cell& cell);          // without ends: "0.998 ± 0.004", or the mean alone
std::string solved_text(const Cell& cell);        // "3/3 [0.29, 1.00]"
std::string short_hash(const std::string& hash);  // "xxh3:ed2f89d01c3b5a77" -> "ed2f89d01c3b"
std::string capitalised(std::string text);
std::string length_text(int64_t length);  // "16"; "area" for 0

}  // namespace ordo::report
