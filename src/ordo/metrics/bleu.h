// SPDX-License-Identifier: Apache-2.0
// BLEU (Papineni et al. 2002), equal to sacreBLEU's (Post 2018): 100 · BP · exp(mean over n = 1..4 of ln p_n).
//   p_n  n-grams of the hypotheses that their references have too, of all; an n-gram matches as often as the reference
//        with most of it has it
//   BP   exp(1 - r / c) when c < r, else 1; c the length of all hypotheses, r of the references, of several the one
//        nearest in length, the shorter of two as near
// No match at all: 0. No 4-gram in any hypothesis, all being shorter than four words: 0, however right they are.
#pragma once
#include "ordo/metrics/text_metric.h"
#include "ordo/metrics/tokenisation.h"

namespace ordo {

// What becomes of an order without matches (Chen and Cherry 2014).
enum class BleuSmoothing {
  exp,    // the k-th such order has 1 / 2^k matches (method 3, mteval-v13a's)
  floor,  // smoothing_value matches (method 1)
  add_k,  // smoothing_value more matches and n-grams in every order from 2 on (method 2)
  none,   // the score is 0
};

struct BleuConfig {
  Tokenisation tokenisation = Tokenisation::western;
  BleuSmoothing smoothing = BleuSmoothing::exp;
  std::optional<double> smoothing_value = {};  // floor: 0.1, add_k: 1 when not given
  bool lower_case = false;
};

class Bleu : public TextMetric {
 public:
  explicit Bleu(const BleuConfig& config = {});  // throws ConfigError for a smoothing value that is not above 0
  std::vector<std::string> names() const override { return {"bleu"}; }
  // Of one sentence the orders up to its length count, as for sacreBLEU's sentence_bleu.
  std::vector<std::string> columns() const override;
  std::vector<double> example(int64_t i) const override;
  std::string signature() const override;

 protected:
  std::vector<double> compare(std::string_view hypothesis, std::span<const std::string> references) const override;
  std::vector<double> scores(std::span<const double> sums) const override { return {score(sums, false)}; }

 private:
  std::vector<std::string> words(std::string_view text) const;
  double precision(double matches, double grams, int64_t& empty_orders) const;
  double score(std::span<const double> sums, bool orders_present) const;
  BleuConfig config_;
  double smoothing_value_;
};

}  // namespace ordo
