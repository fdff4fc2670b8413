// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/rope_scaling.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numbers>
#include <utility>

#include "ordo/positions/fixed.h"
#include "ordo/positions/rotate.h"

namespace ordo {

namespace {
// How many channels of a head are asked to turn, and by which setting.
std::pair<int64_t, std::string> turning_channels(const RotaryFacts& facts) {
  if (facts.rotary_dim == 0)
    return {static_cast<int64_t>(std::floor(static_cast<double>(facts.head_dim) * facts.share)),
            fmt::format("head_dim {} x partial_rotary_factor {}", facts.head_dim, facts.share)};
  require<ConfigError>(
      facts.share == 1.0,
      "rope: rotary_dim ({}) and partial_rotary_factor ({}) both say how much is rotated; give one of them",
      facts.rotary_dim, facts.share);
  require<ConfigError>(
      facts.rotary_dim <= facts.head_dim,
      "rope: rotary_dim ({}) is larger than head_dim ({}); lower it, or leave it out to rotate whole heads",
      facts.rotary_dim, facts.head_dim);
  return {facts.rotary_dim, fmt::format("rotary_dim {}", facts.rotary_dim)};
}

int64_t turning_pairs(const RotaryFacts& facts) {
  const auto [width, origin] = turning_channels(facts);
  require<ConfigError>(width >= 2, "rope: no pair of channels is left to rotate ({}); raise it", origin);
  return width / 2;
}
}  // namespace

int64_t rotary_width(const RotaryFacts& facts) {
  const int64_t pairs = turning_pairs(facts);
  const auto [width, origin] = turning_channels(facts);
  require<ConfigError>(width == 2 * pairs,
                       "rope: rotary width {} is odd ({}), but channels are rotated in pairs; make it {} or {}", width,
                       origin, width - 1, width + 1);
  return width;
}

namespace {

// Settings that several kinds have.
void factor_field(Fields& f, double& factor) {
  f("factor", factor, "how many times longer than the original the sequences may be", required(at_least(1.0)));
}
void original_field(Fields& f, std::optional<int64_t>& original) {
  f("original_max_position_embeddings", original,
    "the length before scaling; absent: the trained length of the checkpoint that is loaded", at_least(2));
}
void attention_field(Fields& f, std::optional<double>& factor, std::string_view absent) {
  f("attention_factor", factor, absent, above(0.0));
}

int64_t original_length(std::string_view kind, const std::optional<int64_t>& given, const RotaryFacts& facts) {
  const int64_t length = given.value_or(facts.trained_length);
  require<ConfigError>(
      length >= 2,
      "rope: scaling {} needs original_max_position_embeddings, the length before scaling (a new model "
      "has none of its own)",
      kind);
  return length;
}

// theta s^(r/(r-2)): the base under which the slowest pair turns s times slower, and the fastest as before.
double ntk_exponent(std::string_view kind, int64_t width) {
  require<ConfigError>(width > 2,
                       "rope: scaling {} changes the base of the wavelengths, which one rotated pair does not have; "
                       "rotate 4 channels or more",
                       kind);
  return static_cast<double>(width) / static_cast<double>(width - 2);
}

// Frequencies that do not depend on the length.
class FixedScaling : public RopeScaling {
 public:
  explicit FixedScaling(Tensor frequencies, double factor = 1.0)
      : frequencies_(std::move(frequencies)), attention_factor_(factor) {}
  Tensor frequencies(const Tensor& lengths) const override { return frequencies_.on(lengths.device()); }
  double attention_factor() const override { return attention_factor_; }
  int64_t settled(int64_t length) const override {
    (void)length;
    return 0;
  }

 private:
  FixedTensor frequencies_;
  double attention_factor_;
};

Tensor plain_frequencies(const RotaryFacts& facts) { return rotary_frequencies(facts.theta, rotary_width(facts)); }

class NoScaling final : public FixedScaling {
 public:
  struct Config {};
  static constexpr std::string_view kKind = "none", kSummary = "the frequencies of training";
  NoScaling(const Config&, const RotaryFacts& facts) : FixedScaling(plain_frequencies(facts)) {}
};
void fields(Fields&, NoScaling::Config&) {}

class LinearScaling final : public FixedScaling {
 public:
  struct Config {
    double factor = 1.0;
  };
  static constexpr std::string_view kKind = "linear", kSummary = "all positions divided by the factor";
  LinearScaling(const Config& config, const RotaryFacts& facts)
      : FixedScaling(plain_frequencies(facts) / config.factor) {}
};
void fields(Fields& f, LinearScaling::Config& c) { factor_field(f, c.factor); }

class NtkScaling final : public FixedScaling {
 public:
  struct Config {
    double factor = 1.0;
  };
  static constexpr std::string_view kKind = "ntk", kSummary = "a larger base: slow pairs are slowed, fast ones are not";
  NtkScaling(const Config& config, const RotaryFacts& facts) : FixedScaling(slowed(config.factor, facts)) {}

 private:
  static Tensor slowed(double factor, const RotaryFacts& facts) {
    const int64_t width = rotary_width(facts);
    return rotary_frequencies(facts.theta * std::pow(factor, ntk_exponent(kKind, width)), width);
  }
};
void fields(Fields& f, NtkScaling::Config& c) { factor_field(f, c.factor); }

class DynamicScaling final : public RopeScaling {
 public:
  struct Config {
    double factor = 1.0;
    std::optional<int64_t> original = {};
    bool keep_longest = false;
  };
  static constexpr std::string_view kKind = "dynamic", kSummary = "ntk by the length of the sequence at hand";
  DynamicScaling(const Config& config, const RotaryFacts& facts)
      : factor_(config.factor),
        original_(original_length(kKind, config.original, facts)),
        width_(rotary_width(facts)),
        exponent_(ntk_exponent(kKind, width_)),
        theta_(facts.theta),
        keep_longest_(config.keep_longest),
        longest_(original_) {}
  Tensor frequencies(const Tensor& lengths) const override {
    const auto original = static_cast<double>(original_);
    const Tensor growth = lengths.clamp_min(original) * (factor_ / original) - (factor_ - 1.0);
    const Tensor theta = (growth.pow(exponent_) * theta_).unsqueeze(-1);
    return at::pow(theta, at::arange(width_ / 2, lengths.options()) * (-2.0 / static_cast<double>(width_)));
  }
  bool by_length() const override { return true; }
  bool remembers() const override { return keep_longest_; }
  int64_t settled(int64_t length) const override {
    if (!keep_longest_) return std::max(length, original_);
    return length < original_ ? original_ : std::max(length, longest_.load());
  }
  void note(int64_t length) override {
    if (keep_longest_) longest_ = settled(length);
  }

 private:
  double factor_;
  int64_t original_, width_;
  double exponent_, theta_;
  bool keep_longest_;
  std::atomic<int64_t> longest_;
};
void fields(Fields& f, DynamicScaling::Config& c) {
  factor_field(f, c.factor);
  original_field(f, c.original);
  f("keep_longest", c.keep_longest,
    "go on with the frequencies of the longest call until one is shorter than the original, as Hugging Face does");
}

// Pairs that turn often within the original length keep their frequency, those that do not even turn once are slowed.
class YarnScaling final : public FixedScaling {
 public:
  struct Config {
    double factor = 1.0;
    std::optional<int64_t> original = {};
    std::optional<double> attention_factor = {};
    double beta_fast = 32.0, beta_slow = 1.0;
    bool truncate = true;
    std::optional<double> mscale = {}, mscale_all_dim = {};
  };
  static constexpr std::string_view kKind = "yarn",
                                    kSummary = "slow pairs interpolated, fast ones kept, scores sharpened";
  YarnScaling(const Config& config, const RotaryFacts& facts)
      : FixedScaling(ramped(config, facts), sharpened(config)) {}

 private:
  static Tensor ramped(const Config& c, const RotaryFacts& facts) {
    require<ConfigError>(
        c.beta_fast >= c.beta_slow,
        "rope: scaling yarn: beta_fast ({}) must be at least beta_slow ({}): they are turns within the "
        "original length",
        c.beta_fast, c.beta_slow);
    const int64_t width = rotary_width(facts);
    const auto original = static_cast<double>(original_length(kKind, c.original, facts));
    const auto last = static_cast<double>(width - 1);
    const auto pair_of = [&](double rotations) {  // the pair, counted in reals, that turns so often
      return static_cast<double>(width) * std::log(original / (2.0 * std::numbers::pi * rotations)) /
             (2.0 * std::log(facts.theta));
    };
    const double fast = pair_of(c.beta_fast), slow = pair_of(c.beta_slow);
    const double low = std::clamp(c.truncate ? std::floor(fast) : fast, 0.0, last);
    const double high = std::clamp(c.truncate ? std::ceil(slow) : slow, 0.0, last);
    constexpr double kStep = 0.001;  // a ramp of no width is a step
    const Tensor kept = rotary_frequencies(facts.theta, width);
    const Tensor slowed =
        ((at::arange(width / 2, kept.options()) - low) / (high > low ? high - low : kStep)).clamp(0.0, 1.0);
    return kept / c.factor * slowed + kept * (1.0 - slowed);
  }
  static double sharpened(const Config& c) {
    const auto by_factor = [&](double scale) { return 0.1 * scale * std::log(c.factor) + 1.0; };
    require<ConfigError>(
        c.mscale.has_value() == c.mscale_all_dim.has_value(),
        "rope: scaling yarn: mscale and mscale_all_dim are two halves of one ratio; give both or none");
    require<ConfigError>(!c.attention_factor || !c.mscale,
                         "rope: scaling yarn: attention_factor ({}) and mscale ({}) both say how scores are scaled; "
                         "give one of them",
                         c.attention_factor.value_or(0.0), c.mscale.value_or(0.0));
    if (c.attention_factor) return *c.attention_factor;
    return c.mscale ? by_factor(*c.mscale) / by_factor(*c.mscale_all_dim) : by_factor(1.0);
  }
};
void fields(Fields& f, YarnScaling::Config& c) {
  factor_field(f, c.factor);
  original_field(f, c.original);
  attention_field(f, c.attention_factor,
                  "what turned queries and keys are multiplied by; absent: 0.1 ln(factor) + 1, or by mscale");
  f("beta_fast", c.beta_fast, "turns within the original length from which a pair keeps its frequency", above(0.0));
  f("beta_slow", c.beta_slow, "turns up to which a pair is slowed by the whole factor", above(0.0));
  f("truncate", c.truncate, "the ramp between them begins and ends at whole pairs");
  f("mscale", c.mscale, "with mscale_all_dim: the attention factor is the ratio of 0.1 mscale ln(factor) + 1 of both",
    above(0.0));
  f("mscale_all_dim", c.mscale_all_dim, "see mscale", above(0.0));
}

// As yarn, with a ramp over the turns instead of the pairs.
class Llama3Scaling final : public FixedScaling {
 public:
  struct Config {
    double factor = 1.0;
    std::optional<int64_t> original = {};
    double low_freq_factor = 1.0, high_freq_factor = 4.0;
  };
  static constexpr std::string_view kKind = "llama3",
                                    kSummary = "slow pairs interpolated, fast ones kept, by wavelength";
  Llama3Scaling(const Config& config, const RotaryFacts& facts) : FixedScaling(ramped(config, facts)) {}

 private:
  static Tensor ramped(const Config& c, const RotaryFacts& facts) {
    require<ConfigError>(c.high_freq_factor > c.low_freq_factor,
                         "rope: scaling llama3: high_freq_factor ({}) must be larger than low_freq_factor ({})",
                         c.high_freq_factor, c.low_freq_factor);
    const Tensor plain = plain_frequencies(facts);
    const double rotations = static_cast<double>(original_length(kKind, c.original, facts)) / (2.0 * std::numbers::pi);
    const Tensor kept =
        ((plain * rotations - c.low_freq_factor) / (c.high_freq_factor - c.low_freq_factor)).clamp(0.0, 1.0);
    return plain / c.factor * (1.0 - kept) + plain * kept;
  }
};
void fields(Fields& f, Llama3Scaling::Config& c) {
  factor_field(f, c.factor);
  original_field(f, c.original);
  f("low_freq_factor", c.low_freq_factor, "turns within the original length up to which a pair is slowed by the factor",
    above(0.0));
  f("high_freq_factor", c.high_freq_factor, "turns from which a pair keeps its frequency", above(0.0));
}

class LongRopeScaling final : public RopeScaling {
 public:
  struct Config {
    std::vector<double> short_factor = {}, long_factor = {};
    std::optional<int64_t> original = {};
    std::optional<double> factor = {}, attention_factor = {};
  };
  static constexpr std::string_view kKind = "longrope",
                                    kSummary = "a factor for each pair, one set up to the original length, one past it";
  LongRopeScaling(const Config& config, const RotaryFacts& facts)
      : original_(original_length(kKind, config.original, facts)),
        short_(divided("short_factor", config.short_factor, facts)),
        long_(divided("long_factor", config.long_factor, facts)),
        attention_factor_(sharpened(config, facts)) {}
  Tensor frequencies(const Tensor& lengths) const override {
    const Tensor beyond = lengths.gt(static_cast<double>(original_)).unsqueeze(-1);
    return at::where(beyond, long_.on(lengths.device()), short_.on(lengths.device()));
  }
  double attention_factor() const override { return attention_factor_; }
  bool by_length() const override { return true; }
  int64_t settled(int64_t length) const override { return length > original_ ? original_ + 1 : original_; }

 private:
  static Tensor divided(std::string_view name, const std::vector<double>& factors, const RotaryFacts& facts) {
    const Tensor plain = plain_frequencies(facts);
    require<ConfigError>(static_cast<int64_t>(factors.size()) == plain.size(0),
                         "rope: scaling longrope: {} has {} numbers, one for each of the {} rotated pairs is needed",
                         name, factors.size(), plain.size(0));
    return plain / at::tensor(factors, plain.options());
  }
  double sharpened(const Config& c, const RotaryFacts& facts) const {
    require<ConfigError>(
        !c.attention_factor || !c.factor,
        "rope: scaling longrope: factor ({}) only serves to find attention_factor ({}); give one of them",
        c.factor.value_or(0.0), c.attention_factor.value_or(0.0));
    if (c.attention_factor) return *c.attention_factor;
    const auto original = static_cast<double>(original_);
    const double factor = c.factor.value_or(static_cast<double>(facts.max_length) / original);
    return factor <= 1.0 ? 1.0 : std::sqrt(1.0 + std::log(factor) / std::log(original));
  }
  int64_t original_;
  FixedTensor short_, long_;
  double attention_factor_;
};
void fields(Fields& f, LongRopeScaling::Config& c) {
  f("short_factor", c.short_factor, "what divides each pair's frequency in sequences up to the original length",
    required(above(0.0)));
  f("long_factor", c.long_factor, "the same for longer sequences", required(above(0.0)));
  original_field(f, c.original);
  f("factor", c.factor, "longest length over the original, for the attention factor; absent: by the model's max_length",
    at_least(1.0));
  attention_field(f, c.attention_factor,
                  "what turned queries and keys are multiplied by; absent: sqrt(1 + ln(factor) / ln(original))");
}

// All pairs of the head, with exponents over its whole width; only the fastest turn.
class ProportionalScaling final : public FixedScaling {
 public:
  struct Config {};
  static constexpr std::string_view
      kKind = "proportional",
      kSummary = "only the fastest pairs of the head turn, as many as partial_rotary_factor says";
  ProportionalScaling(const Config&, const RotaryFacts& facts) : FixedScaling(fastest(facts)) {}

 private:
  static Tensor fastest(const RotaryFacts& facts) {
    const int64_t turning = turning_pairs(facts);
    require<ConfigError>(facts.head_dim % 2 == 0,
                         "rope: scaling proportional pairs all channels of a head, but head_dim {} is odd",
                         facts.head_dim);
    Tensor frequencies = rotary_frequencies(facts.theta, facts.head_dim);
    frequencies.slice(0, turning).zero_();
    return frequencies;
  }
};
void fields(Fields&, ProportionalScaling::Config&) {}

}  // namespace

const RopeScalingCatalog& rope_scalings() {
  static const RopeScalingCatalog list{"scaling of rope",
                                       {
                                           entry<NoScaling, RopeScaling, RotaryFacts>(),
                                           entry<LinearScaling, RopeScaling, RotaryFacts>(),
                                           entry<NtkScaling, RopeScaling, RotaryFacts>(),
                                           entry<DynamicScaling, RopeScaling, RotaryFacts>(),
                                           entry<YarnScaling, RopeScaling, RotaryFacts>(),
                                           entry<Llama3Scaling, RopeScaling, RotaryFacts>(),
                                           entry<LongRopeScaling, RopeScaling, RotaryFacts>(),
                                           entry<ProportionalScaling, RopeScaling, RotaryFacts>(),
                                       }};
  return list;
}

template <>
const Kinds& kinds_of<RopeScaling>() {
  return rope_scalings().kinds();
}

}  // namespace ordo
