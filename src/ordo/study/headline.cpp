// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/headline.h"

#include <algorithm>
#include <cmath>

#include "ordo/core/text.h"
#include "ordo/statistics/permutation.h"
#include "ordo/study/cells.h"
#include "ordo/study/claim_words.h"
#include "ordo/study/verdicts.h"

namespace ordo {

namespace {

constexpr size_t kMostPlaces = 4;  // combinations of the other factors that are told one by one

// "a", "a and b", "a, b and c".
std::string listed(std::vector<std::string> names) {
  if (names.size() < 2) return join(names, "");
  const std::string last = names.back();
  names.pop_back();
  return join(names, ", ") + " and " + last;
}

// All values of some levels at the compared length.
struct HeadlineRange {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  size_t runs = 0;
  bool at_chance = true;  // never more than one of each group of twins
  void add(const std::vector<Outcome>& outcomes, const std::string& metric) {
    for (const auto& outcome : outcomes) {
      if (outcome.missing || outcome.diverged()) continue;
      ++runs;
      low = std::min(low, outcome.value);
      high = std::max(high, outcome.value);
      const bool share = metric == "accuracy" && outcome.twins > 1;
      at_chance = at_chance && share && outcome.value <= 1.0 / static_cast<double>(outcome.twins);
    }
  }
  std::string text() const {
    if (runs == 0) return "no value";
    const std::string from = decimal_text(low), to = decimal_text(high);
    return from == to ? from : fmt::format("{} to {}", from, to);
  }
};

class HeadlineWriter {
 public:
  HeadlineWriter(const Plan& plan, const OutcomeTable& table, const Summary& summary)
      : plan_(plan), compare_(plan.study.compare), table_(table), summary_(summary) {}

  std::string text() const {
    std::vector<std::string> parts = missing();
    if (parts.empty() || has_values()) parts.push_back(answer());
    if (const auto words = claims(); !words.empty()) parts.push_back(words);
    std::string text = join(parts, "; ");
    return text.empty() ? text : text + ".";
  }

 private:
  bool has_values() const {
    return std::any_of(summary_.cells.begin(), summary_.cells.end(), [](const Cell& cell) { return cell.n > 0; });
  }

  std::vector<std::string> missing() const {
    std::vector<std::string> parts;
    const size_t gone = summary_.missing.size(), failed = summary_.failed.size();
    if (gone > 0)
      parts.push_back(
          fmt::format("incomplete: {} of {} runs {} missing", gone, summary_.runs, gone == 1 ? "is" : "are"));
    if (failed > 0)
      parts.push_back(fmt::format("{}{} of {} runs failed", gone == 0 ? "incomplete: " : "", failed, summary_.runs));
    if (parts.empty() && !summary_.complete) parts.emplace_back("incomplete: not every run was evaluated everywhere");
    return parts;
  }

  std::string subject() const { return fmt::format("{} {}", compare_.metric, length_words(compared(), compare_.area)); }
  // One length for all, or none.
  std::optional<int64_t> compared() const {
    if (compare_.length) return compare_.length;
    std::optional<int64_t> common;
    for (const auto& levels : table_.combinations()) {
      const int64_t length = table_.first_length(levels);
      if (common && *common != length) return std::nullopt;
      common = length;
    }
    return common;
  }

  std::string answer() const {
    if (summary_.pairs.empty()) return subject() + ": " + without_pairs();
    const auto places = places_of(table_, compare_.factor);
    std::vector<std::string> texts;
    for (const auto& where : places) {
      const std::string text = compare_.against == "all" ? all_against_all(where) : against_one(where);
      if (!text.empty()) texts.push_back(where.empty() ? text : level_names(where) + ": " + text);
    }
    if (texts.size() > kMostPlaces) return subject() + ": " + counted();
    return subject() + ": " + join(texts, "; ");
  }

  std::string without_pairs() const {
    std::vector<std::string> texts;
    for (const auto& levels : table_.combinations())
      texts.push_back(level_names(levels) + " " + range_in(levels).text());
    if (texts.size() > kMostPlaces) return fmt::format("{} combinations, nothing to compare", texts.size());
    return join(texts, ", ");
  }

  HeadlineRange range_in(const Combination& levels) const {
    HeadlineRange range;
    range.add(table_.of({levels, "", compare_.metric, compared_length(plan_.study, table_, levels)}), compare_.metric);
    return range;
  }

  HeadlineRange range(const Combination& where, const std::vector<std::string>& levels) const {
    HeadlineRange range;
    for (const auto& level : levels) {
      auto question = ask(table_, where, compare_.factor, level, compare_.metric);
      if (!question) continue;
      question->length = compared_length(plan_.study, table_, question->levels);
      range.add(table_.of(*question), compare_.metric);
    }
    return range;
  }

  std::vector<const Pair*> pairs_in(const Combination& where) const {
    std::vector<const Pair*> pairs;
    for (const auto& pair : summary_.pairs)
      if (pair.where == where) pairs.push_back(&pair);
    return pairs;
  }

  // ---- against one level ----

  std::string against_one(const Combination& where) const {
    const auto pairs = pairs_in(where);
    if (pairs.empty()) return "";
    std::vector<std::string> texts;
    const HeadlineRange other = range(where, {compare_.against});
    if (other.at_chance && other.runs > 0)
      texts.push_back(
          fmt::format("{} is at chance ({} or less in every run)", compare_.against, decimal_text(other.high)));
    for (const bool ahead : {true, false})
      for (const char* verdict : {ahead ? kBetter : kWorse, kSeparated})
        if (auto text = told_apart(where, pairs, verdict, ahead); !text.empty()) texts.push_back(std::move(text));
    std::vector<std::string> same, unpaired;
    for (const Pair* pair : pairs)
      if (pair->verdict == kNotToldApart) (pair->n > 0 ? same : unpaired).push_back(pair->a);
    if (!same.empty())
      texts.push_back(fmt::format("{} {} not told apart from {} ({} against {})", all_or_listed(same, pairs),
                                  is_or_are(same, pairs), compare_.against, range(where, same).text(), other.text()));
    if (!unpaired.empty())
      texts.push_back(fmt::format("{} {} no seed in common with {} yet", all_or_listed(unpaired, pairs),
                                  unpaired.size() > 1 && unpaired.size() < pairs.size() ? "have" : "has",
                                  compare_.against));
    return join(texts, ", ");
  }

  std::string all_or_listed(const std::vector<std::string>& names, const std::vector<const Pair*>& pairs) const {
    return names.size() == pairs.size() && names.size() > 1 ? fmt::format("every other level ({})", listed(names))
                                                            : listed(names);
  }

  // "every other level is", "rope is", "rope and alibi are".
  static const char* is_or_are(const std::vector<std::string>& names, const std::vector<const Pair*>& pairs) {
    return names.size() > 1 && names.size() < pairs.size() ? "are" : "is";
  }

  std::string told_apart(const Combination& where, const std::vector<const Pair*>& pairs, std::string_view verdict,
                         bool ahead) const {
    std::vector<std::string> names;
    std::vector<const Pair*> told;
    for (const Pair* pair : pairs) {
      if (pair->verdict != verdict || a_is_ahead(*pair) != ahead) continue;
      names.push_back(pair->a);
      told.push_back(pair);
    }
    if (names.empty()) return "";
    const std::string what = verdict == kSeparated ? fmt::format("separated from {}, {} in every seed",
                                                                 compare_.against, ahead ? "better" : "worse")
                                                   : fmt::format("{} than {}", verdict, compare_.against);
    return fmt::format("{} {} {} ({} against {}; {})", all_or_listed(names, pairs), is_or_are(names, pairs), what,
                       range(where, names).text(), range(where, {compare_.against}).text(),
                       verdict == kSeparated ? no_winner(told) : largest_p(told));
  }

  std::string largest_p(const std::vector<const Pair*>& pairs) const {
    double p = 0.0;
    int64_t n = std::numeric_limits<int64_t>::max();
    for (const Pair* pair : pairs) {
      p = std::max(p, pair->p_adjusted);
      n = std::min(n, pair->n);
    }
    return fmt::format("{} seeds, {}p at most {}", n, corrected(), rounded_up(p));
  }

  // Why separated levels are no better or worse ones: no honest mean, too few seeds, else their p.
  std::string no_winner(const std::vector<const Pair*>& pairs) const {
    const int64_t enough = repetitions_to_pass(compare_.correction == Correction::holm ? summary_.family : 1);
    std::vector<std::string> reasons;
    std::vector<const Pair*> tested;
    int64_t few = enough;  // seeds
    for (const Pair* pair : pairs) {
      if (!pair->lack.empty()) {
        if (std::find(reasons.begin(), reasons.end(), pair->lack) == reasons.end()) reasons.push_back(pair->lack);
      } else if (pair->n < enough) {
        few = std::min(few, pair->n);
      } else {
        tested.push_back(pair);
      }
    }
    if (few < enough)
      reasons.push_back(fmt::format("{} seeds: p cannot fall below {}", few, number_text(smallest_sign_flip_p(few))));
    if (!tested.empty()) reasons.push_back(largest_p(tested));
    return join(reasons, "; ");
  }

  static std::string rounded_up(double p) { return number_text(std::ceil(p * 1e4) / 1e4); }
  std::string corrected() const {
    if (compare_.correction == Correction::none) return "";
    return compare_.correction == Correction::holm ? "Holm-corrected " : "Benjamini-Hochberg-corrected ";
  }

  // ---- all against all ----

  // The levels that nobody is ahead of, and how each stands to the next.
  std::string all_against_all(const Combination& where) const {
    const auto pairs = pairs_in(where);
    if (pairs.empty()) return "";
    std::vector<std::string> names, leaders, beaten;
    for (const Pair* pair : pairs)
      for (const auto& name : {pair->a, pair->b})
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    for (const auto& name : names) {
      const bool behind = std::any_of(pairs.begin(), pairs.end(), [&](const Pair* p) { return is_behind(*p, name); });
      (behind ? beaten : leaders).push_back(name);
    }
    if (beaten.empty())
      return fmt::format("no two of {} are told apart ({})", listed(names), range(where, names).text());
    const size_t apart = static_cast<size_t>(
        std::count_if(pairs.begin(), pairs.end(), [](const Pair* pair) { return pair->verdict != kNotToldApart; }));
    if (leaders.empty())  // each pair on the seeds that both have: a may be ahead of b, b of c and c of a
      return fmt::format("each of {} is behind another one ({}), {} of {} pairs told apart", listed(names),
                         range(where, names).text(), apart, pairs.size());
    const bool single = leaders.size() == 1 && ahead_of(pairs, leaders.front()) == beaten.size();
    const bool tested = std::none_of(pairs.begin(), pairs.end(), [&](const Pair* pair) {
      return pair->verdict == kSeparated && (pair->a == leaders.front() || pair->b == leaders.front());
    });
    if (single)
      return fmt::format("{} is {} every other level ({} against {}), {} of {} pairs told apart", leaders.front(),
                         tested ? "better than" : "separated from and in every seed better than",
                         range(where, leaders).text(), range(where, beaten).text(), apart, pairs.size());
    return fmt::format("no level is ahead of {} ({}), {} of {} pairs told apart", listed(leaders),
                       range(where, leaders).text(), apart, pairs.size());
  }

  static bool is_behind(const Pair& pair, const std::string& name) {
    if (pair.verdict == kNotToldApart) return false;
    return a_is_ahead(pair) ? pair.b == name : pair.a == name;
  }
  static size_t ahead_of(const std::vector<const Pair*>& pairs, const std::string& name) {
    return static_cast<size_t>(std::count_if(pairs.begin(), pairs.end(), [&](const Pair* pair) {
      return pair->verdict != kNotToldApart && (a_is_ahead(*pair) ? pair->a : pair->b) == name;
    }));
  }

  std::string counted() const {
    size_t better = 0, separated = 0, unpaired = 0;
    for (const auto& pair : summary_.pairs) {
      separated += pair.verdict == kSeparated ? 1 : 0;
      better += pair.verdict == kBetter || pair.verdict == kWorse ? 1 : 0;
      unpaired += pair.n == 0 ? 1 : 0;
    }
    return fmt::format("of {} comparisons of {} {} name a better level, {} are separated, {} are not told apart{}",
                       summary_.pairs.size(), compare_.factor, better, separated,
                       summary_.pairs.size() - better - separated - unpaired,
                       unpaired == 0 ? "" : fmt::format(", {} have no seed in common yet", unpaired));
  }

  // ---- claims ----

  std::string claims() const {
    std::vector<std::string> holds, fails, open;
    for (const auto& claim : summary_.claims)
      (claim.verdict == "holds" ? holds : claim.verdict == "fails" ? fails : open).push_back(claim.name);
    if (summary_.claims.empty()) return "";
    if (holds.size() == summary_.claims.size()) {
      if (holds.size() == 1) return fmt::format("the claim {} holds", holds.front());
      return holds.size() == 2 ? "both claims hold" : fmt::format("all {} claims hold", holds.size());
    }
    std::vector<std::string> parts;
    if (!holds.empty()) parts.push_back(fmt::format("{} hold{}", listed(holds), holds.size() == 1 ? "s" : ""));
    if (!fails.empty()) parts.push_back(fmt::format("{} fail{}", listed(fails), fails.size() == 1 ? "s" : ""));
    if (!open.empty()) parts.push_back(fmt::format("{} {} undecided", listed(open), open.size() == 1 ? "is" : "are"));
    return "of the claims " + join(parts, ", ");
  }

  const Plan& plan_;
  const CompareConfig& compare_;
  const OutcomeTable& table_;
  const Summary& summary_;
};

}  // namespace

std::string headline_of(const Plan& plan, const OutcomeTable& outcomes, const Summary& summary) {
  return HeadlineWriter(plan, outcomes, summary).text();
}

}  // namespace ordo
