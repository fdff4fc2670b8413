// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/judge.h"

#include <cmath>

namespace ordo {

std::optional<MetricChoice> MetricChoice::parse(std::string_view text) {
  MetricChoice choice;
  if (text.starts_with('+')) {
    choice.larger = true;
    text.remove_prefix(1);
  }
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot + 1 == text.size()) return std::nullopt;
  choice.name = text.substr(dot + 1);
  for (const Split split : {Split::train, Split::validation, Split::test})
    if (text.substr(0, dot) == split_name(split)) {
      choice.split = split;
      return choice;
    }
  return std::nullopt;
}

std::optional<double> MetricChoice::of(Split evaluated, const Metrics& metrics) const {
  const auto found = metrics.find(name);
  if (evaluated != split || found == metrics.end() || !std::isfinite(found->second)) return std::nullopt;
  return found->second;
}

}  // namespace ordo
