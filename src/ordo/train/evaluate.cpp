// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/evaluate.h"

#include <c10/core/GradMode.h>
#include <fmt/core.h>

#include <algorithm>

#include "ordo/checkpoint/weights.h"

namespace ordo {

namespace {
class EvalModeScope {
 public:
  explicit EvalModeScope(Model& model) : model_(model), training_(model.is_training()) { model_.eval(); }
  ~EvalModeScope() { model_.train(training_); }
  EvalModeScope(const EvalModeScope&) = delete;
  EvalModeScope& operator=(const EvalModeScope&) = delete;

 private:
  Model& model_;
  bool training_;
};

c10::DeviceType device_type_of(const Model& model) {
  const auto weights = weights_of(model);
  return weights.empty() ? c10::DeviceType::CPU : weights.front().second.device().type();
}

std::optional<std::string> refusal(const Task& task, Model& model, Split split, int64_t length) {
  if (const auto why = task.refuses_length(split, length)) return why;
  return model.refuses_length(task.row_length(length));
}
}  // namespace

EvaluateOptions evaluate_options(const RunConfig& config, Split split) {
  const auto& e = config.evaluate;
  return {.split = split,
          .lengths = e.lengths.empty() ? std::vector<int64_t>{config.train.length} : e.lengths,
          .stride = e.stride,
          .batch_size = e.batch_size > 0 ? e.batch_size : rows_of(config.train),
          .precision = config.train.precision,
          .seed = config.seed()};
}

std::vector<EvalReport> evaluate_lengths(const Task& task, Model& model, const EvaluateOptions& options) {
  const at::NoGradGuard no_grad;
  const EvalModeScope eval_mode(model);
  const AutocastScope autocast(device_type_of(model), autocast_of(options.precision));
  std::vector<EvalReport> reports;
  for (const int64_t length : options.lengths) {
    EvalReport report{.length = length, .split = options.split};
    if (const auto why = refusal(task, model, options.split, length)) {
      report.refused = *why;
    } else {
      report.evaluation = task.evaluate(model, {.split = options.split,
                                                .batch_size = options.batch_size,
                                                .length = length,
                                                .seed = options.seed,
                                                .training = false,
                                                .stride = options.stride,
                                                .details = options.details,
                                                .stop = options.stop});
    }
    if (options.stop != nullptr && options.stop->load()) return {};
    reports.push_back(std::move(report));
  }
  return reports;
}

std::vector<std::string> in_reading_order(const Metrics& metrics) {
  std::vector<std::string> names;
  for (const char* known : {"loss", "perplexity", "accuracy", "exact_match"})
    if (metrics.contains(known)) names.emplace_back(known);
  for (const auto& [name, value] : metrics)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

std::string metric_text(const std::string& name, double value) {
  constexpr std::string_view kOutOfHundred[] = {"bleu", "chrf", "ter"};  // as their signatures have them
  if (name == "accuracy" || name == "exact_match") return fmt::format("{:.1f}%", 100.0 * value);
  const bool hundred = std::find(std::begin(kOutOfHundred), std::end(kOutOfHundred), name) != std::end(kOutOfHundred);
  return hundred ? fmt::format("{:.1f}", value) : fmt::format("{:.4f}", value);
}

}  // namespace ordo
