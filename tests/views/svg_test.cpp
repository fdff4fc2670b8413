// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <limits>

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

}  // namespace ordo::test
