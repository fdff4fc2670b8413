// SPDX-License-Identifier: Apache-2.0
#include "ordo/ops/fused_loss.h"
#include "ordo/ops/type_name.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "ordo/ops/autocast.h"
#include "ordo/ops/sequence.h"
#include "ordo/ops/softmax_rows.h"

namespace ordo {

namespace {

struct Wanted {
  bool hidden = false, weight = false, bias = false;
  bool any() const { return hidden || weight || bias; }
};
struct LossParts {
  Tensor loss;                  // scalar
  Tensor hidden, weight, bias;  // gradients, where wanted
};

// A chunk's logits take at most this much, but a chunk has at least kFewestRows rows, else the products slow down.
constexpr int64_t kFewestRows = 256, kChunkNumbersCpu = 1 << 20, kChunkNumbersGpu = 1 << 26;

int64_t chunk_rows(const LossOptions& options, int64_t tokens, int64_t vocabulary, bool cpu) {
  const int64_t fitting = (cpu ? kChunkNumbersCpu : kChunkNumbersGpu) / std::max<int64_t>(vocabulary, 1);
  return std::clamp<int64_t>(options.chunk > 0 ? options.chunk : std::max(kFewestRows, fitting), 1,
                             std::max<int64_t>(tokens, 1));
}

// One walk over the tokens, chunk by chunk, with all buffers made once.
class LossPass {
 public:
  LossPass(const Tensor& hidden, const Tensor& weight, const Tensor& bias, const Tensor& targets,
           const LossOptions& options)
      : off_(std::make_unique<AutocastOff>(hidden, weight)),
        options_(options),
        hidden_(hidden.detach()),
        targets_(targets) {
    const auto [N, D] = sizes<2>(hidden, "hidden [N, D]");
    require(weight.dim() == 2 && weight.size(1) == D, "loss: the weight has shape {}, expected [V, {}]",
            shape_text(weight), D);
    require(targets.dim() == 1 && targets.size(0) == N && targets.scalar_type() == at::kLong,
            "loss: the targets have shape {}, expected {} whole numbers (int64)", shape_text(targets), N);
    low_ = off_->low;
    wide_ = accumulate_type(low_);
    vocabulary_ = weight.size(0);
    weight_ = weight.detach().to(low_);
    if (bias.defined()) bias_ = bias.detach().to(wide_);
    if (hidden.is_cpu()) find_rows();
    rows_a_chunk_ = chunk_rows(options, tokens(), vocabulary_, hidden.is_cpu());
    logits_ = at::empty({rows_a_chunk_, vocabulary_}, hidden_.options().dtype(wide_));
    if (low_ != wide_) low_logits_ = at::empty({rows_a_chunk_, vocabulary_}, hidden_.options().dtype(low_));
    // fp16 products would lose gradients that are scaled down beforehand: there the scale comes after them.
    early_scale_ = low_ == wide_ ? options.scale : 1.0;
    late_scale_ = low_ == wide_ ? 1.0 : options.scale;
  }

  LossParts sum(Wanted wanted) {
    LossParts parts = zero_gradients(wanted);
    Tensor total = at::zeros({}, hidden_.options().dtype(at::kDouble));
    for (int64_t begin = 0; begin < tokens(); begin += rows_a_chunk_) {
      const Chunk chunk = chunk_at(begin);
      total.add_(losses_of(chunk, wanted.any()).sum(at::kDouble), late_scale_);
      if (wanted.any()) add_gradients(chunk, parts);
    }
    parts.loss = total.to(wide_);
    return parts;
  }

  Tensor each(Tensor* correct) {
    const Tensor losses = at::zeros({hidden_.size(0)}, hidden_.options().dtype(wide_));
    if (correct != nullptr) *correct = at::zeros({hidden_.size(0)}, hidden_.options().dtype(at::kBool));
    for (int64_t begin = 0; begin < tokens(); begin += rows_a_chunk_) {
      const Chunk chunk = chunk_at(begin);
      if (correct != nullptr) put(*correct, chunk, at::argmax(chunk.logits, 1).eq(chunk.targets));
      put(losses, chunk, losses_of(chunk, /*gradient=*/false).to(wide_).mul_(late_scale_));
    }
    return losses;
  }

 private:
  // Autocast's state decides the type of the products; within the pass autocast is off.
  struct AutocastOff {
    at::ScalarType low;
    AutocastScope scope;
    AutocastOff(const Tensor& hidden, const Tensor& weight)
        : low(type_of_products(hidden, weight)), scope(hidden.device().type(), no_autocast()) {}
    static at::ScalarType type_of_products(const Tensor& hidden, const Tensor& weight) {
      const AutocastState state = autocast_state(hidden.device().type());
      if (state.enabled && hidden.scalar_type() != at::kDouble) return state.dtype;
      require(hidden.scalar_type() == weight.scalar_type(), "loss: hidden states are {} but the weight is {}",
              type_name(hidden.scalar_type()), type_name(weight.scalar_type()));
      return hidden.scalar_type();
    }
  };
  struct Chunk {
    int64_t begin, end;
    Tensor rows;             // their places in hidden; undefined: begin, begin + 1, …
    Tensor hidden, targets;  // [n, D] in the type of the products, [n]
    Tensor logits;           // [n, V], turned into the gradient in place
  };

  static std::string shape_text(const Tensor& t) { return fmt::format("[{}]", fmt::join(t.sizes(), ", ")); }
  int64_t tokens() const { return rows_.defined() ? rows_.size(0) : hidden_.size(0); }

  // On the CPU ignored targets cost nothing; elsewhere finding them would wait for the device, so they are computed and
  // zeroed.
  void find_rows() {
    const Tensor counted = targets_.ne(kIgnore);
    const Tensor used = targets_.masked_select(counted);
    if (used.numel() > 0) {
      const int64_t least = used.min().item<int64_t>(), most = used.max().item<int64_t>();
      require<DataError>(least >= 0 && most < vocabulary_, "loss: target {} is outside the vocabulary of {}",
                         least < 0 ? least : most, vocabulary_);
    }
    if (used.numel() < targets_.numel()) rows_ = counted.nonzero().squeeze(1);
  }

  Chunk chunk_at(int64_t begin) {
    Chunk chunk{.begin = begin, .end = std::min(tokens(), begin + rows_a_chunk_)};
    if (rows_.defined()) chunk.rows = rows_.slice(0, chunk.begin, chunk.end);
    const auto part = [&](const Tensor& t) {
      return chunk.rows.defined() ? t.index_select(0, chunk.rows) : t.slice(0, chunk.begin, chunk.end);
    };
    chunk.hidden = part(hidden_).to(low_);
    chunk.targets = part(targets_).contiguous();
    chunk.logits = logits_.slice(0, 0, chunk.end - chunk.begin);
    const Tensor across = weight_.t();
    if (low_ == wide_ && bias_.defined()) {
      at::addmm_out(chunk.logits, bias_, chunk.hidden, across);
    } else if (low_ == wide_) {
      at::mm_out(chunk.logits, chunk.hidden, across);
    } else {
      Tensor low = low_logits_.slice(0, 0, chunk.end - chunk.begin);
      at::mm_out(low, chunk.hidden, across);
      chunk.logits.copy_(low);
      if (bias_.defined()) chunk.logits.add_(bias_);
    }
    return chunk;
  }

  // [n], times early_scale_; the logits become their gradient when asked for.
  Tensor losses_of(const Chunk& chunk, bool gradient) const {
    return chunk.logits.is_cpu() && wide_ == at::kFloat ? losses_by_rows(chunk, gradient)
                                                        : losses_by_operators(chunk, gradient);
  }

  Tensor losses_by_rows(const Chunk& chunk, bool gradient) const {
    const RowOptions row{options_.smoothing, options_.z_loss, options_.softcap, early_scale_};
    const Tensor losses = at::empty({chunk.end - chunk.begin}, hidden_.options().dtype(at::kDouble));
    auto* out = losses.mutable_data_ptr<double>();
    auto* logits = chunk.logits.mutable_data_ptr<float>();
    const auto* target = chunk.targets.const_data_ptr<int64_t>();
    const int64_t grain = std::max<int64_t>(1, (1 << 14) / vocabulary_);
    at::parallel_for(0, chunk.end - chunk.begin, grain, [&](int64_t begin, int64_t end) {
      std::vector<float> capped(options_.softcap ? static_cast<size_t>(vocabulary_) : 0);
      for (int64_t i = begin; i < end; ++i)
        out[i] = row_loss(logits + i * vocabulary_, vocabulary_, target[i], row, gradient, capped.data());
    });
    return losses;
  }

  Tensor losses_by_operators(const Chunk& chunk, bool gradient) const {
    Tensor z = chunk.logits;
    const double smoothing = options_.smoothing, cap = options_.softcap.value_or(1.0);
    if (options_.softcap) z.div_(cap).tanh_().mul_(cap);
    const Tensor slope = options_.softcap && gradient ? 1.0 - z.div(cap).square_() : Tensor();
    const Tensor counted = chunk.targets.ne(kIgnore), target = chunk.targets.clamp_min(0).unsqueeze(1);
    Tensor losses = z.gather(1, target).squeeze(1).mul_(smoothing - 1.0);
    if (smoothing > 0.0) losses.sub_(z.mean(1), smoothing);
    const Tensor most = z.amax(1, /*keepdim=*/true);
    const Tensor total =
        z.sub_(most).clamp_min_(-80.0).exp_().sum(1, /*keepdim=*/true);  // exp of what underflows is slow
    const Tensor log_z = (most + total.log()).squeeze(1);
    losses.add_(log_z)
        .add_(log_z.square(), options_.z_loss)
        .mul_(early_scale_)
        .masked_fill_(counted.logical_not(), 0.0);
    if (!gradient) return losses;
    z.mul_((1.0 + 2.0 * options_.z_loss * log_z).unsqueeze(1).div_(total));
    if (smoothing > 0.0) z.sub_(smoothing / static_cast<double>(vocabulary_));
    z.scatter_add_(1, target, at::empty(target.sizes(), z.options()).fill_(smoothing - 1.0));
    if (slope.defined()) z.mul_(slope);
    z.mul_(early_scale_).masked_fill_(counted.logical_not().unsqueeze(1), 0.0);
    return losses;
  }

  LossParts zero_gradients(Wanted wanted) const {
    const auto options = hidden_.options().dtype(wide_);
    LossParts parts;
    if (wanted.hidden)
      parts.hidden = rows_.defined() ? at::zeros(hidden_.sizes(), options) : at::empty(hidden_.sizes(), options);
    if (wanted.weight) parts.weight = at::zeros(weight_.sizes(), options);
    if (wanted.bias) parts.bias = at::zeros({vocabulary_}, options);
    return parts;
  }

  void add_gradients(const Chunk& chunk, LossParts& parts) {
    Tensor slope = chunk.logits;
    if (parts.bias.defined()) parts.bias.add_(slope.sum(0), late_scale_);
    if (low_ != wide_) slope = low_logits_.slice(0, 0, chunk.end - chunk.begin).copy_(slope);
    if (parts.hidden.defined()) add_hidden_gradient(chunk, slope, parts.hidden);
    if (!parts.weight.defined()) return;
    if (low_ == wide_) {
      parts.weight.addmm_(slope.t(), chunk.hidden);
    } else {
      if (!low_weight_.defined()) low_weight_ = at::empty_like(weight_);
      at::mm_out(low_weight_, slope.t(), chunk.hidden);
      parts.weight.add_(low_weight_, late_scale_);
    }
  }

  void add_hidden_gradient(const Chunk& chunk, const Tensor& slope, const Tensor& into) const {
    if (low_ == wide_ && !chunk.rows.defined()) {
      Tensor place = into.slice(0, chunk.begin, chunk.end);
      at::mm_out(place, slope, weight_);
      return;
    }
    Tensor product = at::mm(slope, weight_).to(wide_);
    if (late_scale_ != 1.0) product.mul_(late_scale_);
    put(into, chunk, product);
  }

  static void put(const Tensor& into, const Chunk& chunk, const Tensor& values) {
    if (chunk.rows.defined())
      into.index_copy_(0, chunk.rows, values);
    else
      into.slice(0, chunk.begin, chunk.end).copy_(values);
  }

  std::unique_ptr<AutocastOff> off_;
  const LossOptions& options_;
  at::ScalarType low_ = at::kFloat, wide_ = at::kFloat;  // of the products; of statistics, sums and gradients
  int64_t vocabulary_ = 0, rows_a_chunk_ = 0;
  double early_scale_ = 1.0, late_scale_ = 1.0;
  Tensor hidden_, weight_, bias_, targets_;
  Tensor rows_;  // the tokens that count; undefined: all
  Tensor logits_, low_logits_, low_weight_;
};

std::optional<Tensor> optional_of(const Tensor& t) { return t.defined() ? std::optional<Tensor>(t) : std::nullopt; }

// What forward leaves for backward. The gradients are moved out, so that the parameter can keep them without a copy.
struct Kept : torch::CustomClassHolder {
  LossOptions options;
  Wanted wanted;
  LossParts parts;
  at::ScalarType hidden_type = at::kFloat, weight_type = at::kFloat, bias_type = at::kFloat;
  bool given = false;
};

struct FusedLoss : torch::autograd::Function<FusedLoss> {
  // An optional bias: autograd does not take an undefined tensor as an input.
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& hidden, const Tensor& weight,
                        const std::optional<Tensor>& given_bias, const Tensor& targets,
                        const c10::intrusive_ptr<Kept>& kept) {
    const Tensor bias = given_bias.value_or(Tensor());
    kept->parts = LossPass(hidden, weight, bias, targets, kept->options).sum(kept->wanted);
    kept->hidden_type = hidden.scalar_type();
    kept->weight_type = weight.scalar_type();
    if (bias.defined()) kept->bias_type = bias.scalar_type();
    ctx->saved_data["kept"] = c10::IValue::make_capsule(kept);
    return std::exchange(kept->parts.loss, {});
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    const auto kept = c10::static_intrusive_pointer_cast<Kept>(ctx->saved_data["kept"].toCapsule());
    require(!std::exchange(kept->given, true),
            "fused_loss: backward() a second time; its gradients were made once and are given away");
    const Tensor& factor = grads[0];
    const bool as_is = factor.is_cpu() && factor.item<double>() == 1.0;
    const auto finished = [&](Tensor& gradient, at::ScalarType type) {
      if (!gradient.defined()) return Tensor();
      if (!as_is) gradient.mul_(factor);
      return std::exchange(gradient, {}).to(type);
    };
    return {finished(kept->parts.hidden, kept->hidden_type),
            finished(kept->parts.weight, kept->weight_type),
            finished(kept->parts.bias, kept->bias_type),
            {},
            {}};
  }
};

}  // namespace

Tensor fused_loss(const Tensor& hidden, const Tensor& weight, const Tensor& bias, const Tensor& targets,
                  const LossOptions& options) {
  const auto kept = c10::make_intrusive<Kept>();
  kept->options = options;
  if (at::GradMode::is_enabled())
    kept->wanted = {hidden.requires_grad(), weight.requires_grad(), bias.defined() && bias.requires_grad()};
  return FusedLoss::apply(hidden, weight, optional_of(bias), targets, kept);
}

Tensor plain_loss(const Tensor& hidden, const Tensor& weight, const Tensor& bias, const Tensor& targets,
                  const LossOptions& options) {
  Tensor z = at::linear(hidden, weight, optional_of(bias));
  z = z.to(accumulate_type(z.scalar_type()));
  if (options.softcap) z = (z / *options.softcap).tanh() * *options.softcap;
  const Tensor log_z = at::logsumexp(z, 1), target = targets.clamp_min(0).unsqueeze(1);
  const Tensor losses = log_z - z.gather(1, target).squeeze(1) * (1.0 - options.smoothing) -
                        z.mean(1) * options.smoothing + log_z.square() * options.z_loss;
  return losses.masked_fill(targets.eq(kIgnore), 0.0).sum() * options.scale;
}

Tensor token_losses(const Tensor& hidden, const Tensor& weight, const Tensor& bias, const Tensor& targets,
                    const LossOptions& options, Tensor* correct) {
  const at::NoGradGuard no_grad;
  return LossPass(hidden, weight, bias, targets, options).each(correct);
}

}  // namespace ordo
