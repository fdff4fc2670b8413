// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ordo/core/text.h"
#include "ordo/statistics/corrections.h"
#include "ordo/statistics/paired.h"
#include "ordo/statistics/permutation.h"
#include "ordo/statistics/power.h"
#include "ordo/study/claim_words.h"

namespace ordo {

namespace {

constexpr double kPower = 0.8;
constexpr int64_t kFewestSeparated = 3;  // below, values of two arms do not overlap by chance too often

std::string runs_words(int64_t n) { return n == 1 ? "1 run" : fmt::format("{} runs", n); }
std::string seeds_words(int64_t n) { return n == 1 ? "1 seed" : fmt::format("{} seeds", n); }
std::string interval_words(const Interval& interval) {
  return fmt::format("95 % interval of the difference [{}, {}]", decimal_text(interval.low),
                     decimal_text(interval.high));
}
const char* correction_words(Correction correction) {
  if (correction == Correction::none) return "";
  return correction == Correction::holm ? "Holm-corrected " : "Benjamini-Hochberg-corrected ";
}

// One pair among the `family` that are corrected for together.
class Verdict {
 public:
  Verdict(const CompareConfig& compare, size_t family, Compared& compared)
      : compare_(compare), family_(family), pair_(compared.pair), arms_(compared.arms), apart_(compared.apart) {}

  void say() {
    const std::string& lack = pair_.lack = lack_of_interval();
    if (lack.empty() && names_winner(pair_.p_adjusted, pair_.interval, compare_.smallest_difference)) {
      pair_.verdict = (pair_.difference > 0.0) == larger_is_better(pair_.metric) ? kBetter : kWorse;
      pair_.why = fmt::format("{}, {}", p_words(), interval_words(pair_.interval));
    } else if (apart_ && (lack.empty() ? beyond() : matters())) {
      pair_.verdict = kSeparated;
      pair_.why = apart_words() + "; " + (lack.empty() ? too_large_p_words() : lack);
    } else {
      pair_.verdict = kNotToldApart;
      pair_.why = lack.empty() ? why_not() : apart_ ? too_small_words() : lack;
      if (apart_) pair_.why = apart_words() + ", but " + pair_.why;
    }
    if (arms_.without_partner > 0 && pair_.n > 0)
      pair_.why += fmt::format("; paired by the {} that both have, {} left out", seeds_words(pair_.n),
                               runs_words(arms_.without_partner));
    pair_.seeds_needed = seeds_needed_for_it();
  }

 private:
  bool beyond() const {
    const double least = compare_.smallest_difference;
    return pair_.interval.exists() && (pair_.interval.low > least || pair_.interval.high < -least);
  }

  // The mean difference of the seeds that have one: without those that diverged, which are all of the worse arm, it is
  // smaller than it should be. NaN: none has one.
  double finite_difference() const {
    std::vector<double> finite;
    for (const double difference : pair_.differences)
      if (std::isfinite(difference)) finite.push_back(difference);
    return describe(finite).mean;
  }
  // Where there is no interval that could lie beyond smallest_difference.
  bool matters() const { return !(std::abs(finite_difference()) <= compare_.smallest_difference); }

  // Smallest corrected p that the seeds allow at all: Holm multiplies the first by their number; Benjamini and Hochberg
  // leave it when all are as small.
  double least_p() const {
    const bool multiplied = compare_.correction == Correction::holm;
    return multiplied ? std::min(1.0, pair_.p_smallest * static_cast<double>(family_)) : pair_.p_smallest;
  }

  // Why there is no interval of the mean difference; empty when there is one.
  std::string lack_of_interval() const {
    if (pair_.n == 0) return fmt::format("{} and {} have no seed in common", pair_.a, pair_.b);
    if (arms_.diverged_a + arms_.diverged_b > 0) {
      std::vector<std::string> parts;
      if (arms_.diverged_a > 0) parts.push_back(fmt::format("{} of {}", runs_words(arms_.diverged_a), pair_.a));
      if (arms_.diverged_b > 0) parts.push_back(fmt::format("{} of {}", runs_words(arms_.diverged_b), pair_.b));
      return fmt::format("{} diverged: a mean without {} would flatter", join(parts, " and "),
                         arms_.diverged_a + arms_.diverged_b == 1 ? "it" : "them");
    }
    if (!arms_.mean_is_honest()) return two_groups_words(arms_.two_modes_a ? pair_.a : pair_.b);
    if (pair_.n == 1) return "1 seed: no interval and no test";
    return pair_.interval.exists() ? "" : "the differences have no spread and there are no items to judge by";
  }

  // Why an interval is not enough.
  std::string why_not() const {
    const std::string interval = interval_words(pair_.interval);
    if (!beyond() && (compare_.smallest_difference == 0.0 || pair_.interval.contains(0.0)))
      return interval + " contains 0";
    if (!beyond())
      return fmt::format("{} reaches below the smallest difference that matters ({})", interval,
                         number_text(compare_.smallest_difference));
    if (least_p() < kAlpha) return too_large_p_words();
    return least_p_words() + (pair_.n < kFewestSeparated ? ", and they are too few to be separated"
                                                         : ", and the values of the two overlap");
  }

  std::string too_small_words() const {
    return fmt::format("the mean difference {} is none that matters ({})", decimal_text(finite_difference()),
                       number_text(compare_.smallest_difference));
  }
  std::string too_large_p_words() const {
    return least_p() < kAlpha ? fmt::format("{} is not below {}", p_words(), number_text(kAlpha)) : least_p_words();
  }
  std::string p_words() const {
    return fmt::format("{}p {:.3g}", correction_words(compare_.correction), pair_.p_adjusted);
  }
  std::string least_p_words() const {
    return fmt::format("{}: {}p cannot fall below {:.3g}", seeds_words(pair_.n), correction_words(compare_.correction),
                       least_p());
  }
  std::string apart_words() const {
    const bool a = pair_.wins > 0;
    return fmt::format("every seed of {} is better than every seed of {}", a ? pair_.a : pair_.b,
                       a ? pair_.b : pair_.a);
  }

  // The sign-flip test may ask for more seeds than the spread does.
  double seeds_needed_for_it() const {
    const auto tests = static_cast<int64_t>(compare_.correction == Correction::holm ? family_ : 1);
    const auto by_power = seeds_needed(pair_.difference, pair_.sd, kPower, kAlpha / static_cast<double>(tests));
    return by_power ? static_cast<double>(std::max(*by_power, repetitions_to_pass(tests))) : 0.0;
  }

  const CompareConfig& compare_;
  size_t family_;
  Pair& pair_;
  const ComparedArms& arms_;
  bool apart_;
};

std::vector<double> corrected(Correction correction, const std::vector<double>& p) {
  if (correction == Correction::none) return p;
  return correction == Correction::holm ? holm(p) : benjamini_hochberg(p);
}

}  // namespace

void judge_together(const CompareConfig& compare, std::vector<Compared>& all) {
  std::vector<double> p;
  for (const auto& one : all) p.push_back(one.pair.p);
  const std::vector<double> adjusted = corrected(compare.correction, p);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].pair.p_adjusted = adjusted[i];
    Verdict(compare, all.size(), all[i]).say();
  }
}

bool a_is_ahead(const Pair& pair) { return pair.verdict == kBetter || (pair.verdict == kSeparated && pair.wins > 0); }

}  // namespace ordo
