// SPDX-License-Identifier: Apache-2.0
// Pictures of numbers as self-contained SVG: line plots and heat maps, in panels on a page. Colours can be told apart
// by colour-blind readers (Okabe & Ito 2008 for lines, blue to orange and cividis for maps).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ordo {

struct Series {
  std::string name;
  std::vector<double> x, y;  // of one size; values that are not finite leave a gap
  int dash = 0;              // how its line is broken, 0 to 3: that lines over each other are all seen
};
struct LinePlot {
  std::string title, x_label, y_label;
  std::vector<Series> series;
  bool log_x = false, log_y = false;  // then only values above 0 are drawn
  std::optional<double> mark_x = {};  // an upright line, named above the plot
  std::string mark = {};
};
// values[row * columns + column]; row 0 is on top. The axes' numbers run over [x0, x1] and [y0, y1].
struct HeatMap {
  std::string title, x_label, y_label, value_label;
  int64_t rows = 0, columns = 0;
  std::vector<double> values;
  double x0 = 0.0, x1 = 1.0, y0 = 0.0, y1 = 1.0;
  // What colours run over, so that several maps share them; nothing: this map's own values.
  std::optional<std::pair<double, double>> shades = {};
};
using Panel = std::variant<LinePlot, HeatMap>;

// Panels two in a row under a title and lines of text. Every text is escaped.
std::string svg_page(const std::string& title, const std::vector<std::string>& lines, const std::vector<Panel>& panels);

// The least and the largest of a map's values; 0 and 0 when none is finite.
std::pair<double, double> value_range(const HeatMap& map);

// Round numbers inside [low, high], about `count` of them: 0, 20, 40, …
std::vector<double> axis_ticks(double low, double high, int count);
// Powers of ten inside [low, high], or of two when there would be fewer than three. low > 0.
std::vector<double> log_ticks(double low, double high);

}  // namespace ordo
