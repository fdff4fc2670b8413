// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ordo/core/text.h"
#include "ordo/views/svg_parts.h"

namespace ordo::svg {

namespace {

constexpr double kRow = 42, kStrip = 29;  // of a row: its height; where its dots lie, below its name

Scale dots_scale(const DotPlot& plot, const Layout& layout) {
  std::vector<double> values;
  for (const auto& row : plot.rows) {
    for (const auto& dot : row.dots) values.push_back(dot.value);
    if (row.centre) values.push_back(*row.centre);
    if (row.interval) values.insert(values.end(), {row.interval->first, row.interval->second});
  }
  if (plot.mark_x) values.push_back(*plot.mark_x);
  return scale_over(values, /*logarithmic=*/false, layout.left + 8, layout.right() - 8, /*padded=*/true);
}

std::string interval_of(const DotRow& row, const Scale& x, double y) {
  std::string path;
  if (row.interval && x.shows(row.interval->first) && x.shows(row.interval->second))
    path = fmt::format("M{0:.1f} {2:.1f}H{1:.1f}M{0:.1f} {3:.1f}v10M{1:.1f} {3:.1f}v10", x(row.interval->first),
                       x(row.interval->second), y, y - 5);
  if (row.centre && x.shows(*row.centre)) path += fmt::format("M{:.1f} {:.1f}v18", x(*row.centre), y - 9);
  return path.empty() ? "" : fmt::format("<path {} d=\"{}\"/>\n", stroke("bar", row.colour), path);
}

std::string row_of(const DotRow& row, const Scale& x, const Layout& layout, double top) {
  const double note = kLetter * static_cast<double>(display_width(row.note));
  std::string out =
      text_at(layout.left + 6, top + 15, shortened(row.name, layout.plot_width - note - 24), "font-weight=\"bold\"");
  out += text_at(layout.right() - 6, top + 15, shortened(row.note, layout.plot_width - 60), "text-anchor=\"end\"");
  out += interval_of(row, x, top + kStrip);
  // One above the other in steps, so that equal values are all seen.
  const double step = std::min(3.0, 12.0 / std::max<double>(static_cast<double>(row.dots.size()), 1.0));
  for (size_t i = 0; i < row.dots.size(); ++i) {
    if (!x.shows(row.dots[i].value)) continue;
    const double y = top + kStrip + step * (static_cast<double>(i) - 0.5 * static_cast<double>(row.dots.size() - 1));
    out += row.reference ? diamond(x(row.dots[i].value), y, row.dots[i].name)
                         : point(x(row.dots[i].value), y, row.colour, row.dots[i].name);
  }
  return out;
}

}  // namespace

std::string drawn(const DotPlot& plot, const Layout& page, double& height) {
  Layout layout = page;
  layout.plot_height = kRow * static_cast<double>(std::max<size_t>(plot.rows.size(), 1)) + 6;
  const Scale x = dots_scale(plot, layout);
  std::string out;
  for (const double tick : x.ticks(6))
    out += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>\n", x(tick),
                       layout.top, layout.bottom());
  out += frame(layout, x, nullptr, {.title = plot.title, .x_label = plot.x_label, .y_label = ""});
  if (plot.mark_x) out += mark_line(layout, x, *plot.mark_x, plot.mark);
  double top = layout.top;
  for (const auto& row : plot.rows) {
    out += row_of(row, x, layout, top);
    top += kRow;
  }
  height = layout.bottom() + kBelowPlot;
  return out;
}

}  // namespace ordo::svg
