// SPDX-License-Identifier: Apache-2.0
#include "ordo/report/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ordo/core/text.h"
#include "ordo/report/numbers.h"
#include "ordo/tasks/task.h"
#include "ordo/views/svg.h"

namespace ordo::report {

namespace {

constexpr double kNoVariance = 1e-20;  // what rounding leaves of equal values is less

bool several(const std::vector<std::string>& list) { return list.size() > 1; }

// What a cell's own words are for its lack of values, or for what its mean leaves out.
std::string remarks(const Cell& cell) {
  std::vector<std::string> said;
  if (!cell.refused.empty() && cell.length > 0) said.push_back("refused: " + cell.refused);
  if (cell.diverged > 0)
    said.push_back(fmt::format(
        "{} of {} diverged{}", cell.diverged, std::max(cell.runs, cell.diverged + cell.n),
        cell.mean_with_diverged ? fmt::format("; mean with it as 0: {}", value_text(*cell.mean_with_diverged)) : ""));
  if (cell.missing > 0 && cell.refused.empty()) said.push_back(fmt::format("{} missing", cell.missing));
  if (cell.two_modes) said.emplace_back("two modes: some seeds learned it and some did not, look at solved");
  return join(said, "; ");
}

void drop_last_if_empty(ReportTable& table) {
  if (std::any_of(table.rows.begin(), table.rows.end(), [](const auto& row) { return !row.back().text.empty(); }))
    return;
  table.columns.pop_back();
  for (auto& row : table.rows) row.pop_back();
}

TableCell values_cell(const StudyReport& study, const Arms& arms, const Cell& cell) {
  std::vector<std::string> texts, links;
  for (const auto& one : arms.traced(cell)) {
    texts.push_back(value_text(one.value));
    links.push_back(one.run.empty() ? texts.back() : run_link(study, one.run, texts.back(), one.text()));
  }
  if (texts.empty())
    for (const double value : cell.values) texts.push_back(value_text(value));
  if (links.empty()) return {join(texts, " ")};
  return {join(texts, " "), fmt::format("<span class=\"values\">{}</span>", join(links, " "))};
}

std::string percent(double share) { return std::isfinite(share) ? fmt::format("{:.0f} %", 100.0 * share) : kNothing; }

std::string positive(double value, std::string (*text)(double)) { return value > 0.0 ? text(value) : kNothing; }

}  // namespace

std::string run_link(const StudyReport& study, const std::string& run, const std::string& text,
                     const std::string& title) {
  std::string path = study.runs_at.empty() || run.starts_with('/') ? run : study.runs_at + "/" + run;
  std::string address;  // a name may hold anything: only what a relative address may hold stands as it is
  for (const char c : path) {
    const auto code = static_cast<unsigned char>(c);
    if (std::isalnum(code) != 0 || std::string_view("/._-~=+,").find(c) != std::string_view::npos)
      address += c;
    else
      address += fmt::format("%{:02X}", code);
  }
  return fmt::format("<a href=\"{}/\"{}>{}</a>", escaped(address),
                     title.empty() ? "" : fmt::format(" title=\"{}\"", escaped(title)), escaped(text));
}

ReportTable overview_table(const StudyReport& study, const Arms& arms) {
  auto lengths = arms.lengths(arms.metric());
  std::sort(lengths.begin(), lengths.end(),
            [](int64_t a, int64_t b) { return (a == 0) != (b == 0) ? a != 0 : a < b; });  // the area is the last
  ReportTable table{.title = capitalised(arms.metric()) + " by length of the sequence"};
  const bool places = several(arms.places());
  if (places) table.columns.push_back({"setting"});
  table.columns.push_back({study.plan.study.compare.factor.empty() ? "runs" : study.plan.study.compare.factor});
  for (const int64_t length : lengths) table.columns.push_back({length_text(length), true});
  for (const auto& place : arms.places())
    for (const auto& arm : arms.names()) {
      std::vector<TableCell> row;
      if (places) row.push_back({place});
      row.push_back({arm});
      bool any = false;
      for (const int64_t length : lengths) {
        const Cell* cell = arms.cell(arm, place, arms.metric(), length);
        row.push_back({cell == nullptr ? kNothing : estimate_text(*cell)});
        any = any || cell != nullptr;
      }
      if (any) table.rows.push_back(std::move(row));
    }
  table.note = "Mean ± half the 95 % t-interval over seeds; other intervals are given by their ends.";
  return table;
}

// Whether the threshold of compare.solved says anything: the one that holds when none is given is meant for shares.
bool tells_solved(const StudyReport& study, const std::string& metric) {
  const CompareConfig& compare = study.plan.study.compare;
  if (metric != compare.metric) return false;
  const bool in_groups = std::any_of(study.summary.cells.begin(), study.summary.cells.end(),
                                     [&](const Cell& cell) { return cell.metric == metric && cell.two_modes; });
  return larger_is_better(metric) || compare.solved != CompareConfig().solved || in_groups;
}

ReportTable cells_table(const StudyReport& study, const Arms& arms, const std::string& metric) {
  const std::string& against = study.plan.study.compare.against;
  const bool places = several(arms.places());
  const bool judged = !against.empty() && against != "all" && metric == arms.metric();
  ReportTable table{.title = capitalised(metric) + ": every value"};
  table.columns.push_back({study.plan.study.compare.factor.empty() ? "runs" : study.plan.study.compare.factor});
  if (places) table.columns.push_back({"setting"});
  for (const char* name : {"length", "n", "mean", "interval"}) table.columns.push_back({name, true});
  const bool solved = tells_solved(study, metric);
  if (solved) table.columns.push_back({"solved", true});
  if (judged) table.columns.push_back({"against " + against});
  table.columns.push_back({"values by seed"});
  table.columns.push_back({.name = "remarks", .prose = true});
  for (const Cell* cell : arms.cells(metric)) {
    std::vector<TableCell> row{{arms.name(cell->levels, cell->scaling)}};
    if (places) row.push_back({arms.place(cell->levels)});
    row.push_back({length_text(cell->length)});
    row.push_back({std::to_string(cell->n)});
    row.push_back({mean_text(*cell)});
    const bool other_kind = cell->interval.exists() && cell->interval.kind != "t";
    row.push_back({cell->two_modes
                       ? kNothing
                       : interval_text(cell->interval) + (other_kind ? " " + cell->interval.kind : std::string())});
    if (solved) row.push_back({solved_text(*cell)});
    if (judged) row.push_back({arms.verdict(*cell)});
    row.push_back(values_cell(study, arms, *cell));
    row.push_back({remarks(*cell)});
    table.rows.push_back(std::move(row));
  }
  drop_last_if_empty(table);
  table.note =
      "interval: Student's 95 % interval over seeds, of which half is given after ±; exact: Clopper and Pearson's 95 % "
      "interval over the test items, where every seed gave the same.";
  if (solved)
    table.note += fmt::format(" solved: runs whose {} reaches {:g}, with the exact 95 % interval of their share.",
                              metric, study.plan.study.compare.solved);
  return table;
}

ReportTable pairs_table(const StudyReport& study, const Arms& arms) {
  ReportTable table{.title = "Paired differences by seed"};
  const bool places = several(arms.places());
  table.columns = {{"pair"}, {"verdict"}};
  if (places) table.columns.push_back({"setting"});
  for (const char* name : {"length", "n", "difference", "wins", "effect", "p", "p adjusted", "smallest p"})
    table.columns.push_back({name, true});
  table.columns.push_back({"seeds needed", true});
  table.columns.push_back({.name = "why", .prose = true});
  for (const auto& pair : study.summary.pairs) {
    std::vector<TableCell> row{{fmt::format("{} − {}", arms.level(pair.a), arms.level(pair.b))}};
    row.push_back({pair.verdict});
    if (places) row.push_back({arms.place(pair.where)});
    row.push_back({length_text(pair.length)});
    row.push_back({std::to_string(pair.n)});
    row.push_back({estimate_text(pair.difference, pair.interval)});
    row.push_back({fmt::format("{}/{}", pair.wins, pair.n)});
    row.push_back({std::isfinite(pair.effect)
                       ? fmt::format("{:.{}f}", pair.effect, std::abs(pair.effect) < 100.0 ? 2 : 0)
                       : kNothing});
    for (const double p : {pair.p, pair.p_adjusted, pair.p_smallest}) row.push_back({p_text(p)});
    row.push_back({pair.seeds_needed > 0.0 ? fmt::format("{:.0f}", std::ceil(pair.seeds_needed)) : kNothing});
    row.push_back({pair.why});
    table.rows.push_back(std::move(row));
  }
  table.note =
      "wins: seeds in which the first is the better one. effect: mean of the differences over their standard "
      "deviation. "
      "smallest p: what the sign-flip test can reach with so many seeds. seeds needed: to find a difference as large "
      "as "
      "this one in 80 % of studies.";
  return table;
}

ReportTable curves_table(const StudyReport& study, const Arms& arms) {
  ReportTable table{.title = "Over all lengths"};
  table.columns = {{"of"}, {"metric"}, {"area", true}, {"first failing length", true}};
  for (const auto& curve : study.summary.curves)
    if (curve.lengths.size() > 1 &&
        std::find(arms.metrics().begin(), arms.metrics().end(), curve.metric) != arms.metrics().end())
      table.rows.push_back({{arms.text(curve.levels, curve.scaling)},
                            {curve.metric},
                            {value_text(curve.area)},
                            {!tells_solved(study, curve.metric) ? kNothing
                             : curve.first_failing              ? std::to_string(*curve.first_failing)
                                                                : "none"}});
  table.note = "area: mean of the metric over the lengths, by trapezes in log2 of the length.";
  const CompareConfig& compare = study.plan.study.compare;
  if (tells_solved(study, compare.metric))
    table.note += fmt::format(" first failing length: the shortest at which the mean {} is {} {:g}, or a run diverged.",
                              compare.metric, larger_is_better(compare.metric) ? "below" : "above", compare.solved);
  return table;
}

ReportTable ranks_table(const StudyReport& study) {
  ReportTable table{.title = "Mean ranks"};
  table.columns = {{"level"}, {"mean rank", true}};
  if (!study.summary.ranks) return table;
  const LevelRanks& ranks = *study.summary.ranks;
  for (size_t i = 0; i < ranks.levels.size() && i < ranks.table.ranks.size(); ++i)
    table.rows.push_back({{ranks.levels[i]}, {fmt::format("{:.2f}", ranks.table.ranks[i])}});
  table.note = fmt::format("{} over {} blocks, 1 is the best; ranks further apart than {} differ at 0.05.",
                           ranks.metric, ranks.table.blocks, value_text(ranks.table.critical_difference));
  return table;
}

ReportTable variance_table(const StudyReport& study, const Arms& arms) {
  ReportTable table{.title = "Where the uncertainty comes from"};
  table.columns = {{"of"},          {"metric"},     {"length", true},        {"seeds", true}, {"instances", true},
                   {"items", true}, {"rest", true}, {"standard error", true}};
  for (const auto& one : study.summary.variance) {
    const VarianceShares& shares = one.shares;
    if (!(shares.variance > kNoVariance)) continue;
    const auto share = [](double part) { return TableCell{percent(part)}; };
    table.rows.push_back({{arms.text(one.levels, one.scaling)},
                          {one.metric},
                          {length_text(one.length)},
                          share(shares.seed),
                          share(shares.instance),
                          share(shares.item),
                          share(shares.rest),
                          {value_text(std::sqrt(shares.variance))}});
  }
  table.note = "Shares of the variance of the mean; standard error: its square root.";
  return table;
}

ReportTable references_table(const StudyReport& study) {
  ReportTable table{.title = "Figures of others, neither tested nor ranked"};
  table.columns = {{"figure"}, {"metric"}, {"length", true}, {"value", true}, {.name = "source", .prose = true}};
  for (const auto& one : study.plan.study.references)
    table.rows.push_back({{"◇ " + one.name},
                          {one.metric},
                          {one.length ? std::to_string(*one.length) : kNothing},
                          {value_text(one.value)},
                          {one.source}});
  return table;
}

ReportTable cost_table(const StudyReport& study, const Arms& arms) {
  ReportTable table{.title = "Cost of a run"};
  table.columns = {{"of"}, {"parameters", true}, {"FLOPs", true}, {"time", true}, {"tokens/s", true}, {"memory", true}};
  for (const auto& one : study.summary.cost)
    table.rows.push_back({{arms.text(one.levels)},
                          {one.parameters > 0 ? fmt::format("{}", one.parameters) : kNothing},
                          {positive(one.flops, count_text)},
                          {positive(one.seconds, duration_text)},
                          {positive(one.tokens_per_second, count_text)},
                          {positive(one.peak_memory, bytes_text)}});
  table.note =
      "Means over the runs of a combination. Time, tokens a second and memory depend on the machine and on "
      "what else it did.";
  return table;
}

ReportTable tuning_table(const StudyReport& study) {
  const auto& tune = study.plan.study.tune;
  ReportTable table{.title = "Tuning: every trial"};
  table.columns = {{"arm"}, {"tried"}, {"mean", true}, {"values by seed"}, {"without a value", true}, {"choice"}};
  for (const auto& trial : study.summary.tune) {
    std::vector<std::string> values, levels;
    for (const double value : trial.values) values.push_back(value_text(value));
    for (const auto& [factor, level] : trial.arm) levels.push_back(level);
    table.rows.push_back({{levels.empty() ? "all" : join(levels, ", ")},
                          {trial.trial},
                          {value_text(trial.mean)},
                          {join(values, " ")},
                          {std::to_string(trial.failed)},
                          {trial.chosen ? "chosen" : ""}});
  }
  if (tune)
    table.note = fmt::format("By {} on the {} split, seeds {}, which the comparison does not use.", tune->metric,
                             tune->split, fmt::join(tune->seeds, ", "));
  return table;
}

ReportTable left_out_table(const StudyReport& study) {
  ReportTable table{.title = "Left out"};
  table.columns = {{"combination"}, {.name = "why", .prose = true}};
  for (const auto& one : study.plan.left_out) {
    std::vector<std::string> levels;
    for (const auto& [factor, level] : one.levels) levels.push_back(factor + " " + level);
    table.rows.push_back({{join(levels, ", ")}, {one.why.empty() ? "no reason given" : one.why}});
  }
  return table;
}

ReportTable runs_table(const StudyReport& study, const Arms& arms) {
  ReportTable table{.title = "Every run"};
  table.columns = {{"run"},
                   {"of"},
                   {"seed", true},
                   {.name = "status", .prose = true},
                   {"steps", true},
                   {"tokens", true},
                   {"time", true},
                   {"parameters", true},
                   {"weights at start"},
                   {"data order"}};
  for (const auto& run : study.results.runs) {
    const std::string seed = std::to_string(run.seed) + (run.instance ? fmt::format(" · {}", *run.instance) : "");
    const std::string status = std::string(status_name(run.status)) + (run.why.empty() ? "" : ": " + run.why);
    table.rows.push_back({{run.run, run_link(study, run.run, run.run)},
                          {arms.text(run.levels)},
                          {seed},
                          {status},
                          {run.steps > 0 ? std::to_string(run.steps) : kNothing},
                          {positive(static_cast<double>(run.tokens), count_text)},
                          {positive(run.seconds, duration_text)},
                          {run.parameters > 0 ? std::to_string(run.parameters) : kNothing},
                          {short_hash(run.first_weights)},
                          {short_hash(run.data_order)}});
  }
  return table;
}

}  // namespace ordo::report
