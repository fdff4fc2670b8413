// SPDX-License-Identifier: Apache-2.0
#include "ordo/nn/precision.h"

namespace ordo {

namespace {
constexpr NamedValue kPrecisionNames[] = {{"fp32", static_cast<int>(Precision::fp32)},
                                          {"bf16", static_cast<int>(Precision::bf16)},
                                          {"fp16", static_cast<int>(Precision::fp16)}};
}  // namespace

constinit const std::span<const NamedValue> kPrecisions(kPrecisionNames);

AutocastState autocast_of(Precision precision) {
  if (precision == Precision::fp32) return no_autocast();
  return {.enabled = true, .dtype = precision == Precision::bf16 ? c10::ScalarType::BFloat16 : c10::ScalarType::Half};
}

c10::ScalarType compute_type(Precision precision) {
  const AutocastState autocast = autocast_of(precision);
  return autocast.enabled ? autocast.dtype : c10::ScalarType::Float;
}

std::string_view precision_name(Precision precision) {
  for (const auto& [name, value] : kPrecisions)
    if (value == static_cast<int>(precision)) return name;
  return "";
}

}  // namespace ordo
