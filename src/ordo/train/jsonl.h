// SPDX-License-Identifier: Apache-2.0
// metrics.jsonl: one JSON object a line, for programs.
//   {"kind":"train","step":100,"tokens":76800,"loss":2.41,"lr":0.001,"grad_norm":0.9,"tokens_per_second":…,"seconds":…}
//   {"kind":"eval","step":250,"split":"validation","length":64,"metrics":{"loss":…,"perplexity":…}}
// Train lines come every train.log_every steps, at the last step and at every skipped one. A length that the model
// refuses has "metrics":null and "refused":"why". Within a kind, split and length, steps strictly increase.
#pragma once
#include <limits>

#include "ordo/train/pace.h"
#include "ordo/train/trainer.h"

namespace ordo {

inline constexpr std::string_view kMetricsFile = "metrics.jsonl";

// Drops the lines of later steps than `step`, evaluations later than `evaluated` (they are made again), and a line that
// a crash cut short: what follows a resume then strictly increases.
void trim_metrics(const fs::path& file, int64_t step, int64_t evaluated = std::numeric_limits<int64_t>::max());

class JsonLines final : public Observer {
 public:
  explicit JsonLines(const fs::path& run);
  void started(const RunConfig& config, int64_t step, int64_t steps) override;
  void stepped(const StepReport& report) override;
  void evaluated(const EvalReport& report) override;

 private:
  void add(const Json& line);
  fs::path file_;
  int64_t log_every_ = 1, steps_ = 0;
  bool failed_ = false;
  Pace pace_;
};

}  // namespace ordo
