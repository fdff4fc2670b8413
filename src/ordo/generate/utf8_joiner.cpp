// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "ordo/core/utf8.h"
#include "ordo/generate/generate.h"

namespace ordo {

std::string Utf8Joiner::add(std::string_view bytes) {
  pending_ += bytes;
  if (pending_.empty()) return "";
  const size_t last = character_start(pending_, pending_.size() - 1);
  const bool waits = last + unfinished_length(pending_, last) == pending_.size();
  std::string left = waits ? pending_.substr(last) : "";
  pending_.resize(pending_.size() - left.size());
  return repaired_utf8(std::exchange(pending_, std::move(left)));
}

std::string Utf8Joiner::finish() { return repaired_utf8(std::exchange(pending_, {})); }

}  // namespace ordo
