// SPDX-License-Identifier: Apache-2.0
// What became of the examples of a classification, and the evaluation made of it.
#pragma once
#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "ordo/tasks/class_task.h"

namespace ordo {

inline constexpr double kPredicted = 0.5;  // a label of several is predicted from this probability on

class ClassJudge {
 public:
  virtual ~ClassJudge() = default;
  // logits [B, K] of the next B examples of the set, without gradients.
  virtual void add(const at::Tensor& logits) = 0;
  virtual Evaluation evaluation(const StreamOptions& options) const = 0;
};
// Both outlive it.
std::unique_ptr<ClassJudge> class_judge(const std::vector<std::string>& classes, bool several_labels,
                                        const LabelledSet& examples);

// Sum of the binary cross-entropies of logits [B, K] against targets [B, K] of 0 and 1, which `smoothing` moves
// towards 1/2; times options.scale.
at::Tensor several_labels_loss(const at::Tensor& logits, const at::Tensor& targets, const LossOptions& options);

// Who was taken for whom, as lines for people: a table of all counts [truth, predicted]; of more than 20 classes the
// mistakes that are made most often. Names are cut to 20 columns.
std::string confusion_text(const std::vector<std::string>& classes, const std::vector<int64_t>& counts);

}  // namespace ordo
