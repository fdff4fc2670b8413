// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/rotary_checks.h"

#include <fmt/core.h>

#include <string>

namespace ordo {

void refuse_across(std::string_view kind, const PositionFacts& facts) {
  require<ConfigError>(!facts.cross,
                       "{}: between two sequences positions are not comparable, so there is nothing to turn by; leave "
                       "the encoding of cross-attention out, or use time_rope when both sides carry the same clock",
                       kind);
}

void require_groups(std::string_view kind, const PositionFacts& facts, int64_t channels) {
  const int64_t lower = facts.head_dim / channels * channels;
  require<ConfigError>(facts.head_dim % channels == 0,
                       "{}: channels turn in groups of {}, which do not fill heads of {} channels; make head_dim {}",
                       kind, channels, facts.head_dim,
                       lower == 0 ? std::to_string(channels) : fmt::format("{} or {}", lower, lower + channels));
}

}  // namespace ordo
