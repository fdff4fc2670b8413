// SPDX-License-Identifier: Apache-2.0
// A study file: what is compared, on which seeds, and what is asked of the outcome.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ordo/config/config.h"
#include "ordo/config/layers.h"
#include "ordo/core/files.h"

namespace ordo {

struct Level {
  std::string name;
  std::optional<fs::path> base = {};  // another base config: tasks are a factor like any other
  std::vector<Setting> settings = {};
  Source at = {};
};
struct Factor {
  std::string name;
  std::vector<Level> levels = {};
  Source at = {};
  const Level* find(std::string_view level) const;
};
// The level of each factor, in the order of the factors: {{"encoding", "rope"}, {"task", "copy"}}.
using Combination = std::vector<std::pair<std::string, std::string>>;
std::string combination_text(const Combination& combination);  // "encoding rope, task copy"
Json levels_json(const Combination& combination);              // {"encoding": "rope", "task": "copy"}
// The level of a factor; empty when the combination has none.
std::string level_of(const Combination& combination, std::string_view factor);

// A scaling of the position encoding at evaluation is a level of this pseudo-factor wherever levels are named;
// kUnscaled is the encoding as trained.
inline constexpr std::string_view kScalingFactor = "scaling", kUnscaled = "none";

// Some combinations: {encoding: [alibi, rope], task: copy}; a factor that is not named: all its levels. Names are those
// of levels: `"!none"`, all but that one, has become the others.
struct Selection {
  std::vector<std::pair<std::string, std::vector<std::string>>> levels = {};
  std::string why = {};  // of skip and only
  Source at = {};
  bool holds(const Combination& combination) const;
};
struct ConditionalSettings {
  Selection when;  // of nothing: all runs
  std::vector<Setting> settings;
};

enum class Instances { per_seed, fixed, crossed };
enum class Control { none, parameters, flops, seconds };
enum class Correction { none, holm, benjamini_hochberg };
enum class IntervalKind { t, hierarchical };
enum class Rule { every_run, intervals, mean };
enum class Diverged { result, fail };

struct TuneConfig {
  std::vector<Factor> keys = {};      // each key with the values to try
  std::vector<std::string> per = {};  // factors whose combinations are the arms; empty: one arm for all
  std::string split = "validation", metric = "loss";
  std::vector<int64_t> seeds = {};
  Tree keys_as_written = {};
  std::optional<std::vector<std::string>> per_as_written = {};  // nothing: every factor
};
struct ControlConfig {
  Control equal = Control::none;
  std::string by = {};   // the key that is adjusted
  double within = 0.01;  // relative
};
struct BudgetConfig {
  std::optional<Quantity> run = {};    // steps, tokens, flops, s
  std::optional<Quantity> study = {};  // s, min, h
};
struct StudyEvaluateConfig {
  std::string split = {};                  // empty: test where every task has one, else validation; the plan says which
  std::vector<int64_t> lengths = {};       // empty: evaluate.lengths of each run's config, else its train.length
  std::optional<int64_t> stride = {};      // nothing: as in each run's config
  std::optional<Quantity> every = {};      // while training; nothing: likewise
  std::optional<int64_t> batch_size = {};  // likewise
  std::vector<std::string> scalings = {};  // of the position encoding, on the same weights: YAML, one line each
  std::vector<std::string> scaling_names = {};  // of each, as a level of the pseudo-factor `scaling`
  Tree scalings_as_written = {};
};
struct CompareConfig {
  std::string metric = "loss", split = {};   // split: empty: the evaluated one
  std::optional<int64_t> length = {};        // nothing: the first evaluated one of each run
  bool area = false;                         // under the curve over the lengths, in place of one of them
  std::string factor = {}, against = "all";  // factor: the one that has the level `against`, else the first
  Correction correction = Correction::holm;
  double smallest_difference = 0.0;
  IntervalKind interval = IntervalKind::t;
  double solved = 1.0;  // a run counts as solved from this value of the metric on (up to it, where smaller is better)
  std::string length_as_written = {};
};
struct Change {
  int64_t from = 0, to = 0;  // lengths
  bool relative = false;     // a share of the value at `from`
};
struct ClaimConfig {
  std::string name = {}, metric = {};   // metric: empty in the file: that of compare
  std::optional<int64_t> length = {};   // nothing: as in compare
  std::string factor = {};              // whose levels `order` or `level` name; may be the pseudo-factor `scaling`
  std::vector<std::string> order = {};  // levels, the best first
  std::vector<std::string> level = {};  // levels, each of which must meet the bound
  Selection where = {};                 // levels of the other factors
  std::optional<double> at_least = {}, at_most = {};
  std::optional<Change> change = {};
  Rule rule = Rule::intervals;
  Tree where_as_written = {};
};
struct Reference {
  std::string name = {}, metric = {}, source = {};
  std::optional<int64_t> length = {};
  double value = 0.0;
};
struct FailuresConfig {
  int64_t retry = 1;
  Diverged diverged = Diverged::result;
};

struct StudyFiles;  // study/files.h: the texts and trees of the study and its bases

// As read; levels, keys and values checked against the base configs.
struct StudyConfig {
  std::string name = {};
  std::string expected = {};  // the comment at the top of the file, for the report
  fs::path base = {};
  std::vector<Factor> vary = {};
  std::vector<ConditionalSettings> set = {};  // last of all what the command line gives to every run: train.steps=20
  std::vector<Selection> skip = {}, only = {};
  std::optional<TuneConfig> tune = {};
  std::vector<int64_t> seeds = {};
  Instances instances = Instances::per_seed;
  int64_t instance_count = 0;  // of crossed ones
  ControlConfig control = {};
  BudgetConfig budget = {};
  StudyEvaluateConfig evaluate = {};
  CompareConfig compare = {};
  std::vector<ClaimConfig> claims = {};
  std::vector<Reference> references = {};
  FailuresConfig failures = {};

  fs::path file = {};                       // absolute
  std::vector<std::string> overrides = {};  // of the command line
  std::shared_ptr<const StudyFiles> files = {};
  std::string instances_as_written = "per_seed";
  Tree vary_as_written = {}, set_as_written = {}, skip_as_written = {}, only_as_written = {};

  const Factor* factor(std::string_view name) const;
};
void fields(Fields& f, StudyConfig& c);  // for the reader, `ordo help study` and the schema

// Throws ConfigError with every problem found: file, line, column. Overrides are those of the command line: of the
// study's own keys (`seeds=[1]`), or of a training config's (`train.steps=20`), for all runs.
StudyConfig load_study(const fs::path& file, std::span<const std::string> overrides);
std::string study_yaml(const StudyConfig& study);  // the study with every default

}  // namespace ordo
