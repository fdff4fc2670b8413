// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "ordo/views/svg_parts.h"

namespace ordo {

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

namespace svg {

namespace {

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

// -0.213, 1.5e+03; a zero has no sign.
std::string shade_text(double value) { return fmt::format("{:.3g}", value == 0.0 ? 0.0 : value); }

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
std::string cells_of(const HeatMap& map, const Shades& shades, const Layout& layout) {
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
  std::string out = fmt::format("<g transform=\"translate({} {}) scale({:.6f} {:.6f})\">\n", layout.left, layout.top,
                                layout.plot_width / static_cast<double>(map.columns),
                                layout.plot_height / static_cast<double>(map.rows));
  for (const auto& [level, path] : paths)
    out += fmt::format("<path shape-rendering=\"crispEdges\" fill=\"{}\" d=\"{}\"/>\n", shades.colour(level), path);
  return out + "</g>\n";
}

}  // namespace

std::string drawn(const HeatMap& map, const Layout& layout, double& height) {
  const Shades shades(map);
  std::string out = cells_of(map, shades, layout);
  const Scale y{0.0, map.y_end, layout.top, layout.bottom()};
  out += frame(layout, {0.0, map.x_end, layout.left, layout.right()}, &y,
               {.title = map.title, .x_label = map.x_label, .y_label = map.y_label});
  height = layout.bottom() + kBelowPlot + kLegendRow;
  const double top = layout.bottom() + kBelowPlot + 2, bar = 0.36 * layout.plot_width,
               x = layout.left + 0.14 * layout.plot_width;
  if (shades.constant) return out + text_at(x, top + 9, "everywhere " + shade_text(shades.low));
  for (int i = 0; i < Shades::kLevels; ++i)
    out += fmt::format(
        "<rect shape-rendering=\"crispEdges\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" "
        "height=\"10\" fill=\"{}\"/>\n",
        x + bar * i / Shades::kLevels, top, bar / Shades::kLevels + 0.3, shades.colour(i));
  out += text_at(x - 6, top + 9, shade_text(shades.low), "text-anchor=\"end\"");
  out +=
      text_at(x + bar + 6, top + 9,
              shortened(fmt::format("{}  {}", shade_text(shades.high), map.value_label), layout.width - x - bar - 6));
  return out;
}

}  // namespace svg
}  // namespace ordo
