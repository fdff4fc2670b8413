// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/alibi.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <bit>
#include <cmath>

#include "ordo/positions/score_parts.h"

namespace ordo {

namespace {
constexpr NamedValue kAlibiDirections[] = {{"causal", static_cast<int>(Alibi::Direction::causal)},
                                           {"symmetric", static_cast<int>(Alibi::Direction::symmetric)},
                                           {"asymmetric", static_cast<int>(Alibi::Direction::asymmetric)},
                                           {"split", static_cast<int>(Alibi::Direction::split)}};
// The side a head of `split` does not look at. The lowest fp16 number rather than -inf: a padded query may see that
// side alone, and still gets numbers.
constexpr double kShut = -65504.0;
}  // namespace

void fields(Fields& f, Alibi::Config& c) {
  f("alibi_bias_max", c.alibi_bias_max, "the last head's slope is 2^-alibi_bias_max", above(0.0));
  f("direction", c.direction, "sides of a query; absent: causal in causal stacks, symmetric in others",
    kAlibiDirections);
  f("num_alibi_heads", c.num_alibi_heads, "how many heads, the first ones, get a bias; 0: all", at_least(0));
  f("learned_slopes", c.learned_slopes, "slopes are learned (as logarithms), from the fixed ones on");
}

std::vector<double> Alibi::slopes(int64_t heads, double bias_max) {
  const auto power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(heads)));
  std::vector<double> out;
  for (int64_t h = 1; h <= power; ++h)
    out.push_back(std::exp2(-bias_max * static_cast<double>(h) / static_cast<double>(power)));
  for (int64_t h = 1; static_cast<int64_t>(out.size()) < heads; h += 2)
    out.push_back(std::exp2(-bias_max * static_cast<double>(h) / static_cast<double>(2 * power)));
  return out;
}

Alibi::Alibi(const Config& config, const PositionFacts& facts)
    : direction_(config.direction.value_or(facts.causal ? Direction::causal : Direction::symmetric)) {
  const int64_t biased = biased_ = config.num_alibi_heads > 0 ? config.num_alibi_heads : facts.heads;
  require<ConfigError>(
      biased <= facts.heads,
      "alibi: num_alibi_heads ({}) is larger than the number of heads ({}); use fewer, or 0 for all heads", biased,
      facts.heads);
  require<ConfigError>(facts.causal || direction_ != Direction::causal,
                       "alibi: direction causal would reward the future in a stack that sees both sides; use "
                       "symmetric, asymmetric or split");
  require<ConfigError>(
      !facts.causal || direction_ != Direction::split,
      "alibi: direction split lets half of the heads look ahead, which a causal stack hides; use causal");
  require<ConfigError>(direction_ != Direction::split || biased % 2 == 0,
                       "alibi: direction split needs an even number of biased heads, found {}", biased);
  std::vector<double> values;
  if (direction_ == Direction::split) {
    values = slopes(biased / 2, config.alibi_bias_max);
    const auto half = values;
    values.insert(values.end(), half.begin(), half.end());
  } else {
    values = slopes(biased, config.alibi_bias_max);
  }
  values.resize(static_cast<size_t>(facts.heads), 0.0);
  slopes_ = FixedTensor(at::tensor(values, at::kDouble));
  if (config.learned_slopes) log_slopes_ = register_parameter("log_slopes", at::zeros({biased}));
}

struct Alibi::Bias final : OffsetBias {
  Bias(const AttentionPass& pass, Direction direction, const Tensor& slopes, int64_t biased)
      : OffsetBias(pass, slopes.requires_grad() ? std::vector<Tensor>{slopes} : std::vector<Tensor>{}),
        direction_(direction),
        linear_(direction == Direction::causal && pass.mask.causal && pass.mask.prefix == 0),
        slopes_(slopes),
        biased_(biased) {}

  Tensor at(const Tensor& offset) const override {
    if (linear_) return per_head(slopes_) * offset;
    const Tensor distance = offset.abs().to(slopes_.scalar_type());
    if (direction_ == Direction::asymmetric) return -per_head(slopes_) * (distance - 0.5 * (offset < 0));
    const Tensor bias = -per_head(slopes_) * distance;
    return direction_ == Direction::split ? one_side_a_head(bias, offset) : bias;
  }

  // Where only the past is visible, slope x key position differs from the bias by a constant of the row. Counted back
  // from the last key, it is small where weights are large; the first keys of a long text get numbers as large as it.
  std::optional<Tensor> by_key() const override {
    if (!linear_) return std::nullopt;
    const Tensor back = k_.start ? at::arange(1 - k_.length(), 1, slopes_.options()).unsqueeze(0)
                                 : (k_.index - k_.index.amax(1, /*keepdim=*/true)).to(slopes_.scalar_type());
    return per_head(slopes_) * back.unsqueeze(1).unsqueeze(1);
  }

 private:
  // Biased heads in two halves: the first shuts the future, the second the past.
  Tensor one_side_a_head(const Tensor& bias, const Tensor& offset) const {
    const Tensor head = per_head(at::arange(slopes_.size(0), offset.options()));
    const Tensor back = head < biased_ / 2, ahead = (head >= biased_ / 2) & (head < biased_);
    return bias.masked_fill((back & (offset > 0)) | (ahead & (offset < 0)), kShut);
  }

  Direction direction_;
  bool linear_;
  Tensor slopes_;
  int64_t biased_;
};

std::shared_ptr<const ScoreBias> Alibi::scores(const AttentionPass& pass) {
  const auto type = score_type(pass);
  if (log_slopes_.defined()) {
    const Tensor slopes = at::constant_pad_nd(log_slopes_.to(type).exp(), {0, slopes_.value().size(0) - biased_});
    return std::make_shared<Bias>(pass, direction_, slopes, biased_);
  }
  return std::make_shared<Bias>(pass, direction_, slopes_.on(pass.q.index.device()).to(type), biased_);
}

void Alibi::reset(const Initialiser& init, const std::string& path) {
  (void)init, (void)path;
  if (log_slopes_.defined()) log_slopes_.copy_(slopes_.value().slice(0, 0, biased_).log());
}

}  // namespace ordo
