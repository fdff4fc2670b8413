// SPDX-License-Identifier: Apache-2.0
// A study as if it had been run: six encodings on three seeds at two lengths, three claims; one run diverged, one
// encoding refuses the longer length.
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "ordo/report/report.h"

namespace ordo::test {

struct FabricatedLevel {
  std::string name, position;         // position: YAML
  std::vector<double> short_, long_;  // accuracy of each seed at 16 and 32; NaN: diverged; none: refused
  double speed;                       // tokens a second
};

inline std::vector<FabricatedLevel> fabricated_levels() {
  return {{"none", "none", {0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}, 61000},
          {"sinusoidal", "sinusoidal", {0.9975, 0.99825, 0.999}, {0.31, 0.36, 0.348}, 60100},
          {"learned", "{kind: learned, init_std: 0.5}", {0.9965, 0.99575, 0.99925}, {}, 60400},
          {"rope", "rope", {1.0, 1.0, 1.0}, {0.875, 0.8425, 0.9175}, 48200},
          {"alibi", "{kind: alibi, direction: symmetric}", {1.0, 0.99975, 1.0}, {0.9025, 0.99125, 0.9575}, 52700},
          {"t5_bias", "t5_bias", {0.9935, kNoNumber, 0.999}, {0.815, kNoNumber, 0.9035}, 50900}};
}

inline RunConfig fabricated_config(const FabricatedLevel& level, int64_t seed) {
  const std::string text =
      "name: fabricated\ntask:\n  kind: language_modeling\n  tokenizer: char\n"
      "  data: {generate: {kind: chase, sentences: 200, held_out: 20}}\n"
      "model:\n  kind: encoder\n  dim: 64\n  layers: 2\n  max_length: 16\n  attention: {heads: 4}\n  position: " +
      level.position + "\ntrain: {steps: 400, batch_size: 64, length: 16, optimizer: {kind: adamw, lr: 5e-3}}\nseed: " +
      std::to_string(seed) + "\n";
  return load_run_config_text(text, "fabricated", {}).config;
}

inline RunFacts fabricated_facts(const PlannedRun& run, const FabricatedLevel& level, double last) {
  const bool diverged = std::isnan(last);
  RunFacts facts{.run = run.folder,
                 .levels = run.levels,
                 .seed = run.seed,
                 .status = diverged ? RunStatus::diverged : RunStatus::done,
                 .why = diverged ? "the loss is not finite at step 120" : "",
                 .steps = diverged ? 120 : 400,
                 .tokens = diverged ? 122880 : 409600,
                 .parameters = 101248 + static_cast<int64_t>(16.0 * level.speed / 1000.0),
                 .seconds = 409600.0 / level.speed,
                 .tokens_per_second = level.speed,
                 .flops = 2.6e11,
                 .peak_memory = 8.1e7 + 100.0 * level.speed,
                 .first_weights = "9f86d081884c7d65",
                 .data_order = "60303ae22b998861" + std::to_string(run.seed)};
  for (int64_t step = 10; step <= facts.steps; step += 10) {
    const double learned = 1.0 - std::exp(-static_cast<double>(step * (run.seed + 6)) / 900.0);
    facts.train_curve.emplace_back(step, 2.5 - (2.4 * (last - 0.1) * learned));
    if (step % 50 == 0 && !diverged)
      facts.validation_curve.emplace_back(
          step, Metrics{{"accuracy", 0.08 + (last - 0.08) * learned}, {"loss", 2.5 - 2.4 * learned * last}});
  }
  return facts;
}

inline ResultRow fabricated_row(const RunFacts& facts, int64_t length, const std::vector<double>& values, size_t seed) {
  ResultRow row{.levels = facts.levels,
                .seed = facts.seed,
                .run = facts.run,
                .scaling = "",
                .split = "test",
                .protocol = "non_overlapping",
                .length = length,
                .status = facts.status};
  if (values.empty()) row.refused = "the table holds 16 positions, the sequence has 32";
  if (values.empty() || std::isnan(values[seed])) return row;
  row.metrics = {{"accuracy", values[seed]}, {"loss", 2.5 - 2.4 * values[seed]}};
  row.tokens = 4000;
  row.twins = 2;
  for (int64_t item = 0; item < 400; ++item)
    row.item_accuracy.push_back(static_cast<double>(item) < 400.0 * values[seed] ? 1.0 : 0.0);
  for (int64_t place = 0; place < length; ++place)
    row.position_loss.push_back(2.5 - 2.4 * values[seed] + 0.8 * std::exp(-static_cast<double>(place) / 4.0));
  return row;
}

inline std::vector<ClaimConfig> fabricated_claims() {
  ClaimConfig blind{.name = "order-blind", .metric = "accuracy", .length = 16, .factor = "encoding"};
  blind.level = {"none"};
  blind.at_most = 0.5;
  blind.rule = Rule::every_run;
  ClaimConfig seen{.name = "order-seen", .metric = "accuracy", .length = 16, .factor = "encoding"};
  seen.level = {"sinusoidal", "learned", "rope", "alibi"};
  seen.at_least = 0.95;
  seen.rule = Rule::every_run;
  ClaimConfig longer{.name = "length", .metric = "accuracy", .length = 32, .factor = "encoding"};
  longer.order = {"rope", "alibi"};
  return {blind, seen, longer};
}

inline StudyConfig fabricated_config() {
  StudyConfig study;
  study.name = "fabricated";
  study.expected = "Does an encoder need a position encoding?\nExpected: none is at chance.";
  study.seeds = {1, 2, 3};
  study.evaluate.split = "test";
  study.evaluate.lengths = {16, 32};
  study.compare.metric = "accuracy";
  study.compare.length = 16;
  study.compare.factor = "encoding";
  study.compare.against = "none";
  study.compare.solved = 0.95;
  study.claims = fabricated_claims();
  study.references = {{.name = "A paper, rope",
                       .metric = "accuracy",
                       .source = "A. Author 2020, table 3",
                       .length = 16,
                       .value = 0.97}};
  return study;
}

inline void add_level(StudyReport& study, const FabricatedLevel& level) {
  study.plan.study.vary.front().levels.push_back({.name = level.name});
  for (const int64_t seed : study.plan.study.seeds) {
    const auto place = static_cast<size_t>(seed - 1);
    PlannedRun run;
    run.folder = "runs/" + level.name + "-seed" + std::to_string(seed);
    run.levels = {{"encoding", level.name}};
    run.seed = seed;
    run.config = fabricated_config(level, seed);
    run.split = "test";
    run.lengths = {16, 32};
    const RunFacts facts = fabricated_facts(run, level, level.short_[place]);
    study.results.runs.push_back(facts);
    study.results.rows.push_back(fabricated_row(facts, 16, level.short_, place));
    study.results.rows.push_back(fabricated_row(facts, 32, level.long_, place));
    study.plan.runs.push_back(std::move(run));
  }
}

inline StudyReport fabricated_study(const std::vector<FabricatedLevel>& levels = fabricated_levels()) {
  StudyReport study;
  study.plan.study = fabricated_config();
  study.plan.study.vary = {{.name = "encoding"}};
  for (const auto& level : levels) add_level(study, level);
  study.plan.left_out = {{{{"encoding", "xpos"}}, "wants a causal stack"}};
  study.plan.notes = {"All arms share one learning rate."};
  study.summary = summarise(study.plan, study.results);
  return study;
}

}  // namespace ordo::test
