// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/ngram_model.h"

#include <algorithm>
#include <cmath>

#include "ordo/core/errors.h"

namespace ordo {

namespace {

// Calls visit(before, token) for each token; before is -1 for the first of a document.
template <class Visit>
void each_token(const TokenSequence& tokens, const Visit& visit) {
  constexpr int64_t kBlock = 1 << 16;
  std::vector<int64_t> ids(kBlock), documents(kBlock);
  int64_t before = -1, document = -1;
  for (int64_t from = 0; from < tokens.size(); from += kBlock) {
    const auto count = static_cast<size_t>(std::min(kBlock, tokens.size() - from));
    tokens.read(from, std::span(ids).first(count), std::span(documents).first(count));
    for (size_t i = 0; i < count; ++i) {
      visit(documents[i] == document ? before : -1, ids[i]);
      before = ids[i];
      document = documents[i];
    }
  }
}

}  // namespace

NgramModel::NgramModel(const TokenSequence& training, int64_t vocab_size)
    : vocab_size_(vocab_size),
      counts_(static_cast<size_t>(vocab_size)),
      followed_(static_cast<size_t>(vocab_size)),
      followers_(static_cast<size_t>(vocab_size)) {
  each_token(training, [&](int64_t before, int64_t token) {
    ++tokens_;
    ++counts_[static_cast<size_t>(token)];
    if (before < 0) return;
    ++followed_[static_cast<size_t>(before)];
    if (++pairs_[static_cast<uint64_t>(before * vocab_size_ + token)] == 1) ++followers_[static_cast<size_t>(before)];
  });
}

double NgramModel::unigram(int64_t token) const {
  return (static_cast<double>(counts_[static_cast<size_t>(token)]) + 1.0) / static_cast<double>(tokens_ + vocab_size_);
}

double NgramModel::bigram(int64_t before, int64_t token) const {
  const auto followed = static_cast<double>(followed_[static_cast<size_t>(before)]);
  const auto followers = static_cast<double>(followers_[static_cast<size_t>(before)]);
  if (followed == 0.0) return unigram(token);
  const auto found = pairs_.find(static_cast<uint64_t>(before * vocab_size_ + token));
  const double together = found == pairs_.end() ? 0.0 : static_cast<double>(found->second);
  return (together + followers * unigram(token)) / (followed + followers);
}

NgramLosses NgramModel::losses(const TokenSequence& held_out) const {
  NgramLosses sums;
  double judged = 0.0;
  each_token(held_out, [&](int64_t before, int64_t token) {
    if (before < 0) return;
    sums.unigram -= std::log(unigram(token));
    sums.bigram -= std::log(bigram(before, token));
    judged += 1.0;
  });
  ORDO_ASSERT(judged > 0.0);
  return {sums.unigram / judged, sums.bigram / judged};
}

}  // namespace ordo
