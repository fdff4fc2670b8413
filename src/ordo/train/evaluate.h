// SPDX-License-Identifier: Apache-2.0
// A model's metrics over a whole split, at one length or several: the same numbers during training and from `ordo
// eval`.
#pragma once
#include <atomic>
#include <vector>

#include "ordo/train/trainer.h"

namespace ordo {

struct EvaluateOptions {
  Split split = Split::validation;
  std::vector<int64_t> lengths;
  int64_t stride = 0, batch_size = 1;
  Precision precision = Precision::fp32;
  uint64_t seed = 0;
  bool details = false;                     // with intervals, and a row for each example
  const std::atomic<bool>* stop = nullptr;  // once it is set, the evaluation is given up
};
EvaluateOptions evaluate_options(const RunConfig& config, Split split);

// In eval mode and without gradients; the model's mode is put back. A length that the model refuses is reported as
// such. `step` is left 0. Empty when the stop was asked for before the end.
std::vector<EvalReport> evaluate_lengths(const Task& task, Model& model, const EvaluateOptions& options);

// Names of metrics in the order in which people look for them: loss, perplexity, accuracy, exact_match, then whatever
// else there is.
std::vector<std::string> in_reading_order(const Metrics& metrics);
// A person reads shares as parts of a hundred and a loss to four digits.
std::string metric_text(const std::string& name, double value);

}  // namespace ordo
