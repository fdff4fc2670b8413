// SPDX-License-Identifier: Apache-2.0
#include "ordo/generate/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ordo/core/hash.h"

namespace ordo {

namespace {

// Larger first; of equal ones the lower id.
struct ByLikelihood {
  std::span<const double> logits;
  bool operator()(size_t a, size_t b) const { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; }
};

std::vector<size_t> all_ids(std::span<const double> logits) {
  std::vector<size_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), size_t{0});
  return ids;
}

}  // namespace

void keep_top_k(std::span<double> logits, int64_t k) {
  if (k <= 0 || static_cast<size_t>(k) >= logits.size()) return;
  auto ids = all_ids(logits);
  std::nth_element(ids.begin(), ids.begin() + (k - 1), ids.end(), ByLikelihood{logits});
  for (auto id = ids.begin() + k; id != ids.end(); ++id) logits[*id] = kExcluded;
}

void keep_top_p(std::span<double> logits, double p) {
  if (p >= 1.0) return;
  const auto probabilities = softmax(logits);
  auto ids = all_ids(logits);
  std::sort(ids.begin(), ids.end(), ByLikelihood{logits});
  double sum = 0.0;
  for (const size_t id : ids) {
    const bool enough = sum >= p;
    sum += probabilities[id];
    if (enough) logits[id] = kExcluded;
  }
}

void keep_min_p(std::span<double> logits, double share) {
  if (share <= 0.0) return;
  const double least = *std::max_element(logits.begin(), logits.end()) + std::log(share);
  for (double& logit : logits)
    if (logit < least) logit = kExcluded;
}

std::vector<double> softmax(std::span<const double> logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> probabilities(logits.size());
  double sum = 0.0;
  for (size_t i = 0; i < logits.size(); ++i) sum += probabilities[i] = std::exp(logits[i] - largest);
  for (double& probability : probabilities) probability /= sum;
  return probabilities;
}

int64_t likeliest(std::span<const double> logits) {
  return std::max_element(logits.begin(), logits.end()) - logits.begin();
}

int64_t token_at(std::span<const double> probabilities, double unit) {
  double sum = 0.0;
  int64_t last = 0;
  for (size_t i = 0; i < probabilities.size(); ++i) {
    if (probabilities[i] <= 0.0) continue;
    sum += probabilities[i];
    last = static_cast<int64_t>(i);
    if (unit < sum) break;
  }
  return last;  // rounding may leave the sum just below unit: then the last one
}

int64_t choose_token(std::vector<double> logits, std::span<const int64_t> seen, const GenerateConfig& config,
                     double unit) {
  require_usable(logits);
  penalise_repetition(logits, seen, config.repetition_penalty);
  if (config.greedy) return likeliest(logits);
  for (double& logit : logits) logit /= config.temperature;
  keep_top_k(logits, config.top_k);
  keep_top_p(logits, config.top_p);
  keep_min_p(logits, config.min_p);
  return token_at(softmax(logits), unit);
}

std::optional<int64_t> next_token(std::span<const double> logits, const RowSoFar& row, const DrawPlace& draw,
                                  const GenerateConfig& config) {
  std::vector<double> scores(logits.begin(), logits.end());
  restrict_choice(scores, row, config);
  if (nothing_left(scores)) {
    require_usable(logits);
    return std::nullopt;
  }
  uint64_t key = mix(mix(key_of(config.seed, "generate"), static_cast<uint64_t>(config.first_prompt + draw.prompt)),
                     static_cast<uint64_t>(draw.step));
  if (draw.sample > 0) key = mix(key, static_cast<uint64_t>(draw.sample));
  return choose_token(std::move(scores), row.text, config, KeyedSequence(key).unit());
}

}  // namespace ordo
