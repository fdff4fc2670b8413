// SPDX-License-Identifier: Apache-2.0
#include "ordo/views/svg_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ordo/core/text.h"
#include "ordo/core/utf8.h"

namespace ordo::svg {

namespace {

constexpr std::array<std::string_view, 8> kColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                   "#000000", "#E69F00", "#56B4E9", "#7F7F7F"};
constexpr std::array<std::string_view, 4> kDashes{"", " stroke-dasharray=\"7 4\"", " stroke-dasharray=\"2 3\"",
                                                  " stroke-dasharray=\"11 3 2 3\""};
constexpr double kTitleLine = 18;

size_t place(int number) { return static_cast<size_t>(number) % kColours.size(); }

std::string upright(std::string_view kind, double x, double y1, double y2) {
  return fmt::format("<line class=\"{}\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n", kind, x, x, y1,
                     y2);
}

// Numbers under the frame; one that would touch the former is left out.
std::string x_axis(const Layout& layout, const Scale& x, const std::vector<double>& ticks) {
  std::string out;
  double taken = -std::numeric_limits<double>::infinity();
  for (const double tick : ticks) {
    const std::string text = tick_text(tick);
    const double half = 0.5 * kLetter * static_cast<double>(text.size()), at = x(tick);
    out += upright("tick", at, layout.bottom(), layout.bottom() + 5);
    if (at - half < taken) continue;
    out += text_at(at, layout.bottom() + 19, text, "text-anchor=\"middle\"");
    taken = at + half + 6;
  }
  return out;
}

}  // namespace

Layout page_layout() { return {}; }

Layout chart_layout(const Panel& panel) {
  Layout layout{.width = 420, .left = 62, .top = 30, .plot_width = 340, .plot_height = 230, .wraps_title = true};
  if (std::holds_alternative<DotPlot>(panel)) {
    layout.left = 10;
    layout.plot_width = 400;
  }
  const auto& title = std::visit([](const auto& p) -> const std::string& { return p.title; }, panel);
  const auto lines = static_cast<double>(title_lines(title, layout).size());
  const bool marked = std::visit(
      [](const auto& p) {
        if constexpr (requires { p.mark_x; })
          return p.mark_x.has_value() && !p.mark.empty();
        else
          return false;
      },
      panel);
  layout.top = 12 + kTitleLine * lines + (marked ? 16 : 0);
  return layout;
}

double Scale::operator()(double value) const {
  const double share =
      logarithmic ? (std::log(value) - std::log(low)) / (std::log(high) - std::log(low)) : (value - low) / (high - low);
  return from + share * (to - from);
}
bool Scale::shows(double value) const { return std::isfinite(value) && (!logarithmic || value > 0.0); }
std::vector<double> Scale::ticks(int count) const {
  return logarithmic ? log_ticks(low, high) : axis_ticks(low, high, count);
}

Scale scale_over(const std::vector<double>& values, bool logarithmic, double from, double to, bool padded) {
  Scale scale{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), from, to, logarithmic};
  for (const double value : values)
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
  } else if (padded && logarithmic) {
    const double room = std::pow(scale.high / scale.low, 0.05);
    scale.low /= room;
    scale.high *= room;
  } else if (padded) {
    const double room = 0.04 * (scale.high - scale.low);
    scale.low -= room;
    scale.high += room;
  }
  return scale;
}

std::string text_at(double x, double y, std::string_view text, std::string_view attributes) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, escaped(text));
}

std::string tick_text(double value) {
  const double size = std::abs(value);
  if (size >= 1e6) return fmt::format("{:.0e}", value);
  if (size >= 1e4) return fmt::format("{:g}k", value / 1e3);
  return fmt::format("{:g}", size < 1e-12 ? 0.0 : value);
}

std::string shortened(const std::string& text, double pixels) {
  const auto most = static_cast<size_t>(std::max(pixels / kLetter, 2.0));
  if (display_width(text) <= most) return text;
  return std::string(fitting(text, most - 1)) + "…";
}

std::vector<std::string> title_lines(const std::string& title, const Layout& layout) {
  if (!layout.wraps_title) return {title};
  const auto most = static_cast<size_t>((layout.width - 12) / kTitleLetter);
  std::vector<std::string> lines{""};
  for (const auto& word : split(title, ' ')) {
    if (!lines.back().empty() && display_width(lines.back()) + 1 + display_width(word) > most) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

std::string frame(const Layout& layout, const Scale& x, const Scale* y, const Axes& axes) {
  std::string out;
  double line = layout.wraps_title ? 18 : 22;
  for (const auto& text : title_lines(axes.title, layout)) {
    out += text_at(layout.wraps_title ? 8 : layout.left, line, text, "class=\"panel\"");
    line += kTitleLine;
  }
  out += x_axis(layout, x, axes.x_ticks.empty() ? x.ticks(6) : axes.x_ticks);
  if (y != nullptr)
    for (const double tick : y->ticks(6)) {
      out += fmt::format("<line class=\"tick\" x1=\"{1}\" x2=\"{2}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>\n", (*y)(tick),
                         layout.left - 5, layout.left);
      out += text_at(layout.left - 8, (*y)(tick) + 4, tick_text(tick), "text-anchor=\"end\"");
    }
  out += text_at((layout.left + layout.right()) / 2, layout.bottom() + 38, axes.x_label, "text-anchor=\"middle\"");
  const double middle = (layout.top + layout.bottom()) / 2;
  if (!axes.y_label.empty())
    out += text_at(16, middle, axes.y_label,
                   fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 16 {:.1f})\"", middle));
  return out + fmt::format("<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", layout.left,
                           layout.top, layout.plot_width, layout.plot_height);
}

std::string mark_line(const Layout& layout, const Scale& x, double at, const std::string& name) {
  if (!(at > x.low && at < x.high)) return "";
  const double half = 0.5 * 6.1 * static_cast<double>(display_width(name));  // of 11 px text
  const double where =
      std::clamp(x(at), std::min(half + 4, layout.width / 2), std::max(layout.width - half - 4, layout.width / 2));
  return upright("mark", x(at), layout.top, layout.bottom()) +
         text_at(where, layout.top - 4, name, "text-anchor=\"middle\" font-size=\"11\"");
}

std::string stroke(std::string_view kind, int number) {
  return fmt::format("class=\"{} c{}\" stroke=\"{}\"", kind, place(number), kColours[place(number)]);
}
std::string filled(std::string_view kind, int number) {
  return fmt::format("class=\"{} c{}\" fill=\"{}\"", kind, place(number), kColours[place(number)]);
}
std::string_view dash(int number) { return kDashes[static_cast<size_t>(number) % kDashes.size()]; }

namespace {

std::string with_name(const std::string& attributes, std::string_view name) {
  if (name.empty()) return fmt::format("<path {}/>\n", attributes);
  return fmt::format("<path {}><title>{}</title></path>\n", attributes, escaped(name));
}

}  // namespace

std::string point(double x, double y, int number, std::string_view name) {
  // Circle, square, triangle up, diamond, triangle down, bar: of about one area, around (0, 0).
  static constexpr std::array<std::string_view, 6> kShapes{"m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
                                                           "m-3.5 -3.5h7v7h-7z",
                                                           "m0 -4.8l4.6 8h-9.2z",
                                                           "m0 -5l5 5l-5 5l-5 -5z",
                                                           "m0 4.8l4.6 -8h-9.2z",
                                                           "m-1.8 -5h3.6v10h-3.6z"};
  return with_name(fmt::format("{} d=\"M{:.1f} {:.1f}{}\"", filled("dot", number), x, y,
                               kShapes[static_cast<size_t>(number) % kShapes.size()]),
                   name);
}

std::string diamond(double x, double y, std::string_view name) {
  return with_name(fmt::format("class=\"hollow\" d=\"M{:.1f} {:.1f}m0 -6l6 6l-6 6l-6 -6z\"", x, y), name);
}

}  // namespace ordo::svg
