// SPDX-License-Identifier: Apache-2.0
// chrF (Popović 2015) and, with words, chrF++ (Popović 2017), equal to sacreBLEU's: 100 · F_β of P and R, the means
// over the orders of character n-grams (white space left out) and of word n-grams of
//   n-grams in common / n-grams of the hypotheses, and in common / n-grams of the references,
// summed over all examples. Orders of which either side has no n-gram do not count; none left: 0, so two empty texts
// have 0. Of several references the one with the best F for that example counts. A character is a code point: an accent
// of its own, or a part of a composed emoji, is one.
#pragma once
#include "ordo/metrics/text_metric.h"

namespace ordo {

struct ChrfConfig {
  int64_t character_order = 6;
  int64_t word_order = 0;  // 2: chrF++
  double beta = 2.0;       // weight of recall
  bool lower_case = false;
};

class Chrf : public TextMetric {
 public:
  explicit Chrf(const ChrfConfig& config = {});     // throws ConfigError for orders or a beta out of range
  std::vector<std::string> names() const override;  // "chrf", with words "chrf++"; with another beta "chrf1"
  std::string signature() const override;

 protected:
  std::vector<double> compare(std::string_view hypothesis, std::span<const std::string> references) const override;
  std::vector<double> scores(std::span<const double> sums) const override { return {score(sums)}; }

 private:
  double score(std::span<const double> sums) const;
  ChrfConfig config_;
};

}  // namespace ordo
