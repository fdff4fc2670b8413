// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/log_mel.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "ordo/core/errors.h"
#include "support/thrown.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

constexpr LogMelConfig kSmall{.sample_rate = 2000, .window_ms = 10.0, .hop_ms = 5.0, .mels = 4, .low = 100.0};

at::Tensor two_tones(int64_t samples) {
  const at::Tensor at = at::arange(samples, at::kDouble);
  return ((at * 0.5).sin() + (at * 2.0).cos() * 0.25).to(at::kFloat);
}

std::string problem_of(const LogMelConfig& config) {
  const auto problems = contradictions(config, "x");
  return problems.empty() ? "" : problems.front();
}

}  // namespace

// By numpy in float64, the transform by its definition: P = |sum_t x[t] (0.5 - 0.5 cos(2 pi t / 20)) exp(-2 pi i k t /
// 32)|^2, corners 700 (10^(m / 2595) - 1) for m equally spaced between 2595 log10(1 + f / 700) of the edges.
TEST_CASE("log-mel: a small case has the numbers of the formula", "[unit]") {
  float expected[] = {3.284646148F, 0.330476466F, 0.80976254F,  0.387783246F, 3.277112584F, 0.371285052F,
                      0.806819038F, 0.388515276F, 3.278999235F, 0.339599816F, 0.810309108F, 0.387085826F};
  const LogMel features(kSmall);
  CHECK(close(features(two_tones(40)), at::from_blob(expected, {3, 4}), Tolerance::fp32_sum));
}

TEST_CASE("log-mel: frames begin a hop apart and none reaches over the end", "[unit]") {
  const LogMel features(kSmall);
  const auto all = features(two_tones(49));
  CHECK(all.sizes() == at::IntArrayRef{3, 4});
  CHECK(close(all.narrow(0, 0, 2), features(two_tones(30)), Tolerance::fp32));
  CHECK(features(two_tones(50)).size(0) == 4);
  for (const int64_t samples : {1, 19, 20, 29, 30, 50})
    CHECK(features.frames(samples) == features(two_tones(samples)).size(0));
}

TEST_CASE("log-mel: less than a window is filled up with zeros, silence is the floor", "[unit]") {
  const LogMel features(kSmall);
  const auto few = two_tones(7);
  CHECK(close(features(few), features(at::cat({few, at::zeros({13})})), Tolerance::exact));
  CHECK(close(features(at::zeros({20})), at::zeros({1, 4}) + std::log(1e-10), Tolerance::fp32));
}

TEST_CASE("log-mel: the defaults are frames of 400 samples in 40 bands, a tone in the band around it", "[unit]") {
  const LogMel features(LogMelConfig{});
  const auto tone = (at::arange(16000, at::kDouble) * (2.0 * M_PI * 1000.0 / 16000.0)).sin().to(at::kFloat);
  const auto all = features(tone);
  CHECK(all.sizes() == at::IntArrayRef{98, 40});
  // 1000 Hz is mel 1000 of 2840; a band's peak is at (i + 1) * 2840 / 41.
  CHECK(all[50].argmax().item<int64_t>() == 13);
  CHECK(features.filters().sizes() == at::IntArrayRef{257, 40});
}

TEST_CASE("log-mel: settings that contradict each other are told by their keys", "[unit]") {
  CHECK(problem_of({}).empty());
  CHECK(problem_of(kSmall).empty());
  CHECK(problem_of({.high = 8000.0}).empty());
  CHECK(problem_of({.high = 8001.0}) == "x.high (8001) is above half of x.sample_rate (16000), and no sound is there");
  CHECK(problem_of({.low = 4000.0, .high = 4000.0}) == "x.low (4000) must be below x.high (4000)");
  CHECK(contains(problem_of({.low = 9000.0}), "x.low (9000) must be below x.high (8000)"));
  CHECK(contains(problem_of({.sample_rate = 1000, .hop_ms = 0.3}), "x.hop_ms (0.3) is less than a sample"));
  CHECK(contains(problem_of({.mels = 200}), "is so narrow that no frequency of the FFT (512 points) is in it"));
}

TEST_CASE("log-mel: samples of another shape or type are refused", "[unit]") {
  const LogMel features(kSmall);
  CHECK(contains(thrown<Error>([&] { features(at::zeros({2, 40})); }), "samples [N]"));
  CHECK(contains(thrown<Error>([&] { features(at::zeros({40}, at::kDouble)); }), "must be float"));
}

}  // namespace ordo::test
