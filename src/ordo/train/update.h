// SPDX-License-Identifier: Apache-2.0
// One update: from micro-batches to moved weights. Forward, backward, unscale, check, clip, step, average.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ordo/train/ema.h"
#include "ordo/train/run_config.h"

namespace ordo {

struct BackwardOptions {
  Precision precision = Precision::fp32;
  double smoothing = 0.0, z_loss = 0.0;
  double loss_scale = 1.0;  // of fp16; the gradients hold it, the losses returned do not
};
// Adds to the gradients those of the mean loss over all targets of all batches (their weights are summed first, so
// unequal batches count by their targets). Returns each batch's share of that mean: scalars on the device, their sum is
// the loss.
std::vector<Tensor> backward(const Task& task, Model& model, const std::vector<Batch>& batches,
                             const BackwardOptions& options);

struct UpdateReport {
  double loss = 0.0, lr = 0.0, grad_norm = 0.0, loss_scale = 1.0;
  bool moved = false;       // the weights were updated
  bool overflowed = false;  // fp16: gradients overflowed under the loss scale, which is now lower
  std::string nonfinite;    // what was not finite and in which examples, in words; empty: all was well
  bool broken = false;      // the update itself made weights that are not finite
};

class Updater {
 public:
  Updater(const RunConfig& config, const Model& model, const ScheduleFacts& facts);
  // `done`: updates that the weights have gone through.
  UpdateReport update(const Task& task, Model& model, const std::vector<Batch>& batches, int64_t done);

  const Optimizer& optimizer() const { return *optimizer_; }
  Optimizer& optimizer() { return *optimizer_; }
  LossScaler& scaler() { return scaler_; }
  const LossScaler& scaler() const { return scaler_; }
  Ema* ema() { return ema_ ? &*ema_ : nullptr; }
  const Ema* ema() const { return ema_ ? &*ema_ : nullptr; }
  void restart_ema();  // from the weights as they are

 private:
  bool unscale() const;  // true: an overflow
  double gradient_norm() const;
  std::optional<std::string> bad_weights() const;
  // Of losses and gradients.
  std::string what_is_nonfinite(const std::vector<Batch>& batches, const std::vector<Tensor>& losses) const;
  void move(UpdateReport& report);
  void clear_gradients() const;

  BackwardOptions options_;
  double clip_, ema_decay_;
  std::vector<Parameter> parameters_;
  std::shared_ptr<Optimizer> optimizer_;
  std::shared_ptr<Schedule> schedule_;
  LossScaler scaler_;
  std::optional<Ema> ema_;
};

}  // namespace ordo
