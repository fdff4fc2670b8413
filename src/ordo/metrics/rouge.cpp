// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/rouge.h"

#include <algorithm>
#include <unordered_map>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/metrics/words.h"

namespace ordo {

namespace {

using RougeSentences = std::vector<std::u32string>;

size_t word_count(const RougeSentences& sentences) {
  size_t count = 0;
  for (const std::u32string& sentence : sentences) count += sentence.size();
  return count;
}

// Marks the words of a reference that belong to one of its longest subsequences in common with another sentence. Which
// one, where there are several, is as rouge-score walks back: over the reference first.
void mark_common(std::u32string_view reference, std::u32string_view other, std::vector<bool>& marked) {
  std::vector<int64_t> row(other.size() + 1, 0);  // of the table of lengths; of the rest a bit a cell is enough
  std::vector<bool> over_other(reference.size() * other.size(), false);
  for (size_t i = 0; i < reference.size(); ++i) {
    int64_t before = 0;
    for (size_t j = 0; j < other.size(); ++j) {
      const int64_t extended = before + 1;
      before = row[j + 1];
      over_other[i * other.size() + j] = row[j] > before;
      row[j + 1] = reference[i] == other[j] ? extended : std::max(before, row[j]);
    }
  }
  size_t i = reference.size(), j = other.size();
  while (i > 0 && j > 0) {
    if (reference[i - 1] == other[j - 1]) {
      marked[--i] = true;
      --j;
    } else if (over_other[(i - 1) * other.size() + j - 1]) {
      --j;
    } else {
      --i;
    }
  }
}

// A word matches no more often than the hypothesis has it (the reference marks each of its own once).
int64_t union_matches(const RougeSentences& text, const RougeSentences& reference) {
  std::unordered_map<char32_t, int64_t> left;
  for (const std::u32string& sentence : text) {
    for (const char32_t word : sentence) ++left[word];
  }
  int64_t matches = 0;
  for (const std::u32string& wanted : reference) {
    std::vector<bool> marked(wanted.size(), false);
    for (const std::u32string& sentence : text) mark_common(wanted, sentence, marked);
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (marked[i] && left[wanted[i]]-- > 0) ++matches;
    }
  }
  return matches;
}

// {F1, precision, recall}
std::vector<double> rouge_scores(const RougeSentences& text, const RougeSentences& reference, RougeUnit unit) {
  const size_t ours = word_count(text), theirs = word_count(reference);
  if (ours == 0 || theirs == 0) return {0.0, 0.0, 0.0};
  const int64_t matches =
      unit == RougeUnit::text ? common_subsequence(text.front(), reference.front()) : union_matches(text, reference);
  const double precision = static_cast<double>(matches) / static_cast<double>(ours);
  const double recall = static_cast<double>(matches) / static_cast<double>(theirs);
  return {matches == 0 ? 0.0 : 2.0 * precision * recall / (precision + recall), precision, recall};
}

}  // namespace

std::vector<double> Rouge::compare(std::string_view hypothesis, std::span<const std::string> references) const {
  WordNumbers numbers;
  const auto sentences = [&](std::string_view text) {
    RougeSentences made;
    if (config_.unit == RougeUnit::text) {
      made.push_back(numbers(tokenised(text, config_.tokenisation)));
    } else {
      for (const std::string& line : split(text, '\n')) made.push_back(numbers(tokenised(line, config_.tokenisation)));
    }
    return made;
  };
  const RougeSentences text = sentences(hypothesis);
  std::vector<double> best;
  for (const std::string& reference : references) {
    std::vector<double> found = rouge_scores(text, sentences(reference), config_.unit);
    if (best.empty() || found.front() > best.front()) best = std::move(found);
  }
  best.push_back(1.0);
  return best;
}

std::vector<double> Rouge::scores(std::span<const double> sums) const {
  return {sums[0] / sums[3], sums[1] / sums[3], sums[2] / sums[3]};
}

std::vector<std::string> Rouge::names() const {
  const std::string name = config_.unit == RougeUnit::text ? "rouge_l" : "rouge_lsum";
  return {name, name + "_precision", name + "_recall"};
}

std::string Rouge::signature() const {
  return signed_as(fmt::format("case:{}|tok:{}|stem:no", config_.tokenisation == Tokenisation::rouge ? "lc" : "mixed",
                               tokenisation_name(config_.tokenisation)));
}

}  // namespace ordo
