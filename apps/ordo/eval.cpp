// SPDX-License-Identifier: Apache-2.0
// ordo eval RUN…: metrics of trained models over a whole split, at any lengths.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "options.h"
#include "ordo/core/log.h"
#include "ordo/core/text.h"
#include "ordo/train/evaluate.h"
#include "runs.h"

namespace ordo::cli {
namespace {

struct EvalOptions {
  Words runs, overrides;
  std::string split = "validation", checkpoint, examples;
  std::vector<int64_t> lengths;
  int64_t stride = 0;
  bool json = false, details = false;
};

struct EvalRow {
  std::string run, checkpoint;
  EvalReport report;
  Surgery surgery;
};

// All are looked at before the first is evaluated. A number may be a length that was to be one more.
void require_run(const std::string& run, const EvalOptions& options) {
  std::error_code ignored;
  const bool number = !run.empty() && run.find_first_not_of("0123456789") == run.npos;
  require<ConfigError>(options.lengths.empty() || !number || fs::is_directory(run, ignored),
                       "there is no run {0}; several lengths are one word: --lengths {1},{0}", run,
                       fmt::join(options.lengths, ","));
  checkpoint_of(run, options.checkpoint);
}

std::vector<EvalRow> evaluate_run(const std::string& run, const EvalOptions& options) {
  TrainedModel trained = open_model(run, options.checkpoint, options.overrides);
  EvaluateOptions asked = evaluate_options(trained.config, split_of(options.split));
  require<DataError>(trained.parts.task->has(asked.split), "{}: its data has no {} split to be judged on", run,
                     options.split);
  if (!options.lengths.empty()) asked.lengths = options.lengths;
  if (options.stride > 0) asked.stride = options.stride;
  asked.details = true;
  require<ConfigError>(asked.stride == 0 || trained.parts.task->judges_windows(),
                       "--stride slides windows over a text, but {} is of task {}, which is judged by whole examples",
                       run, trained.config.task.kind);
  for (const int64_t length : asked.lengths)
    require<ConfigError>(asked.stride <= length,
                         "--stride {} is larger than the length {}: tokens between windows would go unjudged",
                         asked.stride, length);
  log::progress(fmt::format("{}: evaluating the {} split", run, options.split));
  std::vector<EvalRow> rows;
  for (auto& report : evaluate_lengths(*trained.parts.task, *trained.parts.model, asked))
    rows.push_back({run, trained.checkpoint.folder().filename().string(), std::move(report), trained.surgery});
  log::progress("");
  return rows;
}

Json as_json(const Surgery& surgery) {
  Json tensors = Json::array();
  for (const auto& tensor : surgery.tensors)
    tensors.push_back({{"name", tensor.name}, {"fate", fate_name(tensor.fate)}, {"how", tensor.how}});
  return {{"changes", surgery.changes}, {"tensors", std::move(tensors)}};
}

// What statistics need beyond the sums: each held-out example, and the loss by place in the row.
void add_details(Json& one, const Evaluation& evaluation) {
  if (!evaluation.outcomes.accuracy.empty()) {
    one["items"] = evaluation.outcomes.accuracy;
    one["twins"] = evaluation.outcomes.twins;
  }
  Json places = Json::array();
  for (const double loss : evaluation.position_loss) places.push_back(std::isfinite(loss) ? Json(loss) : Json(nullptr));
  one["position_loss"] = std::move(places);
}

Json intervals_json(const Evaluation& evaluation) {
  Json all = Json::object();
  for (const auto& [name, interval] : evaluation.intervals)
    all[name] = {{"kind", interval.kind}, {"low", interval.low}, {"high", interval.high}, {"level", interval.level}};
  return all;
}

Json as_json(const std::vector<EvalRow>& rows, const EvalOptions& options) {
  Json results = Json::array();
  for (const auto& row : rows) {
    Json one{{"run", row.run}, {"checkpoint", row.checkpoint}, {"split", options.split}, {"length", row.report.length}};
    if (!row.report.refused.empty()) {
      one["metrics"] = nullptr;
      one["refused"] = row.report.refused;
    } else {
      one["protocol"] = row.report.evaluation.protocol;
      one["metrics"] = Json(row.report.evaluation.metrics);
      if (!row.report.evaluation.intervals.empty()) one["intervals"] = intervals_json(row.report.evaluation);
      one["tokens"] = std::llround(row.report.evaluation.tokens);
      if (!row.report.evaluation.notes.empty()) one["notes"] = row.report.evaluation.notes;
      if (options.details) add_details(one, row.report.evaluation);
    }
    if (row.surgery.made()) one["surgery"] = as_json(row.surgery);
    results.push_back(std::move(one));
  }
  return {{"results", std::move(results)}, {"overrides", options.overrides}};
}

// A split of fewer tokens than a window holds; nothing for other rows.
std::string shortness(const EvalReport& report) {
  const int64_t longest = std::ssize(report.evaluation.position_loss);
  if (longest == 0 || report.evaluation.protocol == "whole_examples" || longest >= report.length) return "";
  return fmt::format("no window is that long: the longest has {} tokens", longest);
}

std::string protocol_text(const std::string& protocol) {
  if (protocol == "whole_examples") return "whole examples of each length";
  return protocol == "non_overlapping" ? "non-overlapping windows" : protocol + " windows";
}

// "bleu 21.3 to 24.9, chrf 18.0 to 19.6": where the metrics may lie for other examples of the same kind.
std::string intervals_text(const Evaluation& evaluation) {
  Words parts;
  double level = 0.0;
  for (const auto& name : in_reading_order(evaluation.metrics)) {
    const auto found = evaluation.intervals.find(name);
    if (found == evaluation.intervals.end() || name.find('/') != name.npos) continue;
    const Interval& interval = found->second;
    level = interval.level;
    parts.push_back(
        fmt::format("{} {} to {}", name, metric_text(name, interval.low), metric_text(name, interval.high)));
  }
  if (parts.empty()) return "";
  return fmt::format("{:.0f}% intervals by drawing {}: {}", 100.0 * level,
                     evaluation.protocol == "whole_examples" ? "examples" : "windows", join(parts, ", "));
}

// Of one evaluation, under the table; `named`: there are others.
Words remarks_of(const EvalRow& row, bool named) {
  const EvalReport& report = row.report;
  const std::string whose = named ? fmt::format("{} at length {}: ", row.run, report.length) : "";
  Words remarks;
  if (!report.refused.empty())
    remarks.push_back(fmt::format("{} at length {}: {}", row.run, report.length, report.refused));
  if (const auto note = shortness(report); !note.empty())
    remarks.push_back(fmt::format("{} at length {}: {}", row.run, report.length, note));
  if (const auto intervals = intervals_text(report.evaluation); !intervals.empty())
    remarks.push_back(whose + intervals);
  for (const auto& note : report.evaluation.notes) remarks.push_back(whose + note);
  return remarks;
}

void print_table(const std::vector<EvalRow>& rows, const EvalOptions& options) {
  Metrics all;  // of any row
  for (const auto& row : rows)
    for (const auto& metric : row.report.evaluation.metrics)
      if (metric.first.find('/') == std::string::npos) all.insert(metric);  // "f1/spam" is for --json
  const Words metrics = in_reading_order(all);

  Words header{"run", "checkpoint", "length"};
  header.insert(header.end(), metrics.begin(), metrics.end());
  header.emplace_back("tokens");
  Table table(header);
  Words notes;
  std::string protocol;
  for (const auto& row : rows) {
    Words cells{row.run, row.checkpoint, std::to_string(row.report.length)};
    for (const auto& name : metrics) {
      const auto found = row.report.evaluation.metrics.find(name);
      cells.push_back(found == row.report.evaluation.metrics.end() ? "-" : metric_text(name, found->second));
    }
    cells.push_back(!row.report.refused.empty() ? "-" : fmt::format("{:.0f}", row.report.evaluation.tokens));
    table.row(cells);
    if (row.report.refused.empty()) protocol = row.report.evaluation.protocol;
    for (auto& remark : remarks_of(row, rows.size() > 1)) notes.push_back(std::move(remark));
  }
  print(table.text());
  if (!protocol.empty()) print(fmt::format("\nover the whole {} split, {}\n", options.split, protocol_text(protocol)));
  if (!options.overrides.empty()) print(fmt::format("with {}\n", join(options.overrides, " ")));
  if (!notes.empty()) print("\n" + join(notes, "\n") + "\n");
}

// What became of each example, a JSON object a line; of several evaluations each line says whose it is.
void write_examples(const std::vector<EvalRow>& rows, const EvalOptions& options) {
  std::string text;
  for (const auto& row : rows)
    for (const auto& line : row.report.evaluation.rows) {
      const std::string whose = json_line({{"run", row.run}, {"length", row.report.length}});
      // {"run": …, "length": …, and then what the line has.
      text += (rows.size() > 1 ? whose.substr(0, whose.size() - 1) + "," + line.substr(1) : line) + "\n";
    }
  require<ConfigError>(!text.empty(),
                       "--examples: there is nothing to tell of single examples: their task does not, or every "
                       "length was refused");
  write_file(options.examples, text);
  log::info("examples: {}", options.examples);
}

}  // namespace

int eval(const Words& words) {
  EvalOptions o;
  Options options("eval", "Evaluate trained models over the whole of a split.");
  options.positionals("RUN", o.runs, "run folders or checkpoints");
  options.one_of("--split", o.split, {"train", "validation", "test"}, "which part of the data (validation)");
  options.text("--checkpoint", o.checkpoint, "best|last|STEP",
               "which checkpoint of a run folder (the best if there is one, else the last)");
  options.integers("--lengths", o.lengths, "lengths to evaluate at (those of the config)", 1, 1 << 24);
  options.integer(
      "--stride", o.stride,
      "slide windows by so many tokens: each token is judged once, with more before it (0: windows do not overlap)", 0,
      1 << 24);
  options.flag("--json", o.json, "one JSON document");
  options.text("--examples", o.examples, "FILE",
               "what became of each example, as JSON lines: what it was, what was due, what the model made of it");
  options.flag("--details", o.details, "with --json: each held-out example, and the loss by place in the row");
  options.overrides(o.overrides);
  if (!options.parse(words)) return kDone;
  require<ConfigError>(o.json || !o.details, "--details goes into the JSON document: add --json");

  for (const auto& run : o.runs) require_run(run, o);
  std::vector<EvalRow> rows;
  for (const auto& run : o.runs) {
    auto more = evaluate_run(run, o);
    rows.insert(rows.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  if (o.json)
    print_json(as_json(rows, o));
  else
    print_table(rows, o);
  if (!o.examples.empty()) write_examples(rows, o);
  return kDone;
}

}  // namespace ordo::cli
