// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/chrf.h"

#include <algorithm>

#include "ordo/core/errors.h"
#include "ordo/core/utf8.h"
#include "ordo/metrics/words.h"

namespace ordo {

namespace {

constexpr size_t kChrfCounts = 3;  // of each order: n-grams of the hypothesis, of the reference, in common

// Punctuation apart, one character at one end of each word: "(hi)" is "(hi" and ")", as in the original.
std::vector<std::string> chrf_words(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string& word : split_words(text)) {
    const std::u32string characters = code_points(word);
    size_t cut = 0;
    if (characters.size() > 1 && is_ascii_punctuation(characters.back())) {
      cut = word.size() - 1;
    } else if (characters.size() > 1 && is_ascii_punctuation(characters.front())) {
      cut = 1;
    }
    if (cut > 0) words.push_back(word.substr(0, cut));
    words.push_back(word.substr(cut));
  }
  return words;
}

struct ChrfText {
  std::u32string characters, words;
  ChrfText(const std::string& text, WordNumbers& numbers)
      : characters(code_points(text)), words(numbers(chrf_words(text))) {
    std::erase_if(characters, is_white_space);
  }
};

void count_order(const std::u32string& text, const std::u32string& reference, size_t order, std::vector<double>& row) {
  const GramCounts ours = count_grams(text, order), theirs = count_grams(reference, order);
  // What the reference has nothing to set against is not counted as wrong.
  row.push_back(theirs.empty() ? 0.0 : static_cast<double>(total_count(ours)));
  row.push_back(static_cast<double>(total_count(theirs)));
  row.push_back(static_cast<double>(shared_count(ours, theirs)));
}

size_t chrf_width(const ChrfConfig& config) {
  require<ConfigError>(config.character_order >= 1 && config.word_order >= 0,
                       "chrF: the order of characters must be 1 or more and that of words 0 or more (found: {}, {})",
                       config.character_order, config.word_order);
  require<ConfigError>(config.beta > 0.0, "chrF: beta must be above 0 (found: {})", config.beta);
  return kChrfCounts * static_cast<size_t>(config.character_order + config.word_order);
}

}  // namespace

Chrf::Chrf(const ChrfConfig& config) : TextMetric(chrf_width(config)), config_(config) {}

std::vector<double> Chrf::compare(std::string_view hypothesis, std::span<const std::string> references) const {
  const auto prepared = [this](std::string_view text) {
    return config_.lower_case ? lowered(text) : std::string(text);
  };
  WordNumbers numbers;
  const ChrfText text(prepared(hypothesis), numbers);
  std::vector<double> best;
  for (const std::string& reference : references) {
    const ChrfText wanted(prepared(reference), numbers);
    std::vector<double> row;
    for (int64_t n = 1; n <= config_.character_order; ++n) {
      count_order(text.characters, wanted.characters, static_cast<size_t>(n), row);
    }
    for (int64_t n = 1; n <= config_.word_order; ++n) {
      count_order(text.words, wanted.words, static_cast<size_t>(n), row);
    }
    if (best.empty() || score(row) > score(best)) best = std::move(row);
  }
  return best;
}

double Chrf::score(std::span<const double> sums) const {
  double precision = 0.0, recall = 0.0, orders = 0.0;
  for (size_t i = 0; i < sums.size(); i += kChrfCounts) {
    if (sums[i] == 0.0) continue;  // so it is too where the references have no n-gram
    precision += sums[i + 2] / sums[i];
    recall += sums[i + 2] / sums[i + 1];
    orders += 1.0;
  }
  if (precision + recall == 0.0) return 0.0;
  const double square = config_.beta * config_.beta;
  return 100.0 * (1.0 + square) * precision * recall / (square * precision + recall) / orders;
}

std::vector<std::string> Chrf::names() const {
  const std::string beta = config_.beta == 2.0 ? "" : fmt::format("{}", config_.beta);
  return {"chrf" + beta + std::string(static_cast<size_t>(config_.word_order), '+')};
}

std::string Chrf::signature() const {
  return signed_as(fmt::format("case:{}|eff:yes|nc:{}|nw:{}|space:no", config_.lower_case ? "lc" : "mixed",
                               config_.character_order, config_.word_order));
}

}  // namespace ordo
