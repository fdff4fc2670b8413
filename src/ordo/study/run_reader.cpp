// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/run_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "ordo/checkpoint/checkpoint.h"
#include "ordo/core/text.h"
#include "ordo/train/jsonl.h"

namespace ordo {

namespace {

// Runs `read` on the JSON of a file that a run left; what does not fit is an error that names the file.
template <class Read>
void with_json(const fs::path& file, Read read) {
  try {
    read(parse_json(read_file(file), file.string()));
  } catch (const std::exception& error) {
    throw CheckpointError(fmt::format("{} is damaged: {}; delete the folder {} to have the run made again",
                                      file.string(), error.what(), file.parent_path().string()));
  }
}

double number_or_nan(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

Metrics read_metrics(const Json& values) {
  Metrics metrics;
  for (const auto& [name, value] : values.items()) metrics[name] = number_or_nan(value);
  return metrics;
}

std::vector<double> read_numbers(const Json& row, const char* key) {
  std::vector<double> numbers;
  const auto found = row.find(key);
  if (found == row.end() || found->is_null()) return numbers;
  for (const Json& value : *found) numbers.push_back(number_or_nan(value));
  return numbers;
}

// Of `ordo eval --json` or of a line of metrics.jsonl.
ResultRow read_row(const Json& one) {
  ResultRow row{.split = one.at("split").get<std::string>(), .length = one.at("length").get<int64_t>()};
  if (one.at("metrics").is_null()) {
    row.refused = one.at("refused").get<std::string>();
    return row;
  }
  row.protocol = one.at("protocol").get<std::string>();
  row.metrics = read_metrics(one.at("metrics"));
  row.tokens = one.at("tokens").get<double>();
  row.item_accuracy = read_numbers(one, "items");
  row.twins = std::max<int64_t>(1, one.value("twins", int64_t{1}));
  row.position_loss = read_numbers(one, "position_loss");
  return row;
}

// Lines of metrics.jsonl; one that a crash cut short is passed over, as a resume does.
std::vector<Json> metric_lines(const fs::path& folder) {
  std::vector<Json> lines;
  const fs::path file = folder / kMetricsFile;
  if (!fs::exists(file)) return lines;
  for (const std::string& line : split(read_file(file), '\n')) {
    Json j = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (j.is_object() && j.contains("kind") && j.contains("step")) lines.push_back(std::move(j));
  }
  return lines;
}

double middle(std::vector<double> values) {
  if (values.empty()) return 0.0;
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  return *half;
}

void take_train_lines(const std::vector<Json>& lines, RunFacts& facts) {
  std::vector<double> rates;
  for (const Json& line : lines) {
    if (line["kind"] != "train") continue;
    facts.steps = line["step"].get<int64_t>();
    facts.tokens = line.value("tokens", int64_t{0});
    if (line.contains("loss")) facts.train_curve.emplace_back(facts.steps, number_or_nan(line["loss"]));
    rates.push_back(line.value("tokens_per_second", 0.0));
    facts.peak_memory = std::max(facts.peak_memory, line.value("peak_memory", 0.0));
  }
  facts.tokens_per_second = middle(std::move(rates));
}

void take_eval_lines(const std::vector<Json>& lines, RunFacts& facts) {
  std::optional<int64_t> first;
  for (const Json& line : lines) {
    if (line["kind"] != "eval" || line.value("split", "") != "validation" || line["metrics"].is_null()) continue;
    const int64_t length = line.value("length", int64_t{0});
    if (!first) first = length;
    if (length == *first)
      facts.validation_curve.emplace_back(line["step"].get<int64_t>(), read_metrics(line["metrics"]));
  }
}

// The last checkpoint's state knows steps and tokens better than the log, which has every n-th step.
void take_last_state(const fs::path& folder, RunFacts& facts) {
  const auto step = pointed(folder, "last");
  if (!step) return;
  const fs::path file = folder / checkpoint_name(*step) / "state.json";
  if (!fs::exists(file)) return;
  with_json(file, [&](const Json& state) {
    facts.steps = state.at("step").get<int64_t>();
    facts.tokens = state.at("tokens").get<int64_t>();
    facts.data_order = state.value("data_order", "");
  });
}

}  // namespace

std::string evaluation_file(int64_t scaling) {
  return scaling == 0 ? "evaluation.json" : fmt::format("evaluation-{}.json", scaling);
}

void read_status(const fs::path& folder, std::string_view hash, RunFacts& facts) {
  const fs::path file = folder / kStatusFile;
  if (!fs::exists(file)) return;
  with_json(file, [&](const Json& status) {
    if (!hash.empty() && status.at("hash").get<std::string>() != hash) return;
    const std::string word = status.at("status").get<std::string>();
    require(word == "done" || word == "diverged" || word == "failed", "status is '{}'", word);
    facts.status = word == "done" ? RunStatus::done : word == "diverged" ? RunStatus::diverged : RunStatus::failed;
    facts.why = status.value("why", "");
    facts.seconds = status.value("seconds", 0.0);
  });
}

void read_training(const fs::path& folder, RunFacts& facts) {
  const std::vector<Json> lines = metric_lines(folder);
  take_train_lines(lines, facts);
  take_eval_lines(lines, facts);
  take_last_state(folder, facts);
  const fs::path start = folder / kStartFile;
  if (!fs::exists(start)) return;
  with_json(start, [&](const Json& j) {
    facts.parameters = j.at("parameters").get<int64_t>();
    facts.flops = j.at("flops_per_token").get<double>() * static_cast<double>(facts.tokens);
  });
}

std::vector<ResultRow> read_evaluation(const fs::path& file) {
  std::vector<ResultRow> rows;
  if (!fs::exists(file)) return rows;
  with_json(file, [&](const Json& j) {
    const auto overrides = j.value("overrides", std::vector<std::string>{});
    for (const Json& one : j.at("results")) {
      rows.push_back(read_row(one));
      rows.back().scaling = join(overrides, " ");
    }
  });
  return rows;
}

std::vector<ResultRow> read_best_evaluation(const fs::path& folder) {
  std::vector<Json> lines = metric_lines(folder);
  std::erase_if(lines,
                [](const Json& line) { return line["kind"] != "eval" || line.value("split", "") != "validation"; });
  if (lines.empty()) return {};
  const auto best =
      std::find_if(lines.rbegin(), lines.rend(), [](const Json& line) { return line.value("best", false); });
  const Json step = best == lines.rend() ? lines.back()["step"] : (*best)["step"];
  std::vector<ResultRow> rows;
  for (const Json& line : lines)
    if (line["step"] == step) rows.push_back(read_row(line));
  return rows;
}

FirstWeights read_first_weights(const fs::path& folder) {
  FirstWeights weights;
  const fs::path start = folder / kStartFile;
  if (!fs::exists(start)) return weights;
  with_json(start, [&](const Json& j) {
    if (!j.contains("weights")) return;
    for (const auto& [name, hash] : j.at("weights").items()) weights[name] = {.hash = hash.get<std::string>()};
  });
  const auto step = pointed(folder, "last");
  const fs::path file = step ? folder / checkpoint_name(*step) / "model.safetensors" : fs::path();
  if (file.empty() || !fs::exists(file)) return weights;
  const SafetensorsFile saved(file);
  for (const TensorInfo& tensor : saved.tensors())
    if (const auto found = weights.find(tensor.name); found != weights.end()) found->second.shape = tensor.shape;
  return weights;
}

}  // namespace ordo
