// SPDX-License-Identifier: Apache-2.0
// What a language model says of texts: an example is a text, a row of a batch, or a document.
#pragma once
#include "ordo/metrics/measure.h"

namespace ordo {

// Values, from sums over the examples:
//   loss                nats a token                  perplexity   e^loss (Jelinek et al. 1977)
//   bits_per_character  nats / (ln 2 · code points)   bits_per_byte  nats / (ln 2 · bytes)
// The last two compare models with different tokens, and are NaN where texts have no size or it is not known (0).
class Likelihood : public SumMetric {
 public:
  Likelihood() : SumMetric(4) {}
  // nats: minus the log-probabilities of the example's tokens, added up. Throws NumericError when they are NaN.
  void add(double nats, int64_t tokens, int64_t characters = 0, int64_t bytes = 0);
  std::vector<std::string> names() const override;

 protected:
  std::vector<double> scores(std::span<const double> sums) const override;
};

}  // namespace ordo
