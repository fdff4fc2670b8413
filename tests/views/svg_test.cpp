// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <limits>
#include <set>

#include "ordo/views/svg.h"

namespace ordo::test {
namespace {
size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}
}  // namespace

TEST_CASE("svg: ticks of an axis are round numbers inside it", "[unit]") {
  CHECK(axis_ticks(0.0, 127.0, 6) == std::vector<double>{0, 20, 40, 60, 80, 100, 120});
  CHECK(axis_ticks(-3.2, 0.4, 6) == std::vector<double>{-3.0, -2.5, -2.0, -1.5, -1.0, -0.5, 0.0});
  CHECK(axis_ticks(10.0, 11.0, 4).front() >= 10.0);
}

TEST_CASE("svg: ticks of a logarithmic axis are powers of ten, or of two over a short one", "[unit]") {
  const auto tens = log_ticks(6.28, 40000.0);
  REQUIRE(tens.size() == 4);
  CHECK(tens[0] == Approx(10.0));
  CHECK(tens[3] == Approx(10000.0));
  const auto twos = log_ticks(3.0, 40.0);
  REQUIRE(twos.size() == 4);
  CHECK(twos[0] == Approx(4.0));
  CHECK(twos[3] == Approx(32.0));
}

TEST_CASE("svg: a line ends at its first and last values, and a value that is not finite leaves a gap", "[unit]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string page = svg_page(
      "p", {},
      {LinePlot{.title = "t", .x_label = "x", .y_label = "y", .series = {{"s", {0, 1, 2, 3, 4}, {1, 1, nan, 2, 2}}}}});
  const size_t at = page.find("<path class=\"line ");
  REQUIRE(at != std::string::npos);
  const std::string path = page.substr(at, page.find("/>", at) - at);
  CHECK(count_of(path, "M") == 2);
  CHECK(path.find("M74.0") != std::string::npos);   // the plot's left side
  CHECK(path.find("L474.0") != std::string::npos);  // and its right one
  CHECK(page.find("nan") == std::string::npos);
}

TEST_CASE("svg: a legend names every line of a plot with several", "[unit]") {
  LinePlot plot{.title = "t", .x_label = "x", .y_label = "y"};
  for (int i = 0; i < 8; ++i) plot.series.push_back({"head " + std::to_string(i), {0, 1}, {0.0, double(i)}});
  const std::string page = svg_page("p", {}, {plot});
  for (int i = 0; i < 8; ++i) CHECK(page.find(">head " + std::to_string(i) + "<") != std::string::npos);
}

TEST_CASE("svg: equal neighbours of a map are one rectangle, and hidden cells none", "[unit]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  HeatMap map{.title = "t", .x_label = "x", .y_label = "y", .rows = 2, .columns = 4};
  map.values = {0, 0, 1, 1, nan, nan, nan, 0};
  const std::string page = svg_page("p", {}, {map});
  size_t cells = 0;
  for (size_t at = page.find("<path shape"); at != std::string::npos; at = page.find("<path shape", at + 1))
    cells += count_of(page.substr(at, page.find("/>", at) - at), "M");
  CHECK(cells == 3);
}

TEST_CASE("svg: maps may share what their colours run over, and a zero has no sign", "[unit]") {
  HeatMap map{.title = "t", .x_label = "x", .y_label = "y", .rows = 1, .columns = 2, .values = {-2.0, -0.0}};
  CHECK(value_range(map) == std::pair(-2.0, 0.0));
  CHECK(svg_page("p", {}, {map}).find(">-0") == std::string::npos);
  map.shades = {{-8.0, 0.0}};
  const std::string page = svg_page("p", {}, {map});
  CHECK(page.find(">-8<") != std::string::npos);
  CHECK(page.find(">-2<") == std::string::npos);
}

TEST_CASE("svg: text is escaped", "[unit]") {
  const std::string page = svg_page("a < b & \"c\"", {"<script>"}, {});
  CHECK(page.find("a &lt; b &amp; &quot;c&quot;") != std::string::npos);
  CHECK(page.find("<script>") == std::string::npos);
}

TEST_CASE("svg: constant and empty plots are drawn without numbers that are not finite", "[unit]") {
  const LinePlot flat{.title = "t", .x_label = "x", .y_label = "y", .series = {{"s", {0, 1}, {3, 3}}}};
  const LinePlot empty{.title = "t", .x_label = "x", .y_label = "y"};
  HeatMap zeros{.title = "t", .x_label = "x", .y_label = "y", .rows = 1, .columns = 2, .values = {0, 0}};
  const std::string page = svg_page("p", {}, {flat, empty, zeros});
  CHECK(page.find("nan") == std::string::npos);
  CHECK(page.find("inf") == std::string::npos);
}

TEST_CASE("svg: an interval is a band around a line, parted where there is none, and a bar at a point", "[unit]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  PlotSeries series{.name = "s", .x = {0, 1, 2, 3, 4}, .y = {1, 1, 1, 1, 1}};
  series.low = {0, 0, nan, 0, 0};
  series.high = {2, 2, nan, 2, 2};
  LinePlot plot{.title = "t", .x_label = "x", .y_label = "y", .series = {series}};
  const std::string bands = svg_page("p", {}, {plot});
  const size_t at = bands.find("<path class=\"band");
  REQUIRE(at != std::string::npos);
  const std::string band = bands.substr(at, bands.find("/>", at) - at);
  CHECK(count_of(band, "M") == 2);
  CHECK(count_of(band, "z") == 2);
  CHECK(count_of(band, "L") == 6);
  plot.series[0].points = true;
  const std::string bars = svg_page("p", {}, {plot});
  CHECK(bars.find("class=\"band") == std::string::npos);
  CHECK(count_of(bars, "class=\"dot") == 5);
  const size_t bar = bars.find("class=\"bar");
  CHECK(count_of(bars.substr(bar, bars.find("/>", bar) - bar), "V") == 4);
}

TEST_CASE("svg: every value of a row is a mark with its name, and a reference has one of its own", "[unit]") {
  DotPlot plot{.title = "t", .x_label = "x"};
  plot.rows.push_back({.name = "ours", .note = "2 ± 1", .dots = {{1, "seed 1"}, {1, "seed 2"}, {3, "seed 3"}}});
  plot.rows.push_back({.name = "theirs", .note = "", .dots = {{2, "paper"}}, .reference = true});
  plot.mark_x = -5.0;
  plot.mark = "bound";
  const std::string chart = svg_chart(plot, "one");
  CHECK(count_of(chart, "class=\"dot c0\"") == 3);
  CHECK(count_of(chart, "class=\"hollow\"") == 1);
  CHECK(chart.find("<title>seed 2</title>") != std::string::npos);
  CHECK(chart.find(">bound<") != std::string::npos);
  std::set<std::string> places;
  for (size_t at = chart.find("class=\"dot"); at != std::string::npos; at = chart.find("class=\"dot", at + 1))
    places.insert(chart.substr(chart.find("d=\"", at), 16));
  CHECK(places.size() == 3);  // also of equal values
}

TEST_CASE("svg: a chart inside a page says in words what it shows", "[unit]") {
  const LinePlot line{.title = "a < b", .x_label = "step", .y_label = "loss", .series = {{"s", {1, 2}, {0.5, 0.25}}}};
  const std::string chart = svg_chart(line, "c7");
  CHECK(chart.find("role=\"img\" aria-labelledby=\"c7-title c7-text\"") != std::string::npos);
  CHECK(chart.find("<title id=\"c7-title\">a &lt; b</title>") != std::string::npos);
  CHECK(chart.find("<desc id=\"c7-text\">Across: step; up: loss. s: from 0.5 at 1 to 0.25 at 2.</desc>") !=
        std::string::npos);
  CHECK(chart.find("xmlns") == std::string::npos);
}

TEST_CASE("svg: a title that is wider than a chart takes several lines, a name in a legend is cut", "[unit]") {
  const std::string title(3, 'a'), word = " abcdefgh";
  LinePlot plot{.title = title, .x_label = "x", .y_label = "y"};
  for (int i = 0; i < 12; ++i) plot.title += word;
  plot.series = {{std::string(200, 'n'), {0, 1}, {0, 1}}, {"b", {0, 1}, {1, 0}}};
  const std::string chart = svg_chart(plot, "c");
  CHECK(count_of(chart, "class=\"panel\"") >= 2);
  CHECK(chart.find(std::string(100, 'n') + "<") == std::string::npos);
  CHECK(chart.find("n…<") != std::string::npos);
}

}  // namespace ordo::test
