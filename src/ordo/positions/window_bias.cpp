// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/window_bias.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "ordo/positions/resize.h"
#include "ordo/positions/score_parts.h"

namespace ordo {

namespace {
constexpr NamedValue kWindowVariants[] = {{"swin", static_cast<int>(WindowBias::Variant::swin)},
                                          {"swin_v2", static_cast<int>(WindowBias::Variant::swin_v2)}};
constexpr int64_t kWindowHidden = 512;
constexpr double kWindowStd = 0.02, kFirstCosineScale = 10.0, kLargestCosineScale = 100.0;

// Two sides from a setting of none, one or two numbers; 0 for what is left open.
WindowBias::Window window_sides(const std::vector<int64_t>& given, const char* key) {
  require<ConfigError>(given.size() <= 2,
                       "window_bias: {} has two sides, rows and columns, or one number for both; found {}", key,
                       given.size());
  if (given.empty()) return {0, 0};
  require<ConfigError>((given.front() == 0) == (given.back() == 0), "window_bias: {} leaves one side open; give both",
                       key);
  return {given.front(), given.back()};
}

int64_t root_above(int64_t n) {
  auto root = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(n))));
  while (root * root < n) ++root;
  return root;
}

// Settings that the variant does not read, and pairs that contradict each other.
void check_window_settings(const WindowBias::Config& c, const PositionFacts& facts) {
  const bool network = c.variant == WindowBias::Variant::swin_v2;
  require<ConfigError>(
      network || (c.pretrained_window.empty() && !c.hidden),
      "window_bias: {} is of variant swin_v2, and swin has a table instead of a network; leave it out, "
      "or use variant: swin_v2",
      c.hidden ? "hidden" : "pretrained_window");
  require<ConfigError>(!network || c.saved_window.empty(),
                       "window_bias: saved_window is of variant swin, and swin_v2 has no table to stretch; leave it "
                       "out, or give pretrained_window");
  require<ConfigError>(facts.scale == 0.0 || !c.cosine.value_or(network),
                       "window_bias: with cosine a learned factor is all that scales the scores, so "
                       "model.attention.scale ({}) would do nothing; leave it out, or set cosine: false",
                       facts.scale);
}

// The window whose coordinates swin_v2's network knows.
WindowBias::Window pretrained_sides(const WindowBias::Config& c, const WindowBias::Window& window,
                                    const PositionFacts& facts) {
  const auto given = window_sides(c.pretrained_window, "pretrained_window");
  if (given.rows > 0 || facts.trained_length == 0) return given.rows > 0 ? given : window;
  if (window_sides(c.window, "window").rows == 0) {
    const int64_t side = root_above(facts.trained_length);
    return {side, side};
  }
  require<ConfigError>(c.variant != WindowBias::Variant::swin_v2 || facts.max_length <= facts.trained_length,
                       "window_bias: the network was trained on {} tokens and now meets up to {}, and it must keep the "
                       "coordinates of the window that it was trained on; give that one as pretrained_window, beside "
                       "the window of {} x {}",
                       facts.trained_length, facts.max_length, window.rows, window.columns);
  return window;
}

// s of -(side - 1) … side - 1, fp64.
Tensor window_axis(int64_t side, int64_t pretrained) {
  const Tensor offset = at::arange(1 - side, side, at::kDouble);
  const Tensor x = offset * (8.0 / static_cast<double>(std::max<int64_t>(pretrained - 1, 1)));
  return x.sign() * (x.abs() + 1.0).log2() / 3.0;
}

// Vectors of length 1 along the last dimension; zeros stay zeros.
Tensor unit_vectors(const Tensor& x) { return x / (x * x).sum(-1, /*keepdim=*/true).clamp_min(1e-24).sqrt(); }
}  // namespace

void fields(Fields& f, WindowBias::Config& c) {
  f("variant", c.variant, "a learned table, or a network over logarithmic coordinates", kWindowVariants);
  f("window", c.window, "rows and columns, or one number for both; 0: the smallest square that holds max_length",
    within(0, 1 << 12));
  f("saved_window", c.saved_window,
    "of swin: the window of weights that were trained with another one; absent: a square", within(0, 1 << 12));
  f("pretrained_window", c.pretrained_window,
    "of swin_v2: the window of the network's coordinates; absent or 0: the one it was trained on", within(0, 1 << 12));
  f("hidden", c.hidden, "of swin_v2: width of the network; absent: 512", within(1, 1 << 16));
  f("cosine", c.cosine, "scores are cosines times a learned factor a head; absent: with swin_v2");
}

Tensor WindowBias::coordinates(const Window& window, const Window& pretrained) {
  const Tensor rows = window_axis(window.rows, pretrained.rows),
               columns = window_axis(window.columns, pretrained.columns);
  const int64_t n = rows.size(0), m = columns.size(0);
  return at::stack({rows.unsqueeze(1).expand({n, m}), columns.unsqueeze(0).expand({n, m})}, 2).view({n * m, 2});
}

WindowBias::WindowBias(const Config& config, const PositionFacts& facts)
    : window_(window_sides(config.window, "window")),
      saved_(window_sides(config.saved_window, "saved_window")),
      scale_(1.0 / std::sqrt(static_cast<double>(facts.head_dim))) {
  check_window_settings(config, facts);
  if (window_.rows == 0) window_.rows = window_.columns = root_above(facts.max_length);
  require<ConfigError>(window_.rows > 0, "window_bias: window is 0 and the model has no max_length; give one of them");
  require<ConfigError>(window_.rows * window_.columns >= facts.max_length,
                       "window_bias: a window of {} x {} holds fewer tokens than the model's max_length ({}); enlarge "
                       "it, or leave it out",
                       window_.rows, window_.columns, facts.max_length);
  const Window pretrained = pretrained_sides(config, window_, facts);
  const auto parameter = [&](const char* name, std::vector<int64_t> one) {
    one.insert(one.begin(), facts.layers);
    return register_parameter(name, at::zeros(one));
  };
  const bool network = config.variant == Variant::swin_v2;
  if (network) {
    const int64_t hidden = config.hidden.value_or(kWindowHidden);
    coordinates_ = FixedTensor(coordinates(window_, pretrained));
    w1_ = parameter("w1", {hidden, 2});
    b1_ = parameter("b1", {hidden});
    w2_ = parameter("w2", {facts.heads, hidden});
  } else {
    table_ = parameter("table", {window_.offsets(), facts.heads});
  }
  if (config.cosine.value_or(network)) log_scale_ = parameter("log_scale", {facts.heads});
}

std::optional<std::string> WindowBias::refuses_length(int64_t length) const {
  if (length <= window_.rows * window_.columns) return std::nullopt;
  return fmt::format(
      "a sequence of {} tokens does not fit the window of {} x {} = {}; shorten it, or set a larger window", length,
      window_.rows, window_.columns, window_.rows * window_.columns);
}

Tensor WindowBias::places(const Positions& at) const {
  Tensor row, column;
  if (at.coords.defined()) {
    require<ConfigError>(at.coords.size(-1) == 2, "window_bias: a place is a row and a column, found {} coordinates",
                         at.coords.size(-1));
    const Tensor rounded = at.coords.round().to(at::kLong);
    row = rounded.select(2, 0);
    column = rounded.select(2, 1);
  } else {
    row = at.index.div(window_.columns, "floor");
    column = at.index.remainder(window_.columns);
  }
  if (row.is_cpu() && row.numel() > 0) {  // elsewhere the model has looked at the length
    const bool inside = row.min().item<int64_t>() >= 0 && row.max().item<int64_t>() < window_.rows &&
                        column.min().item<int64_t>() >= 0 && column.max().item<int64_t>() < window_.columns;
    require<ConfigError>(inside, "window_bias: a token stands outside of the window of {} x {}; set a larger window",
                         window_.rows, window_.columns);
  }
  return at::stack({row, column}, 2);
}

Tensor WindowBias::table_of(const AttentionPass& pass) const {
  const auto type = score_type(pass);
  const auto own = [&](const Tensor& all) { return all.select(0, pass.layer).to(type); };
  if (table_.defined()) return own(table_);
  const Tensor inner = at::linear(coordinates_.on(w1_.device()).to(type), own(w1_), own(b1_)).relu();
  return 16.0 * at::sigmoid(at::linear(inner, own(w2_)));
}

struct WindowBias::Bias final : ScoreBias {
  Bias(const Window& window, Tensor q, Tensor k, Tensor table)
      : window_(window), q_(std::move(q)), k_(std::move(k)), table_(std::move(table)) {}
  Tensor tile(const Tile& t, const Tensor& q, const Tensor& k) const override {
    (void)q, (void)k;
    const Tensor apart = q_.slice(1, t.q0, t.q1).unsqueeze(2) - k_.slice(1, t.k0, t.k1).unsqueeze(1);  // [B|1, q, k, 2]
    const auto counted = [&](int64_t axis, int64_t side) {
      return apart.select(3, axis).clamp(1 - side, side - 1) + (side - 1);
    };
    const Tensor place = counted(0, window_.rows) * (2 * window_.columns - 1) + counted(1, window_.columns);
    return at::embedding(table_, place).movedim(-1, 1);
  }
  std::vector<Tensor> inputs() const override { return {table_}; }

 private:
  Window window_;
  Tensor q_, k_;  // places [B|1, L, 2]
  Tensor table_;  // [offsets, H]
};

std::shared_ptr<const ScoreBias> WindowBias::scores(const AttentionPass& pass) {
  return std::make_shared<Bias>(window_, places(pass.q), places(pass.k), table_of(pass));
}

// The kernel's own factor is taken out again: q and k of length 1, and the learned factor, are all that is left.
Tensor WindowBias::query(const Tensor& q, const Positions& at, int64_t layer) {
  (void)at;
  if (!log_scale_.defined()) return q;
  const auto type = accumulate_type(q.scalar_type());
  const Tensor factor = log_scale_.select(0, layer).to(type).clamp_max(std::log(kLargestCosineScale)).exp();
  return (unit_vectors(q.to(type)) * (per_head(factor) / scale_)).to(q.scalar_type());
}

Tensor WindowBias::key(const Tensor& k, const Positions& at, int64_t layer) {
  (void)at, (void)layer;
  if (!log_scale_.defined()) return k;
  return unit_vectors(k.to(accumulate_type(k.scalar_type()))).to(k.scalar_type());
}

// The window whose table has so many rows: the one that is named, else this one, else a square.
WindowBias::Window WindowBias::saved_window(int64_t offsets) const {
  if (saved_.rows > 0) return saved_;
  if (offsets == window_.offsets()) return window_;
  const auto side = (static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(offsets)))) + 1) / 2;
  return {side, side};
}

// A table of another window is stretched, as Swin's are before they are trained on larger images.
std::optional<PositionEncoding::Resized> WindowBias::resized(const std::string& name, const Tensor& saved) const {
  if (name != "table" || !table_.defined() || saved.dim() != 3 || saved.size(0) != table_.size(0) ||
      saved.size(2) != table_.size(2))
    return std::nullopt;
  const Window from = saved_window(saved.size(1));
  if (from.offsets() != saved.size(1) || from == window_) return std::nullopt;
  const auto grid = [](const Window& w) { return TableGrid{2 * w.rows - 1, 2 * w.columns - 1}; };
  std::vector<Tensor> layers;
  for (const Tensor& layer : saved.unbind(0)) layers.push_back(interpolate_grid(layer, grid(from), grid(window_)));
  return Resized{at::stack(layers), fmt::format("stretched from a window of {} x {} to {} x {} (bicubic)", from.rows,
                                                from.columns, window_.rows, window_.columns)};
}

void WindowBias::reset(const Initialiser& init, const std::string& path) {
  const auto draw = [&](const Tensor& parameter, const char* name) {
    if (parameter.defined()) init.normal(parameter, parameter_name(path, name), kWindowStd);
  };
  draw(table_, "table");
  draw(w1_, "w1");
  draw(b1_, "b1");  // not 0, where the network would have a kink for a token and itself
  draw(w2_, "w2");
  if (log_scale_.defined()) log_scale_.fill_(std::log(kFirstCosineScale));
}

}  // namespace ordo
