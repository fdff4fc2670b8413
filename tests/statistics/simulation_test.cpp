// SPDX-License-Identifier: Apache-2.0
// Studies whose truth is known: what is promised of intervals and verdicts is counted.
#include <cmath>
#include <numbers>
#include <vector>

#include "ordo/core/hash.h"
#include "ordo/statistics/bootstrap.h"
#include "ordo/statistics/corrections.h"
#include "ordo/statistics/hierarchy.h"
#include "ordo/statistics/paired.h"
#include "support/catch.h"

namespace ordo {

namespace {

class Noise {
 public:
  explicit Noise(uint64_t key) : sequence_(key) {}
  double unit() { return sequence_.unit(); }
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - unit()));
    return radius * std::cos(2.0 * std::numbers::pi * unit());
  }
  std::vector<double> normals(size_t n) {
    std::vector<double> values(n);
    for (double& value : values) value = normal();
    return values;
  }

 private:
  KeyedSequence sequence_;
};

struct StudyOutcome {
  int64_t named = 0, named_wrongly = 0;  // comparisons in which a winner was named
  int64_t covered = 0, intervals = 0;
};

// Six arms on shared seeds, each a normal spread of 1 around a mean that the seed shifts; arm 1 is `advantage` above
// the rest. Five comparisons against arm 0, corrected by Holm.
StudyOutcome simulated_study(Noise& noise, size_t seeds, double advantage) {
  constexpr size_t kArms = 6;
  const std::vector<double> shift = noise.normals(seeds);
  StudyOutcome outcome;
  std::vector<double> first;
  std::vector<Paired> pairs;
  std::vector<double> p;
  for (size_t arm = 0; arm < kArms; ++arm) {
    const double mean = arm == 1 ? advantage : 0.0;
    std::vector<double> values = noise.normals(seeds);
    for (size_t i = 0; i < seeds; ++i) values[i] += mean + shift[i];
    ++outcome.intervals;
    outcome.covered += t_interval(values).contains(mean);
    if (arm == 0) {
      first = values;
      continue;
    }
    pairs.push_back(compare_paired(values, first));
    p.push_back(pairs.back().p);
  }
  const std::vector<double> adjusted = holm(p);
  for (size_t i = 0; i < pairs.size(); ++i) {
    const bool named = names_winner(adjusted[i], pairs[i].interval);
    const bool rightly = i == 0 && advantage > 0.0 && pairs[i].difference > 0.0;
    outcome.named += named;
    outcome.named_wrongly += named && !rightly;
  }
  return outcome;
}

struct Tally {
  double coverage = 0.0, wrong_studies = 0.0, named_studies = 0.0;  // shares
};

Tally simulate(int64_t studies, size_t seeds, double advantage) {
  Noise noise(key_of(seeds, "simulated studies"));
  int64_t covered = 0, intervals = 0, wrong = 0, named = 0;
  for (int64_t i = 0; i < studies; ++i) {
    const StudyOutcome outcome = simulated_study(noise, seeds, advantage);
    covered += outcome.covered;
    intervals += outcome.intervals;
    wrong += outcome.named_wrongly > 0;
    named += outcome.named > 0;
  }
  const auto share = [](int64_t part, int64_t all) { return static_cast<double>(part) / static_cast<double>(all); };
  return {share(covered, intervals), share(wrong, studies), share(named, studies)};
}

// How often the interval that `make` gives of n values drawn around 0 contains 0.
template <class Make>
double coverage(int64_t studies, size_t n, const Make& make) {
  Noise noise(key_of(n, "coverage"));
  int64_t covered = 0;
  for (int64_t i = 0; i < studies; ++i) covered += make(noise.normals(n)).contains(0.0);
  return static_cast<double>(covered) / static_cast<double>(studies);
}

// t-intervals of runs that reach 1 or, one in five, 0.5: how often they contain the mean of 0.9.
double coverage_with_failures(int64_t studies, size_t n) {
  Noise noise(key_of(n, "failures"));
  int64_t covered = 0;
  for (int64_t i = 0; i < studies; ++i) {
    std::vector<double> values = noise.normals(n);
    for (double& value : values) value = (noise.unit() < 0.2 ? 0.5 : 1.0) + 0.001 * value;
    covered += t_interval(values).contains(0.9);
  }
  return static_cast<double>(covered) / static_cast<double>(studies);
}

void check_studies(int64_t studies) {
  for (const size_t seeds : {3, 5, 8}) {
    const Tally without = simulate(studies, seeds, 0.0);
    INFO(seeds << " seeds: intervals cover " << without.coverage << ", wrong in " << without.wrong_studies);
    CHECK(without.coverage >= 0.94);
    CHECK(without.coverage <= 0.96);
    CHECK(without.wrong_studies < 0.05);
    if (seeds < 8) CHECK(without.named_studies == 0.0);  // p cannot fall low enough
  }
  const Tally with = simulate(studies, 8, 5.0);
  INFO("an arm ahead is named in " << with.named_studies << ", another wrongly in " << with.wrong_studies);
  CHECK(with.named_studies > 0.9);
  CHECK(with.wrong_studies < 0.05);
}

}  // namespace

TEST_CASE("simulated studies: intervals cover what they say, and without a winner none is named", "[unit]") {
  check_studies(600);
}

TEST_CASE("2000 simulated studies: intervals cover 94 to 96 %, wrong winners in under 5 %", "[slow]") {
  check_studies(2000);
}

TEST_CASE("simulated studies: Student's interval is honest from 3 seeds on, a bootstrap's is not", "[slow]") {
  const auto student = [](const std::vector<double>& values) { return t_interval(values); };
  const auto bootstrap = [](const std::vector<double>& values) { return bootstrap_mean(values, 0.95, 2000).interval; };
  constexpr int64_t kStudies = 4000;
  for (const size_t n : {3, 5, 10}) CHECK(coverage(kStudies, n, student) == Approx(0.95).margin(0.01));
  CHECK(coverage(kStudies, 3, bootstrap) == Approx(0.76).margin(0.02));
  CHECK(coverage(kStudies, 5, bootstrap) == Approx(0.84).margin(0.02));
  CHECK(coverage(kStudies, 10, bootstrap) == Approx(0.90).margin(0.02));
}

TEST_CASE("simulated studies: with one failure in five no interval of the mean of 3 seeds is honest", "[unit]") {
  CHECK(coverage_with_failures(4000, 3) == Approx(0.49).margin(0.02));
}

}  // namespace ordo
