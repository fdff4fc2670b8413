// SPDX-License-Identifier: Apache-2.0
// The forms that biases and value terms offer to kernels must say the same as their tiles.
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/einsum.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <limits>

#include "ordo/certify/checks.h"
#include "ordo/ops/autocast.h"

namespace ordo::certify_checks {

namespace {

// One layer asked as attention asks it: queries are the last rows of the keys' tokens.
struct Asked {
  AttentionPass pass;
  Tensor q, k;  // [1, H, ., E], turned, groups repeated
  std::shared_ptr<const ScoreBias> bias;
  std::shared_ptr<const ValueTerm> term;
};

class Layer {
 public:
  Layer(Lab& lab, Model& model, const MultiHeadAttention& attention)
      : position_(model.position()), settings_(attention.settings()), causal_(model.causal()), n_(lab.length()) {
    const auto options = at::TensorOptions(at::kFloat).device(lab.device());
    const AttentionConfig& a = settings_.config;
    at_ = consecutive(0, n_, lab.device());
    x_ = standard_normal({1, n_, settings_.dim}, 71, options);
    q_ = position_.query(standard_normal({1, a.heads, n_, a.head_dim}, 72, options), at_, settings_.layer);
    k_ = position_.key(standard_normal({1, a.kv_heads, n_, a.head_dim}, 73, options), at_, settings_.layer);
    kept_ = position_.keep(x_, at_, settings_.layer);
  }
  Asked ask(int64_t from) const {
    const AttentionConfig& a = settings_.config;
    Mask mask{.causal = causal_, .offset = from};
    Asked asked{.pass = {settings_.layer, at_.slice(from, n_), at_, a.scale, x_.slice(1, from), kept_, mask},
                .q = q_.slice(2, from),
                .k = repeat_groups(k_, a.heads)};
    asked.bias = position_.scores(asked.pass);
    asked.term = position_.values(asked.pass);
    return asked;
  }
  // bool [rows, keys]: what the queries from `from` on may see.
  Tensor visible(int64_t from) const {
    return Mask{.causal = causal_, .offset = from}.tile({0, n_ - from, 0, n_}, x_.device())[0][0];
  }
  int64_t length() const { return n_; }
  int64_t heads() const { return settings_.config.heads; }
  Tensor weights(int64_t from) const {
    const Tensor raw = standard_normal({1, heads(), n_ - from, n_}, 74, x_.options());
    const Tensor hidden = visible(from).logical_not();
    return at::softmax(raw.masked_fill(hidden, -std::numeric_limits<double>::infinity()), -1);
  }

 private:
  PositionEncoding& position_;
  const AttentionLayer& settings_;
  bool causal_;
  int64_t n_;
  Positions at_;
  Tensor x_, q_, k_, kept_;
};

// Over visible entries, relative to the larger of 1 and the largest; entries that both forms shut are equal.
double visibly(const Tensor& found, const Tensor& expected, const Tensor& visible) {
  constexpr double kShutBelow = -1e4;
  const Tensor a = found.expand_as(expected), shut = (expected < kShutBelow) & (a < kShutBelow);
  const Tensor plain = expected.masked_fill(shut | visible.logical_not(), 0.0);
  const Tensor far = (a - expected).abs().masked_fill(shut | visible.logical_not(), 0.0);
  const double worst = far.max().item<double>();
  if (!(worst < std::numeric_limits<double>::infinity())) return std::numeric_limits<double>::infinity();
  return worst / std::max(1.0, plain.abs().max().item<double>());
}

Tensor whole(const ScoreBias& bias, const Asked& a) {
  const int64_t rows = a.q.size(2), columns = a.k.size(2);
  return bias.tile({0, rows, 0, columns}, a.q, a.k).expand({1, a.q.size(1), rows, columns}).contiguous();
}

// [H|1, Lq + Lk - 1, …] -> [H|1, Lq, Lk, …]: entry column - row + Lq - 1.
Tensor by_place(const Tensor& table, int64_t rows, int64_t columns) {
  const auto options = at::TensorOptions(at::kLong).device(table.device());
  const Tensor place = at::arange(columns, options).unsqueeze(0) - at::arange(rows, options).unsqueeze(1) + rows - 1;
  std::vector<int64_t> shape{table.size(0), rows, columns};
  for (int64_t d = 2; d < table.dim(); ++d) shape.push_back(table.size(d));
  return table.index_select(1, place.flatten()).view(shape);
}

double keys_differ(const Tensor& by_key, const Tensor& dense, const Tensor& visible) {
  // Equal up to a constant of the row: its value at the first visible key is taken away on both sides.
  const Tensor shift = (dense - by_key).masked_fill(visible.logical_not(), 0.0);
  const Tensor first = visible.to(at::kInt).argmax(-1, /*keepdim=*/true).expand({1, dense.size(1), dense.size(2), 1});
  return visibly(by_key + shift.gather(3, first), dense, visible);
}

Tensor from_content(const ContentForm& form, const Asked& a) {
  const int64_t rows = a.q.size(2), columns = a.k.size(2);
  Tensor sum = at::zeros({1, a.q.size(1), rows, columns}, a.q.options());
  const auto expanded = [&](const Tensor& table) {
    return by_place(table, rows, columns).expand({a.q.size(1), rows, columns, a.q.size(3)});
  };
  if (form.queries.defined()) sum = sum + at::einsum("bhqe,hqke->bhqk", {a.q, expanded(form.queries)}) * a.pass.scale;
  if (form.keys.defined()) sum = sum + at::einsum("bhke,hqke->bhqk", {a.k, expanded(form.keys)}) * a.pass.scale;
  if (form.offsets.defined()) sum = sum + by_place(form.offsets, rows, columns).unsqueeze(0);
  return sum;
}

double cuts_differ(const ScoreBias& bias, const Asked& a, const Tensor& dense, const Tensor& visible) {
  const int64_t n = a.q.size(2), cut = n / 3, keys = bias.whole_rows() ? n : 2 * n / 3 + 1;
  const Tensor part = bias.tile({cut, n, 0, keys}, a.q.slice(2, cut), a.k.slice(2, 0, keys));
  return visibly(part, dense.slice(2, cut).slice(3, 0, keys), visible.slice(0, cut).slice(1, 0, keys));
}

double bias_forms(const Layer& layer) {
  const int64_t n = layer.length();
  const Asked all = layer.ask(0), last = layer.ask(n - 1);
  if ((all.bias == nullptr) != (last.bias == nullptr)) return std::numeric_limits<double>::infinity();
  if (!all.bias) return 0.0;
  const Tensor visible = layer.visible(0), dense = whole(*all.bias, all);
  double worst = std::max(cuts_differ(*all.bias, all, dense, visible),
                          visibly(whole(*last.bias, last), dense.slice(2, n - 1), layer.visible(n - 1)));
  if (const auto keys = all.bias->by_key()) worst = std::max(worst, keys_differ(*keys, dense, visible));
  if (const auto offsets = all.bias->by_offset())
    worst = std::max(worst, visibly(by_place(*offsets, n, n).unsqueeze(0), dense, visible));
  if (const auto content = all.bias->by_content())
    worst = std::max(worst, visibly(from_content(*content, all), dense, visible));
  return worst;
}

double term_forms(const Layer& layer) {
  const int64_t n = layer.length();
  const Asked all = layer.ask(0), last = layer.ask(n - 1);
  if ((all.term == nullptr) != (last.term == nullptr)) return std::numeric_limits<double>::infinity();
  if (!all.term) return 0.0;
  const Tensor weights = layer.weights(0), sum = all.term->tile({0, n, 0, n}, weights);
  const int64_t cut = n / 2;
  const Tensor halves =
      all.term->tile({0, n, 0, cut}, weights.slice(3, 0, cut)) + all.term->tile({0, n, cut, n}, weights.slice(3, cut));
  const Tensor one = last.term->tile({0, 1, 0, n}, weights.slice(2, n - 1));
  double worst = std::max(difference(halves, sum), difference(one, sum.slice(2, n - 1)));
  if (const auto offsets = all.term->by_offset()) {
    const Tensor placed = by_place(*offsets, n, n);
    const Tensor full = placed.expand({layer.heads(), n, n, placed.size(3)});
    worst = std::max(worst, difference(at::einsum("bhqk,hqke->bhqe", {weights, full}), sum));
  }
  return worst;
}

}  // namespace

std::optional<double> forms_differ(Lab& lab) {
  const Places places = lab.traits().places;
  if (!places.scores && !places.values) return std::nullopt;
  const at::NoGradGuard no_grad;
  const AutocastScope plain(lab.device().type(), no_autocast());
  Model& model = lab.model();
  double worst = 0.0;
  for (const MultiHeadAttention* attention : lab.attentions(model)) {
    if (!model.position().acts_in(attention->settings().layer)) continue;
    const Layer layer(lab, model, *attention);
    worst = std::max({worst, bias_forms(layer), term_forms(layer)});
  }
  return worst;
}

}  // namespace ordo::certify_checks
