// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/bad_lines.h"

#include "ordo/core/text.h"

namespace ordo {

void BadLines::leave_out(const std::string& problem) {
  if (policy_ == OnBadLine::stop) throw DataError(problem);
  constexpr size_t kTold = 3;
  ++count_;
  if (first_.size() < kTold) first_.push_back(problem);
}

std::string BadLines::sentence() const {
  if (count_ == 0) return "";
  const size_t rest = count_ - first_.size();
  return fmt::format("{} {}{} left out: {}{}", count_, one_, count_ == 1 ? "" : "s", join(first_, "; "),
                     rest == 0 ? "" : fmt::format("; and {} more", rest));
}

}  // namespace ordo
