// SPDX-License-Identifier: Apache-2.0
#include "ordo/metrics/text_metric.h"

#include "ordo/core/errors.h"

namespace ordo {

void TextMetric::add(std::string_view hypothesis, std::span<const std::string> references) {
  require<DataError>(!references.empty(), "metrics: example {} has no reference to compare with; an empty one counts",
                     examples() + 1);
  keep(compare(hypothesis, references));
  varying_ = varying_ || references_.value_or(references.size()) != references.size();
  references_ = references.size();
}

std::string TextMetric::signed_as(std::string_view settings) const {
  const std::string count = varying_ ? "var" : std::to_string(references_.value_or(1));
  return fmt::format("nrefs:{}|{}|version:ordo-{}", count, settings, ORDO_VERSION);
}

}  // namespace ordo
