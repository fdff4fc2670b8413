// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/claim_words.h"

#include <fmt/format.h>

#include <vector>

#include "ordo/core/text.h"

namespace ordo {

namespace {

std::string bound_words(const ClaimConfig& claim) {
  std::vector<std::string> bounds;
  if (claim.at_least) bounds.push_back("at least " + number_text(*claim.at_least));
  if (claim.at_most) bounds.push_back("at most " + number_text(*claim.at_most));
  return join(bounds, " and ");
}

std::string rule_words(Rule rule, bool ordered) {
  switch (rule) {
    case Rule::every_run:
      return ordered ? "in every seed" : "in every run";
    case Rule::intervals:
      return ordered ? "intervals apart" : "by the interval";
    case Rule::mean:
      break;
  }
  return "by the mean";
}

std::string place_words(const Selection& where) {
  std::vector<std::string> parts;
  for (const auto& [factor, levels] : where.levels) parts.push_back(fmt::format("{} {}", factor, join(levels, ", ")));
  return parts.empty() ? "" : " for " + join(parts, ", ");
}

}  // namespace

std::string length_words(std::optional<int64_t> length, bool area) {
  if (area) return "over all lengths";
  return length ? fmt::format("at length {}", *length) : "at the first length";
}

std::string two_groups_words(const std::string& of) {
  return fmt::format("the seeds{} fall into two groups: no interval of the mean is honest",
                     of.empty() ? "" : " of " + of);
}

std::string claim_text(const ClaimConfig& claim, const CompareConfig& compare) {
  std::string what = claim.metric;
  if (claim.change)
    what = fmt::format("{} of {} from length {} to {}", claim.change->relative ? "relative change" : "change",
                       claim.metric, claim.change->from, claim.change->to);
  else
    what += " " + (claim.length ? length_words(claim.length, false) : length_words(compare.length, compare.area));
  what += place_words(claim.where);
  if (!claim.order.empty())
    return fmt::format("{}: {}, {}", what, join(claim.order, " better than "), rule_words(claim.rule, true));
  return fmt::format("{}: {} {}, {}", what, join(claim.level, ", "), bound_words(claim), rule_words(claim.rule, false));
}

}  // namespace ordo
