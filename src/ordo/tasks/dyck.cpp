// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/dyck.h"

#include "ordo/ops/fused_loss.h"

namespace ordo {

namespace {

constexpr double kMostBrackets = 1000;

// Opening ones first, then closing ones, in the same order.
std::vector<std::string> bracket_names(int64_t kinds) {
  constexpr std::string_view kOpening = "([{<", kClosing = ")]}>";
  std::vector<std::string> names;
  for (const auto side : {kOpening, kClosing})
    for (int64_t i = 0; i < kinds; ++i) {
      const auto sign = static_cast<size_t>(i);
      names.push_back(sign < side.size() ? std::string(1, side[sign]) : fmt::format("{}{}", side[0], i));
    }
  return names;
}

}  // namespace

void fields(Fields& f, Dyck::Config& c) {
  f("brackets", c.brackets, "kinds of brackets: k of Dyck-k", within(1, kMostBrackets));
  f("depth", c.depth, "brackets that are open at the same time, at the most", at_least(1));
  drawn_fields(f, c.drawn, Asks::each);
}

Dyck::Dyck(const Config& config, const TaskFacts& facts)
    : DrawnTask(config.drawn, facts, Asks::each, bracket_names(config.brackets)), config_(config) {}

Example Dyck::example(KeyedSequence& draw, int64_t size) const {
  Example row;
  std::vector<int64_t> open;
  for (int64_t i = 0; i < size; ++i) {
    const bool may_open = static_cast<int64_t>(open.size()) < config_.depth;
    if (open.empty() || (may_open && draw.below(2) == 0)) {
      open.push_back(static_cast<int64_t>(draw.below(static_cast<uint64_t>(config_.brackets))));
      row.given.push_back(open.back());
    } else {
      row.given.push_back(config_.brackets + open.back());
      open.pop_back();
    }
    row.asked.push_back(open.empty() ? kIgnore : config_.brackets + open.back());
  }
  return row;
}

}  // namespace ordo
