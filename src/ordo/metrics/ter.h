// SPDX-License-Identifier: Apache-2.0
// The translation edit rate (Snover et al. 2006), equal to sacreBLEU's with its defaults: 100 · edits / words of the
// references, where an edit inserts, deletes or replaces a word or moves a run of words. Lower is better, over 100 is
// possible. Words are lower case, split at white space. Moves are searched greedily, the one that saves most first,
// with Tercom's limits: runs of up to 10 words, moved by up to 50 places, a band of 25 around the diagonal of the
// alignment, and 1000 candidates a pair of texts. Of several references the fewest edits count, against their mean
// length. No reference word at all: 100 if there was any edit, else 0.
#pragma once
#include "ordo/metrics/text_metric.h"

namespace ordo {

class Ter : public TextMetric {
 public:
  explicit Ter(bool case_sensitive = false);
  std::vector<std::string> names() const override { return {"ter"}; }
  std::vector<std::string> columns() const override { return {"ter", "edits", "reference_words"}; }
  std::vector<double> example(int64_t i) const override;
  std::string signature() const override;

 protected:
  std::vector<double> compare(std::string_view hypothesis, std::span<const std::string> references) const override;
  std::vector<double> scores(std::span<const double> sums) const override;

 private:
  bool case_sensitive_;
};

}  // namespace ordo
