// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/judged_windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ordo/tasks/token_examples.h"

namespace ordo {

namespace {
constexpr int64_t kEnoughDocuments = 20, kFewestRuns = 10;
}  // namespace

void JudgedWindows::add(const std::vector<Window>& windows) {
  for (const Window& window : windows) begins_.push_back(window.judged);
}

std::string JudgedWindows::from(int64_t i) const { return tokens_->place(begins_[static_cast<size_t>(i)]); }

JudgedWindows::Blocks JudgedWindows::blocks(int64_t overlap) const {
  return tokens_->documents() >= kEnoughDocuments ? documents() : runs(overlap);
}

JudgedWindows::Blocks JudgedWindows::documents() const {
  const std::vector<int64_t>& borders = tokens_->borders();
  const auto document = [&](int64_t token) {
    return std::upper_bound(borders.begin(), borders.end(), token) - borders.begin();
  };
  Blocks made;
  int64_t block = 0;
  for (size_t i = 0; i < begins_.size(); ++i) {
    if (i > 0 && document(begins_[i]) != document(begins_[i - 1])) ++block;
    made.of.push_back(block);
  }
  made.note = fmt::format(
      "windows of one document are not independent: those that begin in the same one are drawn together ({} windows in "
      "{} blocks)",
      count(), block + 1);
  return made;
}

JudgedWindows::Blocks JudgedWindows::runs(int64_t overlap) const {
  const auto side_by_side = static_cast<double>((count() + overlap - 1) / overlap);
  const int64_t best = overlap * std::llround(std::cbrt(side_by_side));
  const int64_t together = std::max<int64_t>(std::min(best, count() / kFewestRuns), 1);
  Blocks made{.of = blocks_of(count(), together)};
  if (together > 1)
    made.note = fmt::format(
        "windows next to each other are not independent: {} neighbours at a time are drawn together ({} windows in {} "
        "blocks)",
        together, count(), made.of.back() + 1);
  else
    made.note = fmt::format(
        "windows next to each other are not independent, and {} are too few to be drawn in blocks: the intervals are "
        "too narrow",
        count());
  return made;
}

}  // namespace ordo
