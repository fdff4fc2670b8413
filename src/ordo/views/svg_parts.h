// SPDX-License-Identifier: Apache-2.0
// What all panels are made of: a layout, scales, a frame with axes, marks and legends. For the files svg*.cpp only.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ordo/views/svg.h"

namespace ordo::svg {

// Where things are in a panel, pixels. On a page two stand side by side; inside HTML a panel is narrow, so that its
// text stays readable on a telephone, and its title may take several lines.
struct Layout {
  double width = 520, left = 74, top = 46, plot_width = 400, plot_height = 270;
  bool wraps_title = false;
  double right() const { return left + plot_width; }
  double bottom() const { return top + plot_height; }
};
Layout page_layout();
Layout chart_layout(const Panel& panel);

inline constexpr double kBelowPlot = 50, kLegendRow = 20;
inline constexpr double kLetter = 6.6;       // of 12 px text, on average
inline constexpr double kTitleLetter = 7.7;  // of the 14 px bold of titles

// Numbers to pixels along one side.
struct Scale {
  double low, high, from, to;
  bool logarithmic = false;
  double operator()(double value) const;
  bool shows(double value) const;
  std::vector<double> ticks(int count) const;
};
// Over all values; a constant gets some room, and so does `padded` at both ends.
Scale scale_over(const std::vector<double>& values, bool logarithmic, double from, double to, bool padded);

std::string text_at(double x, double y, std::string_view text, std::string_view attributes = "");
std::string tick_text(double value);                            // 20, 0.05, 10k, 1e-05
std::string shortened(const std::string& text, double pixels);  // with "…" where it would be wider
std::vector<std::string> title_lines(const std::string& title, const Layout& layout);

struct Axes {
  std::string title, x_label, y_label;
  std::vector<double> x_ticks = {};  // empty: round numbers
};
std::string frame(const Layout& layout, const Scale& x, const Scale* y, const Axes& axes);  // y: null: no numbers
std::string mark_line(const Layout& layout, const Scale& x, double at, const std::string& name);

// Colour and shape `number` of lines, points and dots: `class="line c2" stroke="#009E73"`.
std::string stroke(std::string_view kind, int number);
std::string filled(std::string_view kind, int number);
std::string_view dash(int number);
std::string point(double x, double y, int number, std::string_view name = "");  // circle, square, triangle, …
std::string diamond(double x, double y, std::string_view name);                 // hollow

// Panels; `height` is told. Each in a file of its name.
std::string drawn(const LinePlot& plot, const Layout& layout, double& height);
std::string drawn(const HeatMap& map, const Layout& layout, double& height);
std::string drawn(const DotPlot& plot, const Layout& layout, double& height);

}  // namespace ordo::svg
