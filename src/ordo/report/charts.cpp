// SPDX-License-Identifier: Apache-2.0
#include "ordo/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "ordo/report/numbers.h"

namespace ordo::report {

namespace {

std::string in_place(const std::string& title, const std::string& place) {
  return place.empty() ? title : title + ": " + place;
}

PlotSeries series_of(const Arms& arms, const std::string& arm) {
  const int number = arms.number(arm);
  // The second time round the colours, the dashes are other ones.
  return {.name = arm, .x = {}, .y = {}, .dash = (number + number / 8) % 4, .colour = number};
}

void add(PlotSeries& series, double x, double y, const Interval& interval) {
  series.x.push_back(x);
  series.y.push_back(y);
  series.low.push_back(interval.low);
  series.high.push_back(interval.high);
}

// x -> the values of all seeds there, as mean and t-interval.
using Samples = std::map<double, std::vector<double>>;
PlotSeries averaged(PlotSeries series, const Samples& samples) {
  for (const auto& [x, values] : samples)
    add(series, x, describe(values).mean, values.size() < kFewestForBand ? Interval{} : t_interval(values));
  return series;
}

// A single place on the way is no curve.
bool is_curve(const LinePlot& plot) {
  return std::any_of(plot.series.begin(), plot.series.end(), [](const PlotSeries& one) { return one.x.size() > 1; });
}

using Curve = std::vector<std::pair<double, double>>;
// One chart for each place, one line for each arm, from the curves of its runs.
std::vector<Panel> mean_charts(const StudyReport& study, const Arms& arms, const LinePlot& form,
                               const std::function<Curve(const RunFacts&)>& curve_of) {
  std::vector<Panel> charts;
  for (const auto& place : arms.places()) {
    LinePlot plot = form;
    plot.title = in_place(form.title, place);
    for (const auto& arm : arms.names()) {
      Samples samples;
      for (const auto& run : study.results.runs)
        if (arms.name(run.levels) == arm && arms.place(run.levels) == place)
          for (const auto& [x, y] : curve_of(run))
            if (std::isfinite(y)) samples[x].push_back(y);
      if (!samples.empty()) plot.series.push_back(averaged(series_of(arms, arm), samples));
    }
    if (is_curve(plot)) charts.emplace_back(std::move(plot));
  }
  return charts;
}

bool any_validation(const StudyReport& study, const std::string& metric) {
  for (const auto& run : study.results.runs)
    for (const auto& [step, metrics] : run.validation_curve)
      if (metrics.count(metric) > 0) return true;
  return false;
}

// train.length, where all runs of a place share one.
std::optional<double> trained_length(const StudyReport& study, const Arms& arms, const std::string& place) {
  std::set<int64_t> lengths;
  for (const auto& run : study.plan.runs)
    if (arms.place(run.levels) == place) lengths.insert(run.config.train.length);
  if (lengths.size() != 1 || *lengths.begin() <= 0) return std::nullopt;
  return static_cast<double>(*lengths.begin());
}

// Tokens of a row of train.length, where all runs of a place share one.
std::optional<double> trained_row(const StudyReport& study, const Arms& arms, const std::string& place) {
  std::set<int64_t> lengths;
  const Combination* last = nullptr;
  for (const auto& run : study.plan.runs) {
    if (arms.place(run.levels) != place || (last != nullptr && *last == run.levels)) continue;
    lengths.insert(row_length(run.config));
    last = &run.levels;
  }
  if (lengths.size() != 1 || *lengths.begin() <= 0) return std::nullopt;
  return static_cast<double>(*lengths.begin());
}

DotRow reference_row(const Reference& reference) {
  return {.name = "◇ " + reference.name,
          .note = value_text(reference.value) + ", not ours",
          .dots = {{reference.value, reference.name}},
          .reference = true};
}

DotRow value_row(const Arms& arms, const Cell& cell) {
  const std::string arm = arms.name(cell.levels, cell.scaling);
  DotRow row{.name = arm, .note = estimate_text(cell), .colour = arms.number(arm)};
  for (const auto& one : arms.traced(cell))
    row.dots.push_back({one.value, fmt::format("{}, {}{}", arm, one.text(), one.run.empty() ? "" : ", " + one.run)});
  if (row.dots.empty())
    for (const double value : cell.values) row.dots.push_back({value, arm});
  if (cell.diverged > 0) row.note += fmt::format(" ({} diverged)", cell.diverged);
  if (cell.values.empty() || cell.two_modes) return row;
  row.centre = cell.mean;
  if (cell.interval.exists()) row.interval = {{cell.interval.low, cell.interval.high}};
  return row;
}

}  // namespace

std::vector<Panel> value_charts(const StudyReport& study, const Arms& arms, int64_t length) {
  std::vector<Panel> charts;
  const std::string at = length == 0 ? ", area over the lengths" : fmt::format(" at length {}", length);
  for (const auto& place : arms.places()) {
    DotPlot plot{.title = in_place(capitalised(arms.metric()) + at, place), .x_label = arms.metric()};
    for (const auto& arm : arms.names())
      if (const Cell* cell = arms.cell(arm, place, arms.metric(), length)) plot.rows.push_back(value_row(arms, *cell));
    if (plot.rows.empty()) continue;
    for (const auto& reference : study.plan.study.references)
      if (reference.metric == arms.metric() && reference.length.value_or(length) == length)
        plot.rows.push_back(reference_row(reference));
    charts.emplace_back(std::move(plot));
  }
  return charts;
}

std::vector<Panel> difference_charts(const StudyReport& study, const Arms& arms) {
  std::map<std::pair<std::string, int64_t>, DotPlot> plots;  // by metric and length
  for (const auto& pair : study.summary.pairs) {
    if (!std::isfinite(pair.difference)) continue;
    DotPlot& plot = plots[{pair.metric, pair.length}];
    plot.title = fmt::format("Paired difference of {}, {}", pair.metric,
                             pair.length == 0 ? "area" : fmt::format("length {}", pair.length));
    plot.x_label = "difference of " + pair.metric;
    plot.mark_x = 0.0;
    plot.mark = "no difference";
    const std::string a = arms.level(pair.a), place = arms.place(pair.where);
    DotRow row{.name = in_place(fmt::format("{} − {}", a, arms.level(pair.b)), place),
               .note = pair.verdict,
               .colour = arms.number(a)};
    for (size_t i = 0; i < pair.differences.size(); ++i)
      row.dots.push_back(
          {pair.differences[i],
           i < pair.seeds.size() ? fmt::format("seed {}: {}", pair.seeds[i], value_text(pair.differences[i])) : ""});
    row.centre = pair.difference;
    if (pair.interval.exists()) row.interval = {{pair.interval.low, pair.interval.high}};
    plot.rows.push_back(std::move(row));
  }
  std::vector<Panel> charts;
  for (auto& [key, plot] : plots) charts.emplace_back(std::move(plot));
  return charts;
}

std::vector<Panel> learning_charts(const StudyReport& study, const Arms& arms) {
  const std::string metric = any_validation(study, arms.metric()) ? arms.metric() : "loss";
  std::vector<Panel> charts =
      mean_charts(study, arms,
                  {.title = capitalised(metric) + " in validation over training", .x_label = "step", .y_label = metric},
                  [&](const RunFacts& run) {
                    Curve curve;
                    for (const auto& [step, metrics] : run.validation_curve)
                      if (const auto found = metrics.find(metric); found != metrics.end())
                        curve.emplace_back(static_cast<double>(step), found->second);
                    return curve;
                  });
  for (auto& chart :
       mean_charts(study, arms, {.title = "Training loss", .x_label = "step", .y_label = "loss, nats"},
                   [](const RunFacts& run) { return Curve(run.train_curve.begin(), run.train_curve.end()); }))
    charts.push_back(std::move(chart));
  return charts;
}

std::vector<Panel> length_charts(const StudyReport& study, const Arms& arms) {
  std::vector<Panel> charts;
  for (const auto& metric : arms.metrics())
    for (const auto& place : arms.places()) {
      LinePlot plot{.title = in_place(capitalised(metric) + " by length", place),
                    .x_label = "length, as train.length counts it",
                    .y_label = metric,
                    .series = {},
                    .log_x = true};
      std::set<double> lengths;
      for (const auto& curve : study.summary.curves) {
        if (curve.metric != metric || curve.lengths.size() < 2 || arms.place(curve.levels) != place) continue;
        PlotSeries series = series_of(arms, arms.name(curve.levels, curve.scaling));
        series.points = true;
        for (size_t i = 0; i < curve.cells.size(); ++i) {
          const Cell& cell = curve.cells[i];
          lengths.insert(static_cast<double>(curve.lengths[i]));
          if (!cell.values.empty())
            add(series, static_cast<double>(curve.lengths[i]), cell.mean, cell.two_modes ? Interval{} : cell.interval);
        }
        if (!series.x.empty()) plot.series.push_back(std::move(series));
      }
      if (plot.series.empty()) continue;
      plot.x_ticks.assign(lengths.begin(), lengths.end());
      plot.mark_x = trained_length(study, arms, place);
      plot.mark = plot.mark_x ? fmt::format("trained at {}", static_cast<int64_t>(*plot.mark_x)) : "";
      charts.emplace_back(std::move(plot));
    }
  return charts;
}

std::vector<Panel> position_loss_charts(const StudyReport& study, const Arms& arms) {
  std::vector<Panel> charts;
  for (const auto& place : arms.places()) {
    int64_t longest = 0;
    for (const auto& row : study.results.rows)
      if (!row.position_loss.empty() && arms.place(row.levels) == place) longest = std::max(longest, row.length);
    if (longest == 0) continue;
    LinePlot plot{.title = in_place(fmt::format("Loss by place in the sequence, length {}", longest), place),
                  .x_label = "place in the sequence",
                  .y_label = "loss, nats"};
    for (const auto& arm : arms.names()) {
      Samples samples;
      for (const auto& row : study.results.rows)
        if (row.length == longest && arms.place(row.levels) == place && arms.name(row.levels, row.scaling) == arm)
          for (size_t i = 0; i < row.position_loss.size(); ++i)
            if (std::isfinite(row.position_loss[i])) samples[static_cast<double>(i)].push_back(row.position_loss[i]);
      if (!samples.empty()) plot.series.push_back(averaged(series_of(arms, arm), samples));
    }
    plot.mark_x = trained_row(study, arms, place);
    plot.mark = plot.mark_x ? fmt::format("trained at {}", static_cast<int64_t>(*plot.mark_x)) : "";
    if (is_curve(plot)) charts.emplace_back(std::move(plot));
  }
  return charts;
}

namespace {

struct Price {
  const char *title, *label;
  double (*of)(const Cost&);
};
constexpr Price kPrices[] = {
    {"speed", "tokens a second in training", [](const Cost& c) { return c.tokens_per_second; }},
    {"memory", "peak memory, MB", [](const Cost& c) { return c.peak_memory / 1e6; }},
    {"size", "parameters", [](const Cost& c) { return static_cast<double>(c.parameters); }},
    {"arithmetic", "FLOPs of the training", [](const Cost& c) { return c.flops; }}};

}  // namespace

std::vector<Panel> cost_charts(const StudyReport& study, const Arms& arms) {
  std::vector<Panel> charts;
  for (const auto& price : kPrices)
    for (const auto& place : arms.places()) {
      LinePlot plot{.title = in_place(fmt::format("{} against {}", capitalised(arms.metric()), price.title), place),
                    .x_label = price.label,
                    .y_label = arms.metric()};
      std::set<double> prices;
      for (const auto& one : study.summary.cost) {
        if (price.of(one) <= 0.0 || arms.place(one.levels) != place) continue;
        const std::string arm = arms.name(one.levels);
        const Cell* cell = arms.cell(arm, place, arms.metric(), arms.length());
        if (cell == nullptr || cell->values.empty()) continue;
        PlotSeries series = series_of(arms, arm);
        series.line = false;
        series.points = true;
        add(series, price.of(one), cell->mean, cell->two_modes ? Interval{} : cell->interval);
        plot.series.push_back(std::move(series));
        prices.insert(price.of(one));
      }
      if (prices.size() > 1) charts.emplace_back(std::move(plot));  // one price for all tells nothing
    }
  return charts;
}

}  // namespace ordo::report
