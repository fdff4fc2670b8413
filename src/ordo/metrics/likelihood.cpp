// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/likelihood.h"

#include <array>
#include <cmath>
#include <numbers>

#include "ordo/core/errors.h"

namespace ordo {

void Likelihood::add(double nats, int64_t tokens, int64_t characters, int64_t bytes) {
  require<NumericError>(!std::isnan(nats), "metrics: the log-probability of example {} is no number", examples() + 1);
  keep(std::array{nats, static_cast<double>(tokens), static_cast<double>(characters), static_cast<double>(bytes)});
}

std::vector<std::string> Likelihood::names() const {
  return {"loss", "perplexity", "bits_per_character", "bits_per_byte"};
}

std::vector<double> Likelihood::scores(std::span<const double> sums) const {
  const auto per = [nats = sums[0]](double units) { return units > 0.0 ? nats / units : kNoNumber; };
  const double loss = per(sums[1]);
  return {loss, std::exp(loss), per(sums[2] * std::numbers::ln2), per(sums[3] * std::numbers::ln2)};
}

}  // namespace ordo
