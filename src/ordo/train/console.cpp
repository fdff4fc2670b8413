// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/console.h"

#include <optional>

#include "ordo/core/log.h"
#include "ordo/core/text.h"
#include "ordo/train/evaluate.h"

namespace ordo {

namespace {
const char* ending_text(RunReport::End end) {
  switch (end) {
    case RunReport::End::done:
      return "done";
    case RunReport::End::early_stop:
      return "stopped early: no further improvement";
    case RunReport::End::stopped_by_signal:
      return "stopped by a signal, resumable";
  }
  return "";
}
}  // namespace

std::string metrics_text(const Metrics& metrics) {
  const auto value_of = [&](const char* name) {
    const auto found = metrics.find(name);
    return found == metrics.end() ? std::nullopt : std::optional(found->second);
  };
  const bool ascii = value_of("bits_per_byte") == value_of("bits_per_character");  // then one of the two is enough
  std::vector<std::string> parts;
  for (const auto& name : in_reading_order(metrics))
    if (!ascii || name != "bits_per_byte") parts.push_back(name + " " + metric_text(name, metrics.at(name)));
  return join(parts, ", ");
}

void Console::started(const RunConfig& config, int64_t step, int64_t steps) {
  log_every_ = config.train.log_every;
  steps_ = steps;
  pace_.start(step, steps);
  log::info("training '{}' from step {} to {}", config.name, step, steps);
}

void Console::stepped(const StepReport& r) {
  pace_.stepped(r.step_tokens);
  peak_memory_ = r.peak_memory;
  const std::string left = r.step < steps_ ? ", " + duration_text(pace_.seconds_left(r.step)) + " left" : "";
  const std::string now = fmt::format("step {}/{}  loss {:.4f}{}", r.step, steps_, r.loss, left);
  if (r.step != 1 && r.step % log_every_ != 0 && r.step != steps_) return log::progress(now);
  const std::string scale = r.loss_scale != 1.0 ? fmt::format("  scale {}", number_text(r.loss_scale)) : "";
  log::info("step {}/{}  loss {:.4f}  lr {:.2e}  norm {:.3f}{}  {} tokens/s{}", r.step, steps_, r.loss, r.lr,
            r.grad_norm, scale, count_text(pace_.take_tokens_per_second()), left);
  log::progress(now);  // after the line: off a terminal one of the two is enough
}

void Console::evaluated(const EvalReport& r) {
  const std::string where = fmt::format("step {}  {} at length {}", r.step, split_name(r.split), r.length);
  if (!r.refused.empty()) return log::info("{}: refused, {}", where, r.refused);
  log::info("{}: {}{} ({}, {} tokens; peak memory {})", where, metrics_text(r.evaluation.metrics),
            r.best ? ", the best so far" : "", r.evaluation.protocol, count_text(r.evaluation.tokens),
            bytes_text(peak_memory_));
}

void Console::saving(const fs::path& checkpoint) { log::info("saving {}", checkpoint.string()); }

void Console::finished(const RunReport& r) {
  log::progress("");
  const std::string best = r.best ? fmt::format(", best {:.4f}", *r.best) : "";
  log::info("{}: step {} of {}{}; {}, peak memory {}", ending_text(r.end), r.step, r.steps, best,
            duration_text(r.seconds), bytes_text(r.peak_memory));
}

}  // namespace ordo
