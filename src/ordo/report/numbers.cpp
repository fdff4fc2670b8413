// SPDX-License-Identifier: Apache-2.0
#include "ordo/report/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ordo::report {

std::string value_text(double value) {
  if (!std::isfinite(value)) return kNothing;
  const double size = std::abs(value);
  if (size >= 1e5 || (size < 1e-3 && size > 0.0)) return fmt::format("{:.3g}", value);
  return fmt::format("{:.4f}", value == 0.0 ? 0.0 : value);
}

std::string rounded_text(double value, double error) {
  if (!std::isfinite(value)) return kNothing;
  if (!std::isfinite(error) || error <= 0.0 || std::abs(value) >= 1e5) return value_text(value);
  const int decimals = std::clamp(1 - static_cast<int>(std::floor(std::log10(error))), 0, 4);
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  return text.find_first_not_of("-0.") == std::string::npos && text[0] == '-' ? text.substr(1) : text;
}

std::string interval_text(const Interval& interval) {
  if (!interval.exists() || !std::isfinite(interval.low) || !std::isfinite(interval.high)) return kNothing;
  const double half = (interval.high - interval.low) / 2.0;
  return fmt::format("[{}, {}]", rounded_text(interval.low, half), rounded_text(interval.high, half));
}

std::string p_text(double p) {
  if (!std::isfinite(p)) return kNothing;
  return p < 1e-4 ? "< 0.0001" : fmt::format("{:.3g}", p);
}

std::string estimate_text(double mean, const Interval& interval) {
  if (!std::isfinite(mean)) return kNothing;
  const std::string ends = interval_text(interval);
  if (ends == kNothing) return value_text(mean);
  const double half = (interval.high - interval.low) / 2.0;
  if (interval.kind != "t") return fmt::format("{} {}", rounded_text(mean, half), ends);
  return fmt::format("{} ± {}", rounded_text(mean, half), rounded_text(half, half));
}

std::string estimate_text(const Cell& cell) {
  const bool ends = cell.interval.exists() && cell.interval.kind != "t";
  if (cell.values.empty() || cell.two_modes || !ends) return mean_text(cell);
  return estimate_text(cell.mean, cell.interval);
}

std::string mean_text(const Cell& cell) {
  if (!cell.refused.empty()) return "refused";
  if (cell.values.empty()) return cell.diverged > 0 ? "diverged" : kNothing;
  if (cell.two_modes) return value_text(cell.mean) + " (two modes)";
  if (cell.interval.kind == "t") return estimate_text(cell.mean, cell.interval);
  return rounded_text(cell.mean, (cell.interval.high - cell.interval.low) / 2.0);
}

std::string solved_text(const Cell& cell) {
  if (cell.runs == 0 || !cell.refused.empty()) return kNothing;
  const std::string ends = interval_text(cell.solved_interval);
  return fmt::format("{}/{}{}", cell.solved, cell.runs, ends == kNothing ? "" : " " + ends);
}

std::string short_hash(const std::string& hash) { return hash.substr(hash.find(':') + 1).substr(0, 12); }

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string length_text(int64_t length) { return length == 0 ? "area" : std::to_string(length); }

}  // namespace ordo::report
