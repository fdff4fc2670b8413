// SPDX-License-Identifier: Apache-2.0
#include "ordo/generate/processors.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "ordo/core/errors.h"

namespace ordo {

namespace {

// Ids of a prompt may lie beyond what may be chosen.
void forbid(std::span<double> scores, int64_t id) {
  if (static_cast<size_t>(id) < scores.size()) scores[static_cast<size_t>(id)] = kExcluded;
}

}  // namespace

void penalise_repetition(std::span<double> logits, std::span<const int64_t> seen, double penalty) {
  if (penalty == 1.0) return;
  for (const int64_t id : std::unordered_set<int64_t>(seen.begin(), seen.end())) {
    if (static_cast<size_t>(id) >= logits.size()) continue;
    double& logit = logits[static_cast<size_t>(id)];
    logit = logit > 0.0 ? logit / penalty : logit * penalty;
  }
}

void forbid_repeated_ngrams(std::span<double> scores, std::span<const int64_t> text, int64_t n) {
  if (n <= 0 || text.size() < static_cast<size_t>(n)) return;
  const auto before = static_cast<size_t>(n) - 1;
  const auto last = text.last(before);
  for (size_t begin = 0; begin + before < text.size(); ++begin)
    if (std::equal(last.begin(), last.end(), text.begin() + static_cast<std::ptrdiff_t>(begin)))
      forbid(scores, text[begin + before]);
}

void force_token(std::span<double> scores, int64_t id) {
  for (size_t other = 0; other < scores.size(); ++other)
    if (other != static_cast<size_t>(id)) scores[other] = kExcluded;
}

void restrict_choice(std::span<double> scores, const RowSoFar& row, const GenerateConfig& config) {
  const auto fresh = static_cast<size_t>(row.fresh);
  if (fresh < row.prefix.size()) return force_token(scores, row.prefix[fresh]);
  forbid_repeated_ngrams(scores, row.text, config.no_repeat_ngram);
  if (row.fresh < config.min_new_tokens)
    for (const int64_t id : config.stop) forbid(scores, id);
}

bool nothing_left(std::span<const double> scores) {
  return std::all_of(scores.begin(), scores.end(), [](double score) { return score == kExcluded; });
}

int64_t usable_ids(int64_t vocab_size, const GenerateConfig& config) {
  return config.vocab_size > 0 ? std::min(config.vocab_size, vocab_size) : vocab_size;
}

void require_usable(std::span<const double> logits) {
  const bool nan = std::any_of(logits.begin(), logits.end(), [](double x) { return std::isnan(x); });
  const double largest = *std::max_element(logits.begin(), logits.end());
  require<NumericError>(!nan && std::isfinite(largest),
                        "the model gives logits that are {}: no token can be chosen; its weights are likely damaged",
                        nan ? "not a number" : "infinite");
}

}  // namespace ordo
