// SPDX-License-Identifier: Apache-2.0
#include "ordo/views/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ordo/core/text.h"
#include "ordo/views/svg_parts.h"

namespace ordo {

namespace {

constexpr double kPageMargin = 20;

std::string axes_text(const std::string& x_label, const std::string& y_label) {
  return y_label.empty() ? fmt::format("Across: {}.", x_label) : fmt::format("Across: {}; up: {}.", x_label, y_label);
}

std::string described(const PlotSeries& series) {
  std::string first, last;
  for (size_t i = 0; i < std::min(series.x.size(), series.y.size()); ++i) {
    if (!std::isfinite(series.y[i])) continue;
    last = fmt::format("{:.4g} at {:.4g}", series.y[i], series.x[i]);
    if (first.empty()) first = last;
  }
  if (first.empty()) return series.name + ": nothing to show";
  return first == last ? fmt::format("{}: {}", series.name, first)
                       : fmt::format("{}: from {} to {}", series.name, first, last);
}

std::string described(const DotRow& row) {
  if (!row.note.empty()) return row.name + ": " + row.note;
  std::vector<std::string> values;
  for (const auto& dot : row.dots) values.push_back(fmt::format("{:.4g}", dot.value));
  return row.name + ": " + join(values, ", ");
}

std::string described_panel(const LinePlot& plot) {
  std::string text = axes_text(plot.x_label, plot.y_label);
  for (const auto& series : plot.series) text += " " + described(series) + ".";
  return text;
}
std::string described_panel(const HeatMap& map) {
  const auto [low, high] = value_range(map);
  return fmt::format("{} {} by {} values from {:.4g} to {:.4g}.", axes_text(map.x_label, map.y_label), map.rows,
                     map.columns, low, high);
}
std::string described_panel(const DotPlot& plot) {
  std::string text = axes_text(plot.x_label, "");
  for (const auto& row : plot.rows) text += " " + described(row) + ".";
  return text;
}

}  // namespace

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
    else if (c == '\'')
      out += "&#39;";
    else if (const auto code = static_cast<unsigned char>(c); (code >= 0x20 && code != 0x7F) || c == '\n' || c == '\t')
      out += c;
  }
  return out;
}

std::string described(const Panel& panel) {
  return std::visit([](const auto& p) { return described_panel(p); }, panel);
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

std::string svg_chart(const Panel& panel, std::string_view id) {
  const svg::Layout layout = svg::chart_layout(panel);
  double height = 0;
  const std::string body = std::visit([&](const auto& p) { return svg::drawn(p, layout, height); }, panel);
  const auto& title = std::visit([](const auto& p) -> const std::string& { return p.title; }, panel);
  return fmt::format(
      "<svg class=\"chart\" role=\"img\" aria-labelledby=\"{0}-title {0}-text\" viewBox=\"0 0 {1:.0f} {2:.0f}\" "
      "font-size=\"12\">\n<title id=\"{0}-title\">{3}</title>\n<desc id=\"{0}-text\">{4}</desc>\n{5}</svg>\n",
      id, layout.width, height + 6, escaped(title), escaped(described(panel)), body);
}

std::string svg_page(const std::string& title, const std::vector<std::string>& lines,
                     const std::vector<Panel>& panels) {
  const svg::Layout layout = svg::page_layout();
  std::string body = svg::text_at(kPageMargin, 34, title, "class=\"title\"");
  double y = 56;
  for (const auto& line : lines) {
    body += svg::text_at(kPageMargin, y, line);
    y += 18;
  }
  const double width = 2 * kPageMargin + layout.width * static_cast<double>(std::clamp<size_t>(panels.size(), 1, 2));
  for (size_t i = 0; i < panels.size(); i += 2) {
    double tallest = 0;
    for (size_t column = 0; column < 2 && i + column < panels.size(); ++column) {
      double height = 0;
      const std::string panel =
          std::visit([&](const auto& p) { return svg::drawn(p, layout, height); }, panels[i + column]);
      body += fmt::format("<g transform=\"translate({:.0f} {:.0f})\">\n{}</g>\n",
                          kPageMargin + layout.width * static_cast<double>(column), y, panel);
      tallest = std::max(tallest, height);
    }
    y += tallest + 16;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\">\n<style>.title{{font-size:20px;font-weight:bold}}"
      ".panel{{font-size:14px;font-weight:bold}}.tick{{stroke:#444}}.grid{{stroke:#ddd}}.mark{{stroke:#444;"
      "stroke-dasharray:3 3}}.frame{{fill:none;stroke:#444}}.line{{fill:none;stroke-width:1.8;stroke-linejoin:round}}"
      ".bar{{fill:none;stroke-width:1.4}}.hollow{{fill:none;stroke:#444;stroke-width:1.6}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{2}</svg>\n",
      width, y + 4, body);
}

}  // namespace ordo
