// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/jsonl.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ordo/core/files.h"
#include "ordo/core/log.h"

namespace ordo {

namespace {
// Whether a line is a whole JSON object of a step that is not later than those given.
bool is_from_before(std::string_view line, int64_t step, int64_t evaluated) {
  const Json j = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!j.is_object() || !j.contains("step") || !j["step"].is_number_integer()) return false;
  const bool evaluation = j.contains("kind") && j["kind"] == "eval";
  return j["step"].get<int64_t>() <= (evaluation ? std::min(step, evaluated) : step);
}
}  // namespace

void trim_metrics(const fs::path& file, int64_t step, int64_t evaluated) {
  if (!fs::exists(file)) return;
  const std::string text = read_file(file);
  std::string kept;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;  // cut short
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    if (is_from_before(line, step, evaluated)) kept.append(line).push_back('\n');
    begin = end + 1;
  }
  if (kept.size() != text.size()) write_file(file, kept);
}

JsonLines::JsonLines(const fs::path& run) : file_(run / kMetricsFile) {}

void JsonLines::started(const RunConfig& config, int64_t step, int64_t steps) {
  log_every_ = config.train.log_every;
  steps_ = steps;
  pace_.start(step, steps);
}

void JsonLines::stepped(const StepReport& r) {
  pace_.stepped(r.step_tokens);
  if (r.step != 1 && r.step % log_every_ != 0 && r.step != steps_ && !r.skipped) return;
  Json line{{"kind", "train"}, {"step", r.step}, {"tokens", r.tokens},      {"epoch", r.epoch},
            {"loss", r.loss},  {"lr", r.lr},     {"grad_norm", r.grad_norm}};
  if (r.loss_scale != 1.0) line["loss_scale"] = r.loss_scale;
  if (r.skipped_in_all > 0) line["skipped"] = r.skipped_in_all;
  line["tokens_per_second"] = pace_.take_tokens_per_second();
  line["seconds"] = pace_.seconds();
  line["peak_memory"] = r.peak_memory;
  add(line);
}

void JsonLines::evaluated(const EvalReport& r) {
  Json line{{"kind", "eval"}, {"step", r.step}, {"split", split_name(r.split)}, {"length", r.length}};
  if (r.refused.empty()) {
    line["metrics"] = r.evaluation.metrics;
    line["tokens"] = r.evaluation.tokens;
    line["protocol"] = r.evaluation.protocol;
    line["best"] = r.best;
  } else {
    line["metrics"] = nullptr;
    line["refused"] = r.refused;
  }
  add(line);
}

// A disk that is full for a while costs lines, not the run.
void JsonLines::add(const Json& line) {
  try {
    append_line(file_, json_line(line));
    failed_ = false;
  } catch (const Error& e) {
    if (!failed_) log::warn("metrics are not written, training goes on: {}", e.what());
    failed_ = true;
  }
}

}  // namespace ordo
