// SPDX-License-Identifier: Apache-2.0
// ordo certify CONFIG|RUN: proves properties of the assembled model, or shows the worked example of word order.
#include "ordo/certify/certify.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "options.h"
#include "ordo/certify/explain.h"
#include "ordo/checkpoint/weights.h"
#include "ordo/core/log.h"
#include "runs.h"

namespace ordo::cli {
namespace {

// A checkpoint, or a folder in which something was trained; one where nothing was is as good as its config.
bool has_weights(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return false;
  const fs::path run = run_folder(path);
  return !list_checkpoints(run).empty() || fs::exists(run / "metrics.jsonl", ignored);
}

Certificate certificate_of(const Subject& subject, c10::Device device) {
  Certificate made =
      certify(subject, device, [](std::string_view name) { log::progress(fmt::format("certify: {}", name)); });
  log::progress("");
  return made;
}

Certificate of_config(const std::string& file, const RunConfig& config) {
  const c10::Device device = open_device_quietly(config.device);
  const auto task = make_task(config);
  return certificate_of(ConfigSubject(file, config.model, model_facts(config, *task)), device);
}

Certificate of_run(const std::string& run, const Words& overrides) {
  const TrainedModel trained = open_model(run, "", overrides);
  const ModelFacts facts = model_facts(trained.config, *trained.parts.task, trained_length(trained.checkpoint));
  return certificate_of(ConfigSubject(run, trained.config.model, facts, copies_of(weights_of(*trained.parts.model))),
                        trained.device);
}

int show_example(const RunConfig& config, const std::string& run, std::optional<int64_t> layer, bool json) {
  open_device_quietly(config.device);
  // A run's weights were trained at the length of its own config, whatever the overrides say.
  const int64_t trained = run.empty() ? config.train.trained_length : trained_length(load_subject(run, {}).config);
  const ModelFacts facts{.max_length = row_length(config), .trained_length = trained};
  const WorkedExample example = worked_example(config.model, facts, layer);
  if (json) {
    print_json(as_json(example));
    return kDone;
  }
  if (!run.empty())
    print(fmt::format("This uses a fresh encoding of the kind that {} has, {} numbers wide, not the run's weights.\n\n",
                      run, example.head_dim));
  print(worked_text(example));
  return kDone;
}

}  // namespace

int certify_model(const Words& words) {
  Options options("certify", "Prove properties of the assembled model: order, cache, padding, kernels, gradients, …");
  std::string file;
  Words overrides;
  int64_t layer = 0;
  bool explain = false, json = false;
  options.positional("CONFIG|RUN", file, "a config file, a run folder or a checkpoint");
  options.flag("--explain", explain,
               "show instead, number by number, how attention sees 'cat chases mouse' and 'mouse chases cat'");
  options.integer("--layer", layer, "with --explain: the layer to show, from 0 (the first in which something acts)", 0,
                  1 << 16);
  options.flag("--json", json, "one JSON document");
  options.overrides(overrides);
  if (!options.parse(words)) return kDone;

  const bool trained = has_weights(file), one_layer = options.given("--layer");
  require<ConfigError>(explain || !one_layer, "--layer goes with --explain");
  if (explain)
    return show_example(load_subject(file, overrides).config, trained ? file : "",
                        one_layer ? std::optional(layer) : std::nullopt, json);
  const Certificate certificate =
      trained ? of_run(file, overrides) : of_config(file, load_subject(file, overrides).config);
  if (json)
    print_json(as_json(certificate));
  else
    print(certificate.text());
  if (trained && overrides.empty()) {
    // Beside the checkpoints, not in one: a checkpoint holds just what its manifest lists.
    log::info("written to {}", write_certificate(run_folder(file), certificate).string());
  }
  return certificate.holds() ? kDone : 1;
}

}  // namespace ordo::cli
