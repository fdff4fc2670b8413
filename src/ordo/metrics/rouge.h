// SPDX-License-Identifier: Apache-2.0
// ROUGE-L (Lin 2004), equal to rouge-score's without stemming: of the words of a longest common subsequence the share
// in the hypothesis (precision), in the reference (recall), and their F1; means over the examples. Where either text
// has no word all three are 0, also when both are empty. Of several references the one with the best F1 counts.
#pragma once
#include "ordo/metrics/text_metric.h"
#include "ordo/metrics/tokenisation.h"

namespace ordo {

enum class RougeUnit {
  text,   // ROUGE-L: the text is one sentence
  lines,  // ROUGE-Lsum: each line is a sentence; a reference's words match the union over the hypothesis' sentences
};

struct RougeConfig {
  RougeUnit unit = RougeUnit::text;
  // The original's tokenisation finds no word in a text without Latin letters or digits: `chinese` or `characters` do.
  Tokenisation tokenisation = Tokenisation::rouge;
};

class Rouge : public TextMetric {
 public:
  explicit Rouge(const RougeConfig& config = {}) : TextMetric(4), config_(config) {}
  std::vector<std::string> names() const override;  // "rouge_l", "rouge_l_precision", "rouge_l_recall"; rouge_lsum
  std::string signature() const override;

 protected:
  std::vector<double> compare(std::string_view hypothesis, std::span<const std::string> references) const override;
  std::vector<double> scores(std::span<const double> sums) const override;

 private:
  RougeConfig config_;
};

}  // namespace ordo
