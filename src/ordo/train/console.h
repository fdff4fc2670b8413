// SPDX-License-Identifier: Apache-2.0
// The run in the log, for people: a line every train.log_every steps, evaluations, checkpoints, and a progress line
// with the time left.
#pragma once
#include "ordo/train/pace.h"
#include "ordo/train/trainer.h"

namespace ordo {

class Console final : public Observer {
 public:
  void started(const RunConfig& config, int64_t step, int64_t steps) override;
  void stepped(const StepReport& report) override;
  void evaluated(const EvalReport& report) override;
  void saving(const fs::path& checkpoint) override;
  void finished(const RunReport& report) override;

 private:
  int64_t log_every_ = 1, steps_ = 0;
  double peak_memory_ = 0.0;
  Pace pace_;
};

// "loss 1.8436, perplexity 6.3190, accuracy 41.2%": what an evaluation gave, in words.
std::string metrics_text(const Metrics& metrics);

}  // namespace ordo
