// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/kerple.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>

#include "ordo/positions/score_parts.h"

namespace ordo {

namespace {
constexpr NamedValue kKerpleVariants[] = {{"log", static_cast<int>(Kerple::Variant::log)},
                                          {"power", static_cast<int>(Kerple::Variant::power)},
                                          {"log3", static_cast<int>(Kerple::Variant::log3)}};
constexpr double kKerpleLeast = 0.01, kKerpleLargestPower = 2.0;

// x within [least, largest]. A number outside gets a gradient only when a step against it leads back: it behaves as if
// it were cut after each update, and is never stuck.
class KerpleBounds : public torch::autograd::Function<KerpleBounds> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& x, double least, double largest) {
    ctx->save_for_backward({x});
    ctx->saved_data["least"] = least;
    ctx->saved_data["largest"] = largest;
    return x.clamp(least, largest);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list gradients) {
    const Tensor x = ctx->get_saved_variables()[0], g = gradients[0];
    const double least = ctx->saved_data["least"].toDouble(), largest = ctx->saved_data["largest"].toDouble();
    const Tensor outwards = ((x < least) & (g > 0)) | ((x > largest) & (g < 0));
    return {g.masked_fill(outwards, 0.0), {}, {}};
  }
};
Tensor kerple_bounded(const Tensor& x, double largest = std::numeric_limits<double>::infinity()) {
  return KerpleBounds::apply(x, kKerpleLeast, largest);
}
}  // namespace

void fields(Fields& f, Kerple::Config& c) {
  f("variant", c.variant, "-p ln(1 + a d), -a d^p, or -b ln(1 + a d^p) of the distance d", kKerpleVariants);
  f("multiplicative", c.multiplicative, "multiply the content score by a learned exp(-a' d^p') first");
}

std::vector<Tensor> Kerple::Numbers::defined() const {
  std::vector<Tensor> found;
  for (const Tensor& t : {a, b, p, weight_a, weight_p})
    if (t.defined()) found.push_back(t);
  return found;
}

Kerple::Kerple(const Config& config, const PositionFacts& facts) : config_(config) {
  require<ConfigError>(!config.multiplicative || !facts.softcap,
                       "kerple: multiplicative fades the score before it is capped, so it cannot stand beside "
                       "model.attention.softcap; leave one of them out");
  const auto parameter = [&](const char* name) {
    return register_parameter(name, at::zeros({facts.layers, facts.heads}));
  };
  all_.a = parameter("a");
  if (config.variant == Variant::log3) all_.b = parameter("b");
  all_.p = parameter("p");
  if (!config.multiplicative) return;
  all_.weight_a = parameter("weight_a");
  all_.weight_p = parameter("weight_p");
}

Kerple::Numbers Kerple::of_layer(const AttentionPass& pass) const {
  const auto type = score_type(pass);
  const auto own = [&](const Tensor& all) { return all.select(0, pass.layer).to(type); };
  Numbers n;
  n.a = kerple_bounded(own(all_.a));
  if (all_.b.defined()) n.b = kerple_bounded(own(all_.b));
  n.p = config_.variant == Variant::power ? kerple_bounded(own(all_.p), kKerpleLargestPower)
                                          : kerple_bounded(own(all_.p));
  if (!config_.multiplicative) return n;
  n.weight_a = kerple_bounded(own(all_.weight_a));
  n.weight_p = kerple_bounded(own(all_.weight_p), kKerpleLargestPower);
  return n;
}

struct Kerple::Bias final : OffsetBias {
  Bias(const AttentionPass& pass, Variant variant, const Numbers& numbers)
      : OffsetBias(pass, numbers.defined()), variant_(variant), n_(numbers), scale_(pass.scale) {}

  // Where d = 0 the derivative of d^p for p, 0 ln 0, is 0: LibTorch's pow() says so too.
  Tensor at(const Tensor& offset) const override {
    const Tensor d = offset.abs().to(n_.a.scalar_type()), a = per_head(n_.a), p = per_head(n_.p);
    if (variant_ == Variant::power) return -a * at::pow(d, p);
    if (variant_ == Variant::log3) return -per_head(n_.b) * (a * at::pow(d, p)).log1p();
    return -p * (a * d).log1p();
  }

  Tensor tile(const Tile& t, const Tensor& q, const Tensor& k) const override {
    const Tensor offset = offsets(t), bias = at(offset);
    if (!reads_content()) return bias;
    const Tensor d = offset.abs().to(n_.a.scalar_type());
    // The kernel adds the content score itself: S exp(-x) = S + S (exp(-x) - 1).
    const Tensor fade = (-per_head(n_.weight_a) * at::pow(d, per_head(n_.weight_p))).expm1();
    return bias + at::matmul(q, k.transpose(-1, -2)) * scale_ * fade;
  }
  std::optional<Tensor> by_offset() const override { return reads_content() ? std::nullopt : OffsetBias::by_offset(); }
  bool reads_content() const override { return n_.weight_a.defined(); }

 private:
  Variant variant_;
  Numbers n_;
  double scale_;
};

std::shared_ptr<const ScoreBias> Kerple::scores(const AttentionPass& pass) {
  return std::make_shared<Bias>(pass, config_.variant, of_layer(pass));
}

// The paper's U(0, 2) and U(0, 1), without the part below the bound.
void Kerple::reset(const Initialiser& init, const std::string& path) {
  for (const auto& parameter : named_parameters(/*recurse=*/false)) {
    const std::string& name = parameter.key();
    const bool rate = name == "a" || name == "weight_a";
    init.uniform(parameter.value(), parameter_name(path, name), kKerpleLeast, rate ? 1.0 : 2.0);
  }
}

}  // namespace ordo
