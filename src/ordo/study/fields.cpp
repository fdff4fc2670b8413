// SPDX-License-Identifier: Apache-2.0
// The keys of a study file.
#include <algorithm>
#include <charconv>

#include "ordo/config/numbers.h"
#include "ordo/core/text.h"
#include "ordo/study/study.h"

namespace ordo {

namespace {

constexpr NamedValue kControls[] = {{"none", static_cast<int>(Control::none)},
                                    {"parameters", static_cast<int>(Control::parameters)},
                                    {"flops", static_cast<int>(Control::flops)},
                                    {"seconds", static_cast<int>(Control::seconds)}};
constexpr NamedValue kCorrections[] = {{"none", static_cast<int>(Correction::none)},
                                       {"holm", static_cast<int>(Correction::holm)},
                                       {"benjamini_hochberg", static_cast<int>(Correction::benjamini_hochberg)}};
constexpr NamedValue kIntervals[] = {{"t", static_cast<int>(IntervalKind::t)},
                                     {"hierarchical", static_cast<int>(IntervalKind::hierarchical)}};
constexpr NamedValue kRules[] = {{"every_run", static_cast<int>(Rule::every_run)},
                                 {"intervals", static_cast<int>(Rule::intervals)},
                                 {"mean", static_cast<int>(Rule::mean)}};
constexpr NamedValue kDiverged[] = {{"result", static_cast<int>(Diverged::result)},
                                    {"fail", static_cast<int>(Diverged::fail)}};
constexpr std::string_view kRunBudgets[] = {"steps", "tokens", "flops", "s"};
constexpr std::string_view kStudyBudgets[] = {"s", "min", "h"};
constexpr std::string_view kCombinations = "{FACTOR: LEVEL or [LEVEL, …] or \"!LEVEL\", …}";

constexpr double kLongest = 1 << 26;  // as evaluate.lengths of a training config

// One of some words, or a whole number of at least `low` where that is given.
TextCheck word_or_number(std::vector<std::string> words, std::optional<int64_t> low) {
  return [words = std::move(words), low](std::string_view text) -> std::optional<TextProblem> {
    if (std::find(words.begin(), words.end(), text) != words.end()) return std::nullopt;
    const auto number = read_whole(text).value;
    if (low && number && *number >= *low) return std::nullopt;
    std::string wanted = join(words, " or ");
    if (low) wanted += fmt::format("{}a whole number of at least {}", wanted.empty() ? "" : " or ", *low);
    const std::string near = nearest(text, words);
    return TextProblem{0, std::max<size_t>(text.size(), 1), fmt::format("expected {}, found '{}'", wanted, text),
                       near.empty() ? "" : fmt::format("did you mean '{}'?", near)};
  };
}
TextCheck split_check() { return word_or_number({"train", "validation", "test"}, std::nullopt); }

std::optional<TextProblem> tune_split_check(std::string_view text) {
  if (text != "test") return word_or_number({"train", "validation"}, std::nullopt)(text);
  return TextProblem{0, text.size(), "trials are never judged on the test split",
                     "validation is for choosing, test for the comparison"};
}

// `tune.by` is a section of the file only.
struct TuneBy {
  std::string& split;
  std::string& metric;
};
void fields(Fields& f, TuneBy& c) {
  f("split", c.split, "that the trials are judged on: train or validation", tune_split_check);
  f("metric", c.metric, "that decides; the mean over tune.seeds");
}

}  // namespace

void fields(Fields& f, TuneConfig& c) {
  f("keys", c.keys_as_written, "the keys with the values to try; every combination of them is a trial",
    "{KEY: [value, …], …}", required());
  f("per", c.per_as_written,
    "factors whose combinations are tuned each for itself; []: all runs together; null: every factor");
  TuneBy by{c.split, c.metric};
  f("by", by, "what the trials are judged by");
  f("seeds", c.seeds, "of the trials; none that the comparison uses", required(at_least(0)));
}

void fields(Fields& f, ControlConfig& c) {
  f("equal", c.equal, "what all runs are made equal in", kControls);
  f("by", c.by, "the key that is adjusted: model.feed_forward.hidden, train.steps");
  f("within", c.within, "how near, relative", Limits{.low = 0.0, .high = 1.0, .low_open = true, .high_open = true});
}

void fields(Fields& f, BudgetConfig& c) {
  f("run", c.run, "length of every run, in place of train.steps", kRunBudgets, above(0.0));
  f("study", c.study, "time for all runs together; what is missing then is said", kStudyBudgets, above(0.0));
}

void fields(Fields& f, StudyEvaluateConfig& c) {
  f("split", c.split, "train, validation or test; default: test where every task has one, else validation",
    [](std::string_view text) { return text.empty() ? std::nullopt : split_check()(text); });
  f("lengths", c.lengths,
    "lengths to evaluate at, the first one while training, too (another first one trains anew); none: those of each "
    "run's config",
    within(1, kLongest));
  f("stride", c.stride, "0: windows that do not overlap; n: sliding by n tokens; null: as in each run's config",
    at_least(0));
  f("every", c.every, "between evaluations while training; null: as in each run's config", kHorizonUnits,
    at_least(0.0));
  f("batch_size", c.batch_size, "rows at once; null: as in each run's config", within(0, 1 << 20));
  f("scalings", c.scalings_as_written,
    "scalings of the position encoding that the trained runs are evaluated with, too, without training",
    "[{kind: yarn, factor: 4}, …]");
}

void fields(Fields& f, CompareConfig& c) {
  f("metric", c.metric, "what is compared");
  f("split", c.split, "of the evaluation; default: evaluate.split",
    [](std::string_view text) { return text.empty() ? std::nullopt : split_check()(text); });
  f("length", c.length_as_written,
    "an evaluated length, or `area`: under the curve over the lengths; default: the first one",
    [](std::string_view text) { return text.empty() ? std::nullopt : word_or_number({"area"}, 1)(text); });
  f("factor", c.factor, "whose levels are compared; default: the one that has the level `against`, else the first");
  f("against", c.against, "the level that the others are compared with; `all`: every pair");
  f("correction", c.correction, "of the p values for the number of comparisons", kCorrections);
  f("smallest_difference", c.smallest_difference, "that would matter", at_least(0.0));
  f("interval", c.interval, "over seeds alone, or from 10 seeds on over seeds, items and instances", kIntervals);
  f("solved", c.solved, "a run has solved the task from this value of the metric on");
}

void fields(Fields& f, Change& c) {
  f("from", c.from, "a length", required(within(1, kLongest)));
  f("to", c.to, "another", required(within(1, kLongest)));
  f("relative", c.relative, "as a share of the value at `from`");
}

void fields(Fields& f, ClaimConfig& c) {
  f("name", c.name, "of the claim", required());
  f("metric", c.metric, "default: compare.metric");
  f("length", c.length, "an evaluated one; default: that of compare", within(1, kLongest));
  f("factor", c.factor, "whose levels are named; default: the one that has them");
  f("order", c.order, "levels, the best first");
  f("level", c.level, "levels that must meet the bounds; \"!none\": all but that one");
  f("where", c.where_as_written, "levels of the other factors", kCombinations);
  f("at_least", c.at_least, "lower bound of the metric, or of its change");
  f("at_most", c.at_most, "upper bound");
  f("change", c.change, "the bounds are of the metric's change between two lengths");
  f("rule", c.rule, "when it holds: in every run, outside of the intervals, or by the means", kRules);
}

void fields(Fields& f, Reference& c) {
  f("name", c.name, "the paper and its model", required());
  f("metric", c.metric, "of the figure", required());
  f("length", c.length, "of the figure, if it has one", at_least(1));
  f("value", c.value, "the figure", required());
  f("source", c.source, "where it stands: table, page, link");
}

void fields(Fields& f, FailuresConfig& c) {
  f("retry", c.retry, "how often a run that was killed or ran out of memory is tried again", within(0, 100));
  f("diverged", c.diverged, "a run whose numbers are no longer finite is a result, or a failure", kDiverged);
}

void fields(Fields& f, StudyConfig& c) {
  f("name", c.name, "of the study; default: the file's name");
  f("base", c.base, "the training config that all runs start from");
  f("vary", c.vary_as_written, "the factors; the runs are their product, times the seeds",
    "{FACTOR: {LEVEL: {KEY: value, …}, …}} or {KEY: [value, …]}");
  f("set", c.set_as_written, "settings for some runs, in this order after their levels",
    "[{when: {FACTOR: LEVEL}, KEY: value, …}, …]");
  f("skip", c.skip_as_written, "combinations left out", "[{FACTOR: LEVEL, …, why: text}, …]");
  f("only", c.only_as_written, "combinations kept", "[{FACTOR: LEVEL, …, why: text}, …]");
  f("tune", c.tune, "trials that choose settings for every arm before the comparison, on seeds of their own");
  f("seeds", c.seeds, "each gives weights, order and dropout; the unit of repetition", required(at_least(0)));
  f("instances", c.instances_as_written,
    "per_seed: examples are drawn anew for each seed; fixed: one set for all; a number: so many sets, times the seeds",
    word_or_number({"per_seed", "fixed"}, 1));
  f("control", c.control, "what is held equal between the arms");
  f("budget", c.budget, "how long a run and the study may take");
  f("evaluate", c.evaluate, "what the trained runs are evaluated at");
  f("compare", c.compare, "the question");
  f("claims", c.claims, "statements to check: holds, fails or undecided");
  f("references", c.references, "figures of papers, shown beside the results");
  f("failures", c.failures, "what becomes of runs that fail");
}

std::string study_yaml(const StudyConfig& study) {
  StudyConfig copy = study;
  return dump_yaml(walk_of(copy));
}

}  // namespace ordo
