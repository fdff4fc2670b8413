// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/mixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ordo/core/errors.h"
#include "ordo/core/hash.h"
#include "ordo/core/text.h"

namespace ordo {

namespace {

__extension__ using Wide = unsigned __int128;  // products of two counts of rows pass 64 bits

// floor(i * share / whole): how many of the first i of `whole` places go to `share` of them that lie evenly.
uint64_t spread(uint64_t i, uint64_t share, uint64_t whole) { return static_cast<uint64_t>(Wide{i} * share / whole); }

// Of `rows` rows, by largest remainder; those that round to none have one row of the largest.
std::vector<uint64_t> quotas_of(const std::vector<MixedPart>& parts, uint64_t rows) {
  double largest = 0.0, sum = 0.0;  // weights may be so large that their sum is not finite
  for (const auto& part : parts) largest = std::max(largest, part.weight);
  for (const auto& part : parts) sum += part.weight / largest;
  std::vector<uint64_t> quotas;
  std::vector<double> remainders;
  for (const auto& part : parts) {
    const double exact = static_cast<double>(rows) * (part.weight / largest / sum);
    quotas.push_back(std::max<uint64_t>(1, static_cast<uint64_t>(exact)));
    remainders.push_back(exact - static_cast<double>(quotas.back()));
  }
  std::vector<size_t> order(parts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return remainders[a] > remainders[b]; });
  uint64_t given = std::accumulate(quotas.begin(), quotas.end(), uint64_t{0});
  for (size_t i = 0; given < rows; ++given) ++quotas[order[i++ % order.size()]];
  for (; given > rows; --given) --*std::max_element(quotas.begin(), quotas.end());
  return quotas;
}

}  // namespace

Mixture::Mixture(const std::vector<MixedPart>& parts, uint64_t seed) : seed_(key_of(seed, "data order")) {
  ORDO_ASSERT(!parts.empty());
  uint64_t rows = 0;
  for (const auto& part : parts) {
    ORDO_ASSERT(part.weight > 0.0);
    require<DataError>(part.count > 0, "{} has nothing to train on: leave it and its weight out", part.name);
    counts_.push_back(static_cast<uint64_t>(part.count));
    rows += counts_.back();
  }
  ends_ = quotas_of(parts, rows);
  std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
}

// Halves the parts until one is left: at each step the rows of the left half lie evenly among those of both.
MixedRow Mixture::at(int64_t epoch, int64_t number) const {
  ORDO_ASSERT(epoch >= 0 && number >= 0 && number < rows());
  size_t first = 0, last = ends_.size();
  auto place = static_cast<uint64_t>(number), among = ends_.back();
  while (last - first > 1) {
    const size_t middle = first + (last - first) / 2;
    const uint64_t left = ends_[middle - 1] - begin_of(first);
    const uint64_t before = spread(place, left, among);
    const bool goes_left = spread(place + 1, left, among) > before;
    (goes_left ? last : first) = middle;
    place = goes_left ? before : place - before;
    among = goes_left ? left : among - left;
  }
  // The rows of the part since the first epoch; 64 bits hold more than a machine reads.
  const uint64_t row = static_cast<uint64_t>(epoch) * among + place, count = counts_[first];
  const uint64_t pass = row / count;
  return {.part = first, .pass = pass, .index = KeyedPermutation(pass_key(first, pass), count)(row % count)};
}

uint64_t Mixture::pass_key(size_t part, uint64_t pass) const { return mix(mix(seed_, part), pass); }

std::string wrong_weights(const std::vector<double>& weights, size_t entries, const std::string& path) {
  if (weights.empty() || weights.size() == entries) return {};
  if (entries == 0)
    return fmt::format("{0}.weights are of the files of {0}.train, and there are none: leave them out", path);
  return fmt::format(
      "{0}.weights are {1}, and {0}.train names {2} file{3} or pattern{3}: give one weight for each, or leave them out",
      path, weights.size(), entries, entries == 1 ? "" : "s");
}

uint64_t mixed_fingerprint(uint64_t data, const std::vector<MixedPart>& parts) {
  for (const auto& part : parts) {
    data = hash_bytes(&part.weight, sizeof part.weight, data);
    data = mix(data, static_cast<uint64_t>(part.count));
  }
  return data;
}

std::vector<std::string> described(const std::vector<MixedPart>& parts, std::string_view unit) {
  if (parts.empty()) return {};
  const Mixture mixture(parts, /*seed=*/0);
  std::vector<std::string> lines;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto quota = static_cast<double>(mixture.quota(i));
    lines.push_back(fmt::format("{}: {} {}, weight {}: {:.1f} % of an epoch, which passes them {:.3g} times",
                                parts[i].name, parts[i].count, unit, number_text(parts[i].weight),
                                100.0 * quota / static_cast<double>(mixture.rows()),
                                quota / static_cast<double>(parts[i].count)));
  }
  return lines;
}

}  // namespace ordo
