// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "ordo/core/text.h"
#include "ordo/views/svg_parts.h"

namespace ordo::svg {

namespace {

// A series with what is drawn of it: its colour, and whether it has an interval at each x.
struct Drawn {
  const PlotSeries* series;
  int colour;
  bool intervals() const {
    return !series->low.empty() && series->low.size() == series->y.size() && series->high.size() == series->y.size();
  }
  size_t size() const { return std::min(series->x.size(), series->y.size()); }
};

std::string line_of(const Drawn& one, double shift, const Scale& x, const Scale& y) {
  const PlotSeries& series = *one.series;
  std::string path;
  bool pen_down = false;
  for (size_t i = 0; i < one.size(); ++i) {
    if (!x.shows(series.x[i]) || !y.shows(series.y[i])) {
      pen_down = false;
      continue;
    }
    path += fmt::format("{}{:.1f} {:.1f}", pen_down ? "L" : "M", x(series.x[i]) + shift, y(series.y[i]));
    pen_down = true;
  }
  return fmt::format("<path {}{} d=\"{}\"/>\n", stroke("line", one.colour), dash(series.dash), path);
}

// Along the upper ends and back along the lower ones; places without an interval part it.
std::string band_of(const Drawn& one, const Scale& x, const Scale& y) {
  const PlotSeries& series = *one.series;
  std::string path, back;
  const auto close = [&] {
    if (!path.empty() && path.back() != 'z') path += back + "z";
    back.clear();
  };
  for (size_t i = 0; i < one.size(); ++i) {
    if (!x.shows(series.x[i]) || !y.shows(series.low[i]) || !y.shows(series.high[i])) {
      close();
      continue;
    }
    path += fmt::format("{}{:.1f} {:.1f}", back.empty() ? "M" : "L", x(series.x[i]), y(series.high[i]));
    back = fmt::format("L{:.1f} {:.1f}", x(series.x[i]), y(series.low[i])) + back;
  }
  close();
  return fmt::format("<path {} fill-opacity=\"0.14\" d=\"{}\"/>\n", filled("band", one.colour), path);
}

// Uprights with ends, moved sideways a little so that those of several series at one x are all seen.
std::string bars_of(const Drawn& one, double shift, const Scale& x, const Scale& y) {
  const PlotSeries& series = *one.series;
  std::string path;
  for (size_t i = 0; i < one.size(); ++i) {
    if (!x.shows(series.x[i]) || !y.shows(series.low[i]) || !y.shows(series.high[i])) continue;
    const double at = x(series.x[i]) + shift;
    path += fmt::format("M{0:.1f} {1:.1f}V{2:.1f}M{3:.1f} {1:.1f}h6M{3:.1f} {2:.1f}h6", at, y(series.low[i]),
                        y(series.high[i]), at - 3);
  }
  return fmt::format("<path {} d=\"{}\"/>\n", stroke("bar", one.colour), path);
}

std::string points_of(const Drawn& one, double shift, const Scale& x, const Scale& y) {
  std::string out;
  const PlotSeries& series = *one.series;
  for (size_t i = 0; i < one.size(); ++i)
    if (x.shows(series.x[i]) && y.shows(series.y[i]))
      out += point(x(series.x[i]) + shift, y(series.y[i]), one.colour,
                   fmt::format("{}: {:.5g} at {:.5g}", series.name, series.y[i], series.x[i]));
  return out;
}

// Rows of names below the plot, each with a piece of its line; how many pixels high is told in `height`.
std::string legend_of(const std::vector<Drawn>& all, const Layout& layout, double& height) {
  std::string out;
  double x = layout.left, y = layout.bottom() + kBelowPlot + 10;
  height = 0;
  if (all.size() < 2) return out;
  for (const auto& one : all) {
    const std::string name = shortened(one.series->name, layout.width - layout.left - 34);
    const double width = 34 + kLetter * static_cast<double>(display_width(name)) + 14;
    if (x + width > layout.width && x > layout.left) {
      x = layout.left;
      y += kLegendRow;
      height += kLegendRow;
    }
    if (one.series->line)
      out += fmt::format("<path {}{} d=\"M{:.1f} {:.1f}h26\"/>\n", stroke("line", one.colour), dash(one.series->dash),
                         x, y - 4);
    if (one.series->points) out += point(x + 13, y - 4, one.colour);
    out += text_at(x + 32, y, name);
    x += width;
  }
  height += kLegendRow;
  return out;
}

Scale x_scale(const LinePlot& plot, const Layout& layout) {
  std::vector<double> values;
  bool points = false;
  for (const auto& series : plot.series) {
    values.insert(values.end(), series.x.begin(), series.x.end());
    points = points || series.points;
  }
  return scale_over(values, plot.log_x, layout.left, layout.right(), /*padded=*/points);
}

Scale y_scale(const LinePlot& plot, const Layout& layout) {
  std::vector<double> values;
  for (const auto& series : plot.series)
    for (const auto* part : {&series.y, &series.low, &series.high})
      values.insert(values.end(), part->begin(), part->end());
  return scale_over(values, plot.log_y, layout.bottom(), layout.top, /*padded=*/!plot.log_y);
}

}  // namespace

std::string drawn(const LinePlot& plot, const Layout& layout, double& height) {
  const Scale x = x_scale(plot, layout), y = y_scale(plot, layout);
  std::vector<Drawn> all;
  for (const auto& series : plot.series) all.push_back({&series, series.colour.value_or(static_cast<int>(all.size()))});
  std::string out = frame(
      layout, x, &y, {.title = plot.title, .x_label = plot.x_label, .y_label = plot.y_label, .x_ticks = plot.x_ticks});
  if (plot.mark_x) out += mark_line(layout, x, *plot.mark_x, plot.mark);
  for (const auto& one : all)
    if (one.intervals() && !one.series->points) out += band_of(one, x, y);
  for (size_t i = 0; i < all.size(); ++i) {
    const Drawn& one = all[i];
    // Only what has bars is moved, and not single points, whose x is a measured value of their own.
    const bool moves = one.series->line && one.series->points && one.intervals();
    const double shift = moves ? 2.5 * (static_cast<double>(i) - 0.5 * static_cast<double>(all.size() - 1)) : 0.0;
    if (one.series->line) out += line_of(one, shift, x, y);
    if (!one.series->points) continue;
    if (one.intervals()) out += bars_of(one, shift, x, y);
    out += points_of(one, shift, x, y);
  }
  double legend = 0;
  out += legend_of(all, layout, legend);
  height = layout.bottom() + kBelowPlot + legend;
  return out;
}

}  // namespace ordo::svg
