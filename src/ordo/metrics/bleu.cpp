// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/bleu.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ordo/core/errors.h"
#include "ordo/metrics/words.h"

namespace ordo {

namespace {

constexpr size_t kBleuOrders = 4;
// A row: length of the hypothesis, of the reference, matches of each order, n-grams of each order.
constexpr size_t kBleuMatches = 2, kBleuGrams = kBleuMatches + kBleuOrders, kBleuWidth = kBleuGrams + kBleuOrders;

size_t nearest_length(size_t length, std::span<const std::u32string> references) {
  const auto distance = [length](size_t other) { return other > length ? other - length : length - other; };
  size_t nearest = references.front().size();
  for (const std::u32string& reference : references) {
    const size_t other = reference.size();
    const bool nearer = distance(other) < distance(nearest);
    if (nearer || (distance(other) == distance(nearest) && other < nearest)) nearest = other;
  }
  return nearest;
}

}  // namespace

Bleu::Bleu(const BleuConfig& config)
    : TextMetric(kBleuWidth),
      config_(config),
      smoothing_value_(config.smoothing_value.value_or(config.smoothing == BleuSmoothing::floor ? 0.1 : 1.0)) {
  require<ConfigError>(smoothing_value_ > 0.0, "BLEU: the value of its smoothing must be above 0 (found: {})",
                       smoothing_value_);
}

std::vector<std::string> Bleu::words(std::string_view text) const {
  return tokenised(config_.lower_case ? lowered(text) : std::string(text), config_.tokenisation);
}

std::vector<double> Bleu::compare(std::string_view hypothesis, std::span<const std::string> references) const {
  WordNumbers numbers;
  const std::u32string text = numbers(words(hypothesis));
  std::vector<std::u32string> wanted;
  for (const std::string& reference : references) wanted.push_back(numbers(words(reference)));
  std::vector<double> row(kBleuWidth, 0.0);
  row[0] = static_cast<double>(text.size());
  row[1] = static_cast<double>(nearest_length(text.size(), wanted));
  for (size_t order = 1; order <= kBleuOrders; ++order) {
    const GramCounts grams = count_grams(text, order);
    GramCounts allowed;
    for (const std::u32string& reference : wanted) allowed = larger_counts(allowed, count_grams(reference, order));
    row[kBleuMatches + order - 1] = static_cast<double>(shared_count(grams, allowed));
    row[kBleuGrams + order - 1] = static_cast<double>(total_count(grams));
  }
  return row;
}

double Bleu::precision(double matches, double grams, int64_t& empty_orders) const {
  if (matches > 0.0) return matches / grams;
  if (config_.smoothing == BleuSmoothing::exp) return std::ldexp(1.0, static_cast<int>(-++empty_orders)) / grams;
  return config_.smoothing == BleuSmoothing::floor ? smoothing_value_ / grams : 0.0;
}

// orders_present: the mean is over the orders of which there are n-grams.
double Bleu::score(std::span<const double> sums, bool orders_present) const {
  const double length = sums[0], wanted = sums[1];
  const auto matches = sums.subspan(kBleuMatches, kBleuOrders), grams = sums.subspan(kBleuGrams, kBleuOrders);
  if (std::none_of(matches.begin(), matches.end(), [](double count) { return count > 0.0; })) return 0.0;
  double logs = 0.0;
  size_t orders = 0;
  for (int64_t empty_orders = 0; orders < kBleuOrders; ++orders) {
    const double added = config_.smoothing == BleuSmoothing::add_k && orders > 0 ? smoothing_value_ : 0.0;
    if (grams[orders] + added == 0.0) break;
    logs += std::log(precision(matches[orders] + added, grams[orders] + added, empty_orders));
  }
  if (orders < kBleuOrders && !orders_present) return 0.0;
  const double brevity = length < wanted ? std::exp(1.0 - wanted / length) : 1.0;
  return 100.0 * brevity * std::exp(logs / static_cast<double>(orders));
}

std::vector<std::string> Bleu::columns() const {
  return {"bleu", "hypothesis_words", "reference_words", "matches_1", "matches_2", "matches_3", "matches_4"};
}

std::vector<double> Bleu::example(int64_t i) const {
  const std::span<const double> sums = row(i);
  std::vector<double> columns{score(sums, true)};
  columns.insert(columns.end(), sums.begin(), sums.begin() + kBleuGrams);
  return columns;
}

std::string Bleu::signature() const {
  static constexpr std::array<std::string_view, 4> kNames{"exp", "floor", "add-k", "none"};
  std::string smoothing(kNames.at(static_cast<size_t>(config_.smoothing)));
  if (config_.smoothing == BleuSmoothing::floor || config_.smoothing == BleuSmoothing::add_k) {
    smoothing += fmt::format("[{:.2f}]", smoothing_value_);
  }
  return signed_as(fmt::format("case:{}|eff:no|tok:{}|smooth:{}", config_.lower_case ? "lc" : "mixed",
                               tokenisation_name(config_.tokenisation), smoothing));
}

}  // namespace ordo
