// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ordo/core/text.h"
#include "ordo/views/position_picture.h"

namespace ordo {

namespace {

constexpr int64_t kMostCells = 128;   // of a map, along a side
constexpr int64_t kMostPoints = 400;  // of a line
constexpr int64_t kMostLines = 8;     // of a plot

std::vector<double> doubles(const Tensor& t) {
  const Tensor plain = t.to(at::kDouble).contiguous().cpu();
  return {plain.const_data_ptr<double>(), plain.const_data_ptr<double>() + plain.numel()};
}

// Every n-th entry along a dimension, so that no more than `most` are left.
Tensor thinned(const Tensor& t, int64_t dim, int64_t most) {
  return t.slice(dim, 0, t.size(dim), (t.size(dim) + most - 1) / most);
}

HeatMap map_of(const Tensor& values, std::string title, std::string x_label, std::string y_label,
               std::string value_label = "") {
  const Tensor few = thinned(thinned(values, 0, kMostCells), 1, kMostCells);
  return {.title = std::move(title),
          .x_label = std::move(x_label),
          .y_label = std::move(y_label),
          .value_label = std::move(value_label),
          .rows = few.size(0),
          .columns = few.size(1),
          .values = doubles(few),
          .x_end = static_cast<double>(values.size(1)),
          .y_end = static_cast<double>(values.size(0))};
}

PlotSeries line(std::string name, const Tensor& x, const Tensor& y, int dash = 0) {
  return {std::move(name), doubles(thinned(x, 0, kMostPoints)), doubles(thinned(y, 0, kMostPoints)), dash};
}

// Which of n lines are drawn.
std::vector<int64_t> chosen(int64_t n) {
  std::vector<int64_t> some;
  const int64_t count = std::min(n, kMostLines);
  for (int64_t i = 0; i < count; ++i) some.push_back(count == 1 ? 0 : i * (n - 1) / (count - 1));
  return some;
}

// The two lengths, in the words of every plot.
std::string built_text(const PositionView& view) { return fmt::format("built for {}", view.facts.max_length); }
std::string asked_text(const PositionView& view) {
  return view.asked == view.facts.max_length ? built_text(view) : fmt::format("at --length {}", view.asked);
}

void mark_end(LinePlot& plot, const PositionView& view) {
  plot.mark_x = static_cast<double>(view.facts.max_length);
  plot.mark = built_text(view);
}

LinePlot heads_over_distance(const PositionView& view) {
  LinePlot plot{.title = "Bias of each head over the distance",
                .x_label = "query position - key position",
                .y_label = "added to the score"};
  for (const int64_t head : chosen(view.bias_by_distance.size(0)))
    plot.series.push_back(
        line(fmt::format("head {}", head + 1), view.distances, view.bias_by_distance.select(0, head)));
  mark_end(plot, view);
  return plot;
}

PlotSeries wavelengths_of(std::string name, const Tensor& frequencies, int dash) {
  PlotSeries series{.name = std::move(name), .x = {}, .y = {}, .dash = dash};
  const auto w = doubles(frequencies);
  for (size_t i = 0; i < w.size(); ++i) {
    series.x.push_back(static_cast<double>(i));
    series.y.push_back(w[i] == 0.0 ? std::nan("") : 2.0 * M_PI / std::abs(w[i]));
  }
  return series;
}

bool same_frequencies(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && (a - b).abs().max().item<double>() <= 1e-12;
}

LinePlot wavelengths_plot(const PositionView& view, const PositionView* plain) {
  LinePlot plot{.title = "Wavelengths",
                .x_label = "pair of channels",
                .y_label = "positions a turn",
                .series = {},
                .log_y = true};
  plot.series.push_back(wavelengths_of(asked_text(view), view.frequencies, 0));
  if (view.frequencies_at_max_length.defined() && !same_frequencies(view.frequencies_at_max_length, view.frequencies))
    plot.series.push_back(wavelengths_of(built_text(view), view.frequencies_at_max_length, 1));
  if (plain != nullptr && plain->frequencies_at_max_length.defined() &&
      !same_frequencies(plain->frequencies_at_max_length, view.frequencies))
    plot.series.push_back(wavelengths_of("default settings", plain->frequencies_at_max_length, 2));
  return plot;
}

struct NamedView {
  std::string name;
  const PositionView* view;
};
LinePlot decay_plot(const std::vector<NamedView>& views) {
  LinePlot plot{.title = "Score between equal tokens over the distance",
                .x_label = "query position - key position",
                .y_label = "score - score at distance 0"};
  for (const auto& [name, view] : views) {
    const auto place = static_cast<int>(plot.series.size());
    plot.series.push_back(line(name, view->distances, view->decay, place == 0 ? 0 : 1 + (place - 1) % 3));
  }
  const PositionView& first = *views.front().view;
  if (std::all_of(views.begin(), views.end(),
                  [&](const NamedView& one) { return one.view->facts.max_length == first.facts.max_length; }))
    mark_end(plot, first);
  return plot;
}

HeatMap similarity_map(const PositionView& view, const std::string& title) {
  HeatMap map = map_of(view.similarity, title, "key position", "query position");
  map.x_end = map.y_end = static_cast<double>(view.length);  // also of every n-th position
  return map;
}

// "Bias of head 1", and of how many positions where the page shows more.
std::string of_first(const std::string& title, int64_t shown, const PositionView& view) {
  return shown == view.length ? title : fmt::format("{}, first {} positions", title, shown);
}

LinePlot moves_plot(const PositionView& view) {
  LinePlot plot{.title = of_first("Where it moves positions", view.moved.size(1), view),
                .x_label = "place in the sequence",
                .y_label = "position that others read"};
  const Tensor places = at::arange(view.moved.size(1), at::kDouble);
  plot.series.push_back(line("evaluation", places, view.moved[0]));
  for (int64_t row = 0; row < view.moved_training.size(0); ++row)
    plot.series.push_back(line(fmt::format("training, draw {}", row + 1), places, view.moved_training[row], 1));
  return plot;
}

// Hidden pairs of a causal stack are left blank.
Tensor seen_pairs(const Tensor& matrix, const PositionView& view) {
  if (!view.facts.causal) return matrix;
  return matrix.masked_fill(at::ones(matrix.sizes(), at::kBool).triu(1), std::nan(""));
}

std::string heads_text(const PositionView& view) {
  return fmt::format("{} heads of {}, {}; positions 0 to {}", view.facts.heads, view.facts.head_dim,
                     view.facts.causal ? "causal" : "two-sided", view.length - 1);
}

// Maps of one unit share their colours, unless that would leave one of them without any: then each says that it has
// its own.
void share_shades(std::vector<HeatMap>& maps) {
  constexpr double kFaintest = 0.05;  // of the common span
  std::pair<double, double> all{0.0, 0.0};
  double least = std::numeric_limits<double>::infinity();
  for (const auto& map : maps) {
    const auto [low, high] = value_range(map);
    all = {std::min(all.first, low), std::max(all.second, high)};
    if (high > low) least = std::min(least, high - low);
  }
  const bool shared = least >= kFaintest * (all.second - all.first);
  for (auto& map : maps) {
    if (shared) map.shades = all;
    map.value_label = shared ? "in all maps" : "in this map only";
  }
}

}  // namespace

std::vector<Panel> position_panels(const PositionView& view, const PositionView* plain) {
  std::vector<Panel> panels;
  if (view.moved.defined()) panels.emplace_back(moves_plot(view));
  if (view.table.defined())
    panels.emplace_back(map_of(view.table, "What is added to a zero input", "channel", "position"));
  if (view.frequencies.defined()) {
    panels.emplace_back(wavelengths_plot(view, plain));
    panels.emplace_back(
        map_of(view.angles.cos(), "Cosine of position times frequency", "pair of channels", "position"));
  }
  if (view.bias_by_distance.defined()) panels.emplace_back(heads_over_distance(view));
  if (view.bias.defined())
    panels.emplace_back(map_of(seen_pairs(view.bias[0], view), of_first("Bias of head 1", view.bias.size(1), view),
                               "key position", "query position", "added to the score"));
  return panels;
}

std::string position_picture(const PositionView& view, const PositionView* plain) {
  std::vector<std::string> lines;
  for (const auto& line : {view.summary, view.origin, view.layer_note, view.silence()})
    if (!line.empty()) lines.push_back(line);
  lines.push_back(fmt::format("acts on {}; {}{}", view.traits.places.text(), heads_text(view),
                              view.untrained() ? "; fresh weights" : ""));
  if (!view.refused.empty())
    lines.push_back(fmt::format("ends at {} positions ({} asked for)", view.length, view.asked));
  std::vector<Panel> panels = position_panels(view, plain);
  std::vector<NamedView> decays{{"these settings", &view}};
  if (plain != nullptr) decays.push_back({"default settings", plain});
  const Places& places = view.traits.places;
  if (!places.positions || places.anywhere()) {
    panels.emplace_back(decay_plot(decays));
    panels.emplace_back(similarity_map(view, "Score between equal tokens, less that at distance 0"));
  }
  return svg_page(view.title, lines, panels);
}

std::vector<Panel> comparison_panels(const std::vector<PositionView>& views) {
  std::vector<NamedView> all;
  std::vector<HeatMap> maps;
  for (const auto& view : views) {
    all.push_back({view.name, &view});
    maps.push_back(similarity_map(view, view.name + ": score, less that at distance 0"));
  }
  share_shades(maps);
  std::vector<Panel> panels{decay_plot(all)};
  for (auto& map : maps) panels.emplace_back(std::move(map));
  return panels;
}

std::string comparison_picture(const std::vector<PositionView>& views) {
  std::vector<std::string> names, lines;
  const bool alike = std::all_of(views.begin(), views.end(), [&](const PositionView& view) {
    return heads_text(view) == heads_text(views.front());
  });
  if (alike) lines.push_back(heads_text(views.front()));
  for (const auto& view : views) {
    names.push_back(view.name);
    std::vector<std::string> notes = view.notes();
    if (!alike) notes.push_back(heads_text(view));
    if (view.set || !notes.empty()) lines.push_back(view.full_name() + (notes.empty() ? "" : ": ") + join(notes, "; "));
  }
  return svg_page(join(names, ", "), lines, comparison_panels(views));
}

}  // namespace ordo
