// SPDX-License-Identifier: Apache-2.0
// Cross-entropy from hidden states, chunk by chunk: [tokens, vocabulary] logits are never held. Gradients are made in
// the forward pass.
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace ordo {

inline constexpr int64_t kIgnore = -100;  // a target that counts for nothing

struct LossOptions {
  double smoothing = 0.0;              // label smoothing (Szegedy et al. 2016): mass spread evenly over the vocabulary
  double z_loss = 0.0;                 // times the square of log Z (Chowdhery et al. 2022)
  std::optional<double> softcap = {};  // logits become cap * tanh(logits / cap)
  int64_t chunk = 0;                   // rows at once; 0: chosen from the vocabulary
  double scale = 1.0;  // multiplies loss and gradients: 1 / weight of the whole update, known beforehand
};

// hidden [N, D], weight [V, D], bias [V] or undefined, targets int64 [N] (kIgnore is left out) -> sum over the targets,
// scalar, at least fp32. Under autocast the products run in autocast's type, statistics and sums in fp32.
at::Tensor fused_loss(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& bias,
                      const at::Tensor& targets, const LossOptions& options);
// The same from whole logits under autograd: the reference for tests.
at::Tensor plain_loss(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& bias,
                      const at::Tensor& targets, const LossOptions& options);
// Loss of every target by itself, without gradients: hidden [N, D] -> [N] fp32, 0 where ignored; correct[N] bool when
// asked for. Chunked too.
at::Tensor token_losses(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& bias,
                        const at::Tensor& targets, const LossOptions& options, at::Tensor* correct = nullptr);

}  // namespace ordo
