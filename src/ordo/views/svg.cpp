// SPDX-License-Identifier: Apache-2.0
#include "ordo/views/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>

#include "ordo/core/text.h"

namespace ordo {

namespace {

// One panel: its frame, with room for a title above, numbers to the left, a label and a legend below.
constexpr double kPanelWidth = 520, kPlotLeft = 74, kPlotTop = 46, kPlotWidth = 400, kPlotHeight = 270;
constexpr double kBelowPlot = 50, kLegendRow = 20, kLetter = 6.6;  // of 12 px text, on average
constexpr double kPageMargin = 20;
constexpr std::array<std::string_view, 8> kLineColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                       "#000000", "#E69F00", "#56B4E9", "#7F7F7F"};

constexpr std::array<std::string_view, 4> kDashes{"", " stroke-dasharray=\"7 4\"", " stroke-dasharray=\"2 3\"",
                                                  " stroke-dasharray=\"11 3 2 3\""};

struct Colour {
  double red, green, blue;
};
constexpr std::array<Colour, 5> kCividis{
    {{0, 34, 78}, {53, 69, 108}, {124, 123, 120}, {188, 175, 111}, {254, 232, 56}}};
constexpr std::array<Colour, 5> kBlueOrange{
    {{5, 72, 135}, {116, 173, 214}, {247, 247, 247}, {240, 163, 90}, {166, 72, 4}}};

std::string colour_at(const std::array<Colour, 5>& map, double share) {
  const double place = std::clamp(share, 0.0, 1.0) * 4.0;
  const auto low = std::min<size_t>(static_cast<size_t>(place), 3);
  const double t = place - static_cast<double>(low);
  const auto mixed = [t](double a, double b) { return static_cast<int>(std::lround(a + t * (b - a))); };
  const Colour &a = map[low], &b = map[low + 1];
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(a.red, b.red), mixed(a.green, b.green), mixed(a.blue, b.blue));
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string text_at(double x, double y, std::string_view text, std::string_view attributes = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, escaped(text));
}

// 20, 0.05, 10k, 1e-05
std::string tick_text(double value) {
  const double size = std::abs(value);
  if (size >= 1e6) return fmt::format("{:.0e}", value);
  if (size >= 1e4) return fmt::format("{:g}k", value / 1e3);
  return fmt::format("{:g}", std::abs(value) < 1e-12 ? 0.0 : value);
}

// -0.213, 1.5e+03; a zero has no sign.
std::string shade_text(double value) { return fmt::format("{:.3g}", value == 0.0 ? 0.0 : value); }

// Numbers to pixels along one side.
struct Scale {
  double low, high, from, to;
  bool logarithmic = false;
  double operator()(double value) const {
    const double share = logarithmic ? (std::log(value) - std::log(low)) / (std::log(high) - std::log(low))
                                     : (value - low) / (high - low);
    return from + share * (to - from);
  }
  bool shows(double value) const { return std::isfinite(value) && (!logarithmic || value > 0.0); }
  std::vector<double> ticks(int count) const {
    return logarithmic ? log_ticks(low, high) : axis_ticks(low, high, count);
  }
};

Scale scale_of(const std::vector<Series>& series, std::vector<double> Series::*side, bool logarithmic, double from,
               double to) {
  Scale scale{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), from, to, logarithmic};
  for (const auto& one : series)
    for (const double value : one.*side)
      if (scale.shows(value)) {
        scale.low = std::min(scale.low, value);
        scale.high = std::max(scale.high, value);
      }
  if (!(scale.low <= scale.high)) scale.low = scale.high = 1.0;
  const double flat = 1e-9 * std::max(std::abs(scale.low), std::abs(scale.high));
  if (scale.high - scale.low <= flat) {  // a constant gets some room
    const double room = logarithmic ? 0.5 * scale.low : std::max(0.5 * std::abs(scale.low), 0.5);
    scale.low -= room;
    scale.high += room;
  } else if (!logarithmic && side == &Series::y) {
    const double room = 0.04 * (scale.high - scale.low);
    scale.low -= room;
    scale.high += room;
  }
  return scale;
}

std::string frame(const Scale& x, const Scale& y, const std::string& title, const std::string& x_label,
                  const std::string& y_label) {
  std::string out = text_at(kPlotLeft, 22, title, "class=\"panel\"");
  const double right = kPlotLeft + kPlotWidth, bottom = kPlotTop + kPlotHeight;
  for (const double tick : x.ticks(6)) {
    out += fmt::format("<line class=\"tick\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>\n", x(tick), bottom,
                       bottom + 5);
    out += text_at(x(tick), bottom + 19, tick_text(tick), "text-anchor=\"middle\"");
  }
  for (const double tick : y.ticks(6)) {
    out += fmt::format("<line class=\"tick\" x1=\"{1}\" x2=\"{2}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>\n", y(tick),
                       kPlotLeft - 5, kPlotLeft);
    out += text_at(kPlotLeft - 8, y(tick) + 4, tick_text(tick), "text-anchor=\"end\"");
  }
  out += text_at((kPlotLeft + right) / 2, bottom + 38, x_label, "text-anchor=\"middle\"");
  const double middle = (kPlotTop + bottom) / 2;
  out +=
      text_at(16, middle, y_label, fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 16 {:.1f})\"", middle));
  return out + fmt::format("<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", kPlotLeft,
                           kPlotTop, kPlotWidth, kPlotHeight);
}

std::string_view dash_of(const Series& series) { return kDashes[static_cast<size_t>(series.dash) % kDashes.size()]; }

std::string line_of(const Series& series, const Scale& x, const Scale& y, std::string_view colour) {
  std::string path;
  bool pen_down = false;
  for (size_t i = 0; i < std::min(series.x.size(), series.y.size()); ++i) {
    if (!x.shows(series.x[i]) || !y.shows(series.y[i])) {
      pen_down = false;
      continue;
    }
    path += fmt::format("{}{:.1f} {:.1f}", pen_down ? "L" : "M", x(series.x[i]), y(series.y[i]));
    pen_down = true;
  }
  return fmt::format("<path class=\"line\" stroke=\"{}\"{} d=\"{}\"/>\n", colour, dash_of(series), path);
}

// Rows of names below the plot, each with a piece of its line; how many pixels high is told in `height`.
std::string legend_of(const std::vector<Series>& series, double& height) {
  std::string out;
  double x = kPlotLeft, y = kPlotTop + kPlotHeight + kBelowPlot + 10;
  height = 0;
  if (series.size() < 2) return out;
  for (size_t i = 0; i < series.size(); ++i) {
    const double width = 34 + kLetter * static_cast<double>(display_width(series[i].name)) + 14;
    if (x + width > kPanelWidth && x > kPlotLeft) {
      x = kPlotLeft;
      y += kLegendRow;
      height += kLegendRow;
    }
    out += fmt::format("<path class=\"line\" stroke=\"{}\"{} d=\"M{:.1f} {:.1f}h26\"/>\n",
                       kLineColours[i % kLineColours.size()], dash_of(series[i]), x, y - 4);
    out += text_at(x + 32, y, series[i].name);
    x += width;
  }
  height += kLegendRow;
  return out;
}

std::string drawn(const LinePlot& plot, double& height) {
  const Scale x = scale_of(plot.series, &Series::x, plot.log_x, kPlotLeft, kPlotLeft + kPlotWidth);
  const Scale y = scale_of(plot.series, &Series::y, plot.log_y, kPlotTop + kPlotHeight, kPlotTop);
  std::string out = frame(x, y, plot.title, plot.x_label, plot.y_label);
  if (plot.mark_x && *plot.mark_x > x.low && *plot.mark_x < x.high) {
    out += fmt::format("<line class=\"mark\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>\n", x(*plot.mark_x),
                       kPlotTop, kPlotTop + kPlotHeight);
    out += text_at(x(*plot.mark_x), kPlotTop - 4, plot.mark, "text-anchor=\"middle\" font-size=\"11\"");
  }
  for (size_t i = 0; i < plot.series.size(); ++i)
    out += line_of(plot.series[i], x, y, kLineColours[i % kLineColours.size()]);
  double legend = 0;
  out += legend_of(plot.series, legend);
  height = kPlotTop + kPlotHeight + kBelowPlot + legend;
  return out;
}

// The colours of a map: around zero when values lie on both sides of it, else from the least to the largest.
struct Shades {
  double low = 0.0, high = 0.0;
  bool signed_values = false, constant = false;
  explicit Shades(const HeatMap& map) {
    std::tie(low, high) = map.shades.value_or(value_range(map));
    signed_values = low < 0.0 && high > 0.0 && std::min(-low, high) > 0.02 * std::max(-low, high);
    if (signed_values) {
      high = std::max(high, -low);
      low = -high;
    }
    constant = high - low <= 1e-9 * std::max(std::abs(low), std::abs(high));
    if (constant) high = low + 1.0;
  }
  static constexpr int kLevels = 48;
  int level(double value) const {
    return std::clamp(static_cast<int>(std::floor((value - low) / (high - low) * kLevels)), 0, kLevels - 1);
  }
  std::string colour(int level) const {
    return colour_at(signed_values ? kBlueOrange : kCividis, (level + 0.5) / kLevels);
  }
};

// One path a shade, in units of cells: runs of cells of the same shade are one rectangle.
std::string cells_of(const HeatMap& map, const Shades& shades) {
  std::map<int, std::string> paths;
  const auto value = [&](int64_t row, int64_t column) {
    return map.values[static_cast<size_t>(row * map.columns + column)];
  };
  for (int64_t row = 0; row < map.rows; ++row)
    for (int64_t column = 0; column < map.columns;) {
      const double v = value(row, column);
      const int64_t begin = column++;
      if (!std::isfinite(v)) continue;  // hidden: the page shows through
      const int level = shades.level(v);
      while (column < map.columns && std::isfinite(value(row, column)) && shades.level(value(row, column)) == level)
        ++column;
      paths[level] += fmt::format("M{} {}h{}v1h-{}z", begin, row, column - begin, column - begin);
    }
  std::string out =
      fmt::format("<g transform=\"translate({} {}) scale({:.6f} {:.6f})\">\n", kPlotLeft, kPlotTop,
                  kPlotWidth / static_cast<double>(map.columns), kPlotHeight / static_cast<double>(map.rows));
  for (const auto& [level, path] : paths)
    out += fmt::format("<path shape-rendering=\"crispEdges\" fill=\"{}\" d=\"{}\"/>\n", shades.colour(level), path);
  return out + "</g>\n";
}

std::string drawn(const HeatMap& map, double& height) {
  const Shades shades(map);
  const double right = kPlotLeft + kPlotWidth, bottom = kPlotTop + kPlotHeight;
  std::string out = cells_of(map, shades);
  out += frame({map.x0, map.x1, kPlotLeft, right}, {map.y0, map.y1, kPlotTop, bottom}, map.title, map.x_label,
               map.y_label);
  height = bottom + kBelowPlot + kLegendRow;
  const double y = bottom + kBelowPlot + 2, bar = 200, x = kPlotLeft + 70;
  if (shades.constant) return out + text_at(x, y + 9, "everywhere " + shade_text(shades.low));
  for (int i = 0; i < Shades::kLevels; ++i)
    out += fmt::format(
        "<rect shape-rendering=\"crispEdges\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" "
        "height=\"10\" fill=\"{}\"/>\n",
        x + bar * i / Shades::kLevels, y, bar / Shades::kLevels + 0.3, shades.colour(i));
  out += text_at(x - 6, y + 9, shade_text(shades.low), "text-anchor=\"end\"");
  out += text_at(x + bar + 6, y + 9, fmt::format("{}  {}", shade_text(shades.high), map.value_label));
  return out;
}

}  // namespace

std::pair<double, double> value_range(const HeatMap& map) {
  std::pair<double, double> range{0.0, 0.0};
  bool first = true;
  for (const double v : map.values) {
    if (!std::isfinite(v)) continue;
    range = first ? std::pair(v, v) : std::pair(std::min(range.first, v), std::max(range.second, v));
    first = false;
  }
  return range;
}

std::vector<double> axis_ticks(double low, double high, int count) {
  const double raw = (high - low) / std::max(count, 1), power = std::pow(10.0, std::floor(std::log10(raw)));
  const double share = raw / power, step = power * (share < 1.5 ? 1.0 : share < 3.5 ? 2.0 : share < 7.5 ? 5.0 : 10.0);
  std::vector<double> ticks;
  for (double tick = std::ceil(low / step) * step; tick <= high + 1e-9 * step; tick += step) ticks.push_back(tick);
  return ticks;
}

std::vector<double> log_ticks(double low, double high) {
  const auto powers = [&](double base) {
    std::vector<double> ticks;
    for (double e = std::ceil(std::log(low) / std::log(base) - 1e-9); std::pow(base, e) <= high * (1 + 1e-9); ++e)
      ticks.push_back(std::pow(base, e));
    return ticks;
  };
  const auto tens = powers(10.0);
  if (tens.size() >= 3) {
    std::vector<double> few;  // at most eight
    const size_t stride = (tens.size() + 7) / 8;
    for (size_t i = 0; i < tens.size(); i += stride) few.push_back(tens[i]);
    return few;
  }
  return powers(2.0);
}

std::string svg_page(const std::string& title, const std::vector<std::string>& lines,
                     const std::vector<Panel>& panels) {
  std::string body = text_at(kPageMargin, 34, title, "class=\"title\"");
  double y = 56;
  for (const auto& line : lines) {
    body += text_at(kPageMargin, y, line);
    y += 18;
  }
  const double width = 2 * kPageMargin + kPanelWidth * static_cast<double>(std::clamp<size_t>(panels.size(), 1, 2));
  for (size_t i = 0; i < panels.size(); i += 2) {
    double tallest = 0;
    for (size_t column = 0; column < 2 && i + column < panels.size(); ++column) {
      double height = 0;
      const std::string panel = std::visit([&](const auto& p) { return drawn(p, height); }, panels[i + column]);
      body += fmt::format("<g transform=\"translate({:.0f} {:.0f})\">\n{}</g>\n",
                          kPageMargin + kPanelWidth * static_cast<double>(column), y, panel);
      tallest = std::max(tallest, height);
    }
    y += tallest + 16;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\">\n<style>.title{{font-size:20px;font-weight:bold}}"
      ".panel{{font-size:14px;font-weight:bold}}.tick{{stroke:#444}}.mark{{stroke:#444;stroke-dasharray:3 "
      "3}}.frame{{fill:none;stroke:#444}}"
      ".line{{fill:none;stroke-width:1.8;stroke-linejoin:round}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{2}</svg>\n",
      width, y + 4, body);
}

}  // namespace ordo
