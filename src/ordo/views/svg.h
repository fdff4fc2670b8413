// SPDX-License-Identifier: Apache-2.0
// Pictures of numbers as self-contained SVG: line plots with intervals, dots with intervals, heat maps; in panels on a
// page, or one by one inside an HTML page. Colours can be told apart by colour-blind readers (Okabe & Ito 2008 for
// lines, blue to orange and cividis for maps), and every line has a dash, every point a shape of its own beside.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ordo {

struct PlotSeries {
  std::string name;
  std::vector<double> x, y;  // of one size; values that are not finite leave a gap
  int dash = 0;              // how its line is broken, 0 to 3: that lines over each other are all seen
  // An interval about each y, of its size; empty: none. Drawn as a band around a line, as bars where there are points.
  std::vector<double> low = {}, high = {};
  bool line = true, points = false;
  std::optional<int> colour = {};  // one series, one colour in all plots of a page; nothing: its place in this plot
};
struct LinePlot {
  std::string title, x_label, y_label;
  std::vector<PlotSeries> series;
  bool log_x = false, log_y = false;  // then only values above 0 are drawn
  std::optional<double> mark_x = {};  // an upright line, named above the plot
  std::string mark = {};
  std::vector<double> x_ticks = {};  // empty: round numbers
};
// values[row * columns + column]; row 0 is on top. The axes' numbers run over [0, x_end] and [0, y_end].
struct HeatMap {
  std::string title, x_label, y_label, value_label;
  int64_t rows = 0, columns = 0;
  std::vector<double> values;
  double x_end = 1.0, y_end = 1.0;
  // What colours run over, so that several maps share them; nothing: this map's own values.
  std::optional<std::pair<double, double>> shades = {};
};
// A value of a row, with what is told when a pointer rests on it.
struct Dot {
  double value;
  std::string name;
};
struct DotRow {
  std::string name, note;  // note: at the right, over the row: "0.998 ± 0.004"
  std::vector<Dot> dots;
  std::optional<double> centre = {};  // the mean: an upright stroke
  std::optional<std::pair<double, double>> interval = {};
  int colour = 0;          // a number as of a series; also the shape of its dots
  bool reference = false;  // a figure from elsewhere: a hollow diamond
};
// Every value of every row on one scale.
struct DotPlot {
  std::string title, x_label;
  std::vector<DotRow> rows;
  std::optional<double> mark_x = {};  // always within the picture
  std::string mark = {};
};
using Panel = std::variant<LinePlot, HeatMap, DotPlot>;

// Panels two in a row under a title and lines of text. Every text is escaped.
std::string svg_page(const std::string& title, const std::vector<std::string>& lines, const std::vector<Panel>& panels);

// One panel as an element of an HTML page: as wide as its surroundings allow, with title and description for those who
// do not see it. `id` is unique on the page. The page's style decides its colours through the classes text, panel,
// frame, tick, grid, mark, line, band, bar, dot, hollow and c0 … c7, whose colour the page keeps in --c; without one
// the colours are those for white paper.
std::string svg_chart(const Panel& panel, std::string_view id);
// What a panel shows, in words: axes, and for each series or row its first, last or mean value.
std::string described(const Panel& panel);

// For text and attributes of HTML and SVG; characters that neither may hold are left out.
std::string escaped(std::string_view text);

// The least and the largest of a map's values; 0 and 0 when none is finite.
std::pair<double, double> value_range(const HeatMap& map);

// Round numbers inside [low, high], about `count` of them: 0, 20, 40, …
std::vector<double> axis_ticks(double low, double high, int count);
// Powers of ten inside [low, high], or of two when there would be fewer than three. low > 0.
std::vector<double> log_ticks(double low, double high);

}  // namespace ordo
