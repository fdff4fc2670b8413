// SPDX-License-Identifier: Apache-2.0
// A metric that compares a text with one or several references, each pair an example.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/metrics/measure.h"

namespace ordo {

class TextMetric : public SumMetric {
 public:
  using SumMetric::SumMetric;
  // Empty texts are texts, as hypothesis and as reference. Throws DataError when there is no reference at all.
  void add(std::string_view hypothesis, std::span<const std::string> references);

 protected:
  // The example's row of sums.
  virtual std::vector<double> compare(std::string_view hypothesis, std::span<const std::string> references) const = 0;
  // "nrefs:1|" + settings + "|version:ordo-…", as sacreBLEU signs: nrefs is "var" where examples differ in it.
  std::string signed_as(std::string_view settings) const;

 private:
  std::optional<size_t> references_;
  bool varying_ = false;
};

}  // namespace ordo
