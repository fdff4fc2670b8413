// SPDX-License-Identifier: Apache-2.0
// ordo predict RUN INPUT…: what a trained model says of texts, images, sounds or series that nobody has judged.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "options.h"
#include "ordo/core/text.h"
#include "ordo/data/text_file.h"
#include "ordo/tasks/predictor.h"
#include "ordo/tasks/text_writer.h"
#include "runs.h"
#include "writers.h"

namespace ordo::cli {
namespace {

struct PredictOptions {
  std::string run, checkpoint;
  Words inputs, overrides;
  std::optional<std::string> file;
  int64_t batch = 32;
  bool json = false;
};

const Predictor& predictor_of(const TrainedModel& trained, std::shared_ptr<const Predictor>& kept) {
  kept = trained.parts.task->predictor();
  if (kept != nullptr) return *kept;
  const std::string& kind = trained.config.task.kind;
  throw ConfigError(
      trained.parts.task->writer() != nullptr
          ? fmt::format("{}: the model of its task '{}' writes: ask it with `ordo generate`", trained.run, kind)
          : fmt::format("{}: its task '{}' takes no inputs of a user's own; `ordo eval` judges it on its data",
                        trained.run, kind));
}

std::vector<PredictorInput> inputs_of(const PredictOptions& o, const Predictor& predictor) {
  std::vector<PredictorInput> inputs;
  if (predictor.reads_files()) {
    for (const auto& path : expand_paths({o.inputs.begin(), o.inputs.end()}))
      inputs.push_back({path.string(), path.string()});
  } else {
    for (const auto& text : o.inputs) inputs.push_back({text, fmt::format("input {}", inputs.size() + 1)});
  }
  if (o.file) {
    for (auto& line : lines_of(read_given(*o.file), *o.file))
      inputs.push_back({std::move(line.text), std::move(line.where)});
  }
  require<ConfigError>(!inputs.empty(), "nothing to judge: give {} after RUN, or --file FILE with one a line",
                       predictor.reads());
  for (const auto& input : inputs) {
    size_t bad = 0;
    require<DataError>(valid_utf8(input.text, &bad), "{} is not valid UTF-8 at byte {}", input.where, bad);
  }
  return inputs;
}

int judge_all(const PredictOptions& o, const TrainedModel& trained, const Predictor& predictor,
              const std::vector<PredictorInput>& inputs) {
  Json results = Json::array();
  const auto batch = static_cast<size_t>(o.batch);
  for (size_t from = 0; from < inputs.size() && output_open(); from += batch) {
    const auto some = std::span(inputs).subspan(from, std::min(batch, inputs.size() - from));
    const auto told = predictor.predict(*trained.parts.model, some, trained.config.train.length);
    for (size_t i = 0; i < some.size(); ++i) {
      if (!o.json) {
        print(predictor.line(told[i], some[i]) + "\n");
        continue;
      }
      results.push_back({{"input", some[i].text}});
      results.back().update(told[i]);
    }
  }
  if (o.json)
    print_json({{"run", trained.run},
                {"checkpoint", trained.checkpoint.folder().filename().string()},
                {"results", std::move(results)}});
  return kDone;
}

}  // namespace

int predict(const Words& words) {
  PredictOptions o;
  Options options("predict", "Say what a trained model makes of new texts, images, sounds or series.");
  options.positional("RUN", o.run, "a run folder or a checkpoint");
  options.positionals("INPUT", o.inputs, "texts, or files of images, sounds or series, as the run's task reads them",
                      false);
  options.text("--file", o.file, "FILE", "further inputs, one a line; - is standard input");
  options.integer("--batch", o.batch, "inputs at a time; changes no answer (32)", 1, 1 << 16);
  options.text("--checkpoint", o.checkpoint, "best|last|STEP",
               "which checkpoint of a run folder (the best if there is one, else the last)");
  options.flag("--json", o.json, "one JSON document");
  options.overrides(o.overrides);
  if (!options.parse(words)) return kDone;
  const TrainedModel trained = open_model(o.run, o.checkpoint, o.overrides);
  std::shared_ptr<const Predictor> kept;
  const Predictor& predictor = predictor_of(trained, kept);
  return judge_all(o, trained, predictor, inputs_of(o, predictor));
}

}  // namespace ordo::cli
