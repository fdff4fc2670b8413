// SPDX-License-Identifier: Apache-2.0
// No position encoding: a causal model still finds order through its mask (Haviv et al. 2022; Kazemnejad et al. 2023).
#pragma once
#include "ordo/positions/encoding.h"

namespace ordo {

class NoPosition final : public PositionEncoding {
 public:
  struct Config {};
  static constexpr std::string_view kKind = "none", kSummary = "no encoding: order only through the causal mask";
  NoPosition() = default;
  NoPosition(const Config&, const PositionFacts&) {}
  PositionTraits traits() const override { return {.relative = true, .takes_axes = -1}; }
};
void fields(Fields& f, NoPosition::Config& c);

}  // namespace ordo
