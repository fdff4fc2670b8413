// SPDX-License-Identifier: Apache-2.0
#include "ordo/config/numbers.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

#include "ordo/config/words.h"
#include "ordo/core/text.h"

namespace ordo {

namespace {

// The parts of [-+]? (digits [. digits?]? | . digits) ([eE] [-+]? digits)?
struct Decimal {
  bool negative = false;
  std::string_view whole, fraction, exponent;  // the exponent with its sign
};

std::string_view take_digits(std::string_view& rest) {
  const size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const auto digits = rest.substr(0, end);
  rest.remove_prefix(end);
  return digits;
}

std::optional<Decimal> split_decimal(std::string_view rest) {
  Decimal d;
  if (rest.starts_with('+') || rest.starts_with('-')) {
    d.negative = rest.front() == '-';
    rest.remove_prefix(1);
  }
  d.whole = take_digits(rest);
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    d.fraction = take_digits(rest);
  }
  if (d.whole.empty() && d.fraction.empty()) return std::nullopt;
  if (rest.starts_with('e') || rest.starts_with('E')) {
    rest.remove_prefix(1);
    const auto start = rest;
    if (rest.starts_with('+') || rest.starts_with('-')) rest.remove_prefix(1);
    if (take_digits(rest).empty()) return std::nullopt;
    d.exponent = start.substr(0, start.size() - rest.size());
  }
  const bool leading_zero = d.whole.size() > 1 && d.whole.front() == '0';
  return rest.empty() && !leading_zero ? std::optional(d) : std::nullopt;
}

std::string without(std::string_view text, std::string_view unwanted) {
  std::string out;
  for (const char c : text)
    if (unwanted.find(c) == std::string_view::npos) out += c;
  return out;
}

// Hexadecimal, octal, binary: "0x10" -> 16.
std::optional<uint64_t> other_base(std::string_view text) {
  if (text.size() < 3 || text[0] != '0') return std::nullopt;
  const int base = text[1] == 'x' || text[1] == 'X'   ? 16
                   : text[1] == 'o' || text[1] == 'O' ? 8
                   : text[1] == 'b' || text[1] == 'B' ? 2
                                                      : 0;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, base == 0 ? 10 : base);
  return base != 0 && error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::string number_hint(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::string word = without(lower, "+-.");
  if (word == "nan" || word == "inf" || word == "infinity") return "NaN and infinity are not taken";
  if (const auto value = other_base(text)) return fmt::format("write it as {}", *value);
  const bool negative = text.starts_with('-');
  std::string_view digits = text.substr(negative || text.starts_with('+') ? 1 : 0);
  const size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
  const std::string trimmed = (negative ? "-" : "") + std::string(digits.substr(zeros));
  if (zeros > 0 && split_decimal(trimmed)) return fmt::format("write it without the leading zero: {}", trimmed);
  const std::string plain = without(text, "_,");
  if (plain.size() < text.size() && split_decimal(plain)) return fmt::format("write it without separators: {}", plain);
  return "";
}

// The digits of a decimal that is whole: "2.50e1" -> "25". Nothing when it has a fraction or cannot fit 64 bits.
std::optional<std::string> whole_digits(const Decimal& d) {
  std::string digits = std::string(d.whole) + std::string(d.fraction);
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return "0";
  int64_t exponent = 0;
  const auto text = d.exponent.starts_with('+') ? d.exponent.substr(1) : d.exponent;
  if (!text.empty() && std::from_chars(text.data(), text.data() + text.size(), exponent).ec != std::errc())
    return std::nullopt;
  constexpr int64_t kMostDigits = 19;
  if (exponent > kMostDigits + static_cast<int64_t>(d.fraction.size())) return std::nullopt;
  exponent -= static_cast<int64_t>(d.fraction.size());
  for (; exponent < 0 && digits.ends_with('0'); ++exponent) digits.pop_back();
  if (exponent < 0 || static_cast<int64_t>(digits.size()) + exponent > kMostDigits) return std::nullopt;
  return digits + std::string(static_cast<size_t>(exponent), '0');
}

}  // namespace

Reading<double> read_number(std::string_view text) {
  if (!split_decimal(text)) return {std::nullopt, number_hint(text)};
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    return {std::nullopt, "its size is beyond what a double holds (1e-308 to 1e308)"};
  return {value, ""};
}

Reading<int64_t> read_whole(std::string_view text) {
  const auto decimal = split_decimal(text);
  if (!decimal) return {std::nullopt, number_hint(text)};
  const auto number = read_number(text);
  constexpr double kBeyond = 9.3e18;
  const auto digits = whole_digits(*decimal);
  int64_t value = 0;
  if (digits) {
    const std::string signed_digits = (decimal->negative ? "-" : "") + *digits;
    const auto [end, error] = std::from_chars(signed_digits.data(), signed_digits.data() + signed_digits.size(), value);
    if (error == std::errc()) return {value, ""};
  }
  const bool too_large = digits.has_value() || !number.value || *number.value > kBeyond || *number.value < -kBeyond;
  return {std::nullopt, too_large ? "whole numbers reach from -9223372036854775808 to 9223372036854775807" : ""};
}

Reading<Quantity> read_quantity(std::string_view text, Units units) {
  std::string_view number = text, unit;
  // The unit starts where letters do, but for the e of an exponent.
  for (size_t i = 0; i < text.size(); ++i) {
    const bool exponent =
        (text[i] == 'e' || text[i] == 'E') && i > 0 && i + 1 < text.size() &&
        (std::isdigit(static_cast<unsigned char>(text[i + 1])) || text[i + 1] == '-' || text[i + 1] == '+');
    if (exponent || std::string_view("0123456789.+-").find(text[i]) != std::string_view::npos) continue;
    number = text.substr(0, i);
    unit = text.substr(std::min(text.find_first_not_of(' ', i), text.size()));
    break;
  }
  const std::vector<std::string> names(units.begin(), units.end());
  const auto amount = read_number(number);
  if (!amount.value || (unit.empty() && number.size() < text.size()))
    return {std::nullopt, amount.hint.empty() ? number_hint(text) : amount.hint};
  if (unit.empty()) return {Quantity{*amount.value, names.front()}, ""};
  for (const auto& name : names)
    if (unit == name || std::string(unit) + "s" == name) return {Quantity{*amount.value, name}, ""};  // `1 epoch`
  const std::string near = did_you_mean(unit, names);
  return {std::nullopt, fmt::format("unknown unit '{}'; {}{}units: {}", shown(unit), near, near.empty() ? "" : " ",
                                    join(names, ", "))};
}

}  // namespace ordo
