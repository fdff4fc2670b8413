// SPDX-License-Identifier: Apache-2.0
#include "ordo/views/position_view.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "ordo/core/hash.h"

namespace ordo {

namespace {

Tensor drawn_normal(at::IntArrayRef shape, uint64_t seed, const char* what) {
  const Tensor t = at::empty(shape, at::kFloat);
  draw_normal(t, 1.0, key_of(seed, what));
  return t;
}

// x [1, L, D], q [1, H, L, E], k [1, G, L, E].
struct ViewTokens {
  Tensor x, q, k;
};

ViewTokens noise_tokens(const PositionFacts& f, int64_t L, uint64_t seed) {
  return {drawn_normal({1, L, f.dim}, seed, "x"), drawn_normal({1, f.heads, L, f.head_dim}, seed, "q"),
          drawn_normal({1, f.kv_heads, L, f.head_dim}, seed, "k")};
}

ViewTokens equal_tokens(const PositionFacts& f, int64_t L, uint64_t seed) {
  const Tensor one = drawn_normal({1, 1, 1, f.head_dim}, seed, "equal");
  return {drawn_normal({1, 1, f.dim}, seed, "x").expand({1, L, f.dim}), one.expand({1, f.heads, L, f.head_dim}),
          one.expand({1, f.kv_heads, L, f.head_dim})};
}

// Runs one layer's encoding over tokens at given places.
class Looker {
 public:
  Looker(const PositionSubject& subject, int64_t layer)
      : e_(*subject.encoding), f_(subject.facts), scale_(subject.scale()), layer_(layer), places_(e_.traits().places) {}

  // The bias [H, q1-q0, L] of queries [q0, q1) and all keys; undefined: it has none.
  Tensor bias(const ViewTokens& t, const Positions& at, int64_t q0, int64_t q1) const {
    const Turned turned = turn(t, at, q0, q1);
    const auto found = e_.scores(pass(t, at));
    if (!found) return {};
    const Tensor tile = found->tile({q0, q1, 0, at.length()}, turned.q, turned.k);
    return tile.detach().expand({1, f_.heads, q1 - q0, at.length()}).squeeze(0).to(at::kFloat);
  }
  // Scores [q1-q0, L], the mean of the heads: content, input rows and bias.
  Tensor scores(const ViewTokens& t, const Positions& at, int64_t q0, int64_t q1) const {
    const Turned turned = turn(t, at, q0, q1);
    Tensor sum = (at::matmul(turned.q, turned.k.transpose(-1, -2)) * scale_).mean(1).squeeze(0);
    if (const Tensor added = bias(t, at, q0, q1); added.defined()) sum = sum + added.mean(0);
    if (!places_.input) return sum;
    const Tensor rows = table(at);  // heads take equal shares of its channels
    const double share = scale_ / static_cast<double>(f_.heads);
    return sum + at::matmul(rows.slice(0, q0, q1), rows.transpose(0, 1)) * share;
  }
  Tensor table(const Positions& at) const {  // [L, D]
    return e_.input(at::zeros({1, at.length(), f_.dim}, at::kFloat), at).squeeze(0).detach();
  }
  std::optional<Tensor> values(const ViewTokens& t, const Positions& at) const {
    const auto term = e_.values(pass(t, at));
    return term ? term->by_offset() : std::nullopt;
  }

 private:
  struct Turned {
    Tensor q, k;  // [1, H, ·, E]
  };
  Turned turn(const ViewTokens& t, const Positions& at, int64_t q0, int64_t q1) const {
    return {e_.query(t.q.slice(2, q0, q1).contiguous(), at.slice(q0, q1), layer_).detach(),
            repeat_groups(e_.key(t.k.contiguous(), at, layer_).detach(), f_.heads)};
  }
  AttentionPass pass(const ViewTokens& t, const Positions& at) const {
    return {.layer = layer_,
            .q = at,
            .k = at,
            .scale = scale_,
            .x = t.x.contiguous(),
            .kept = e_.keeps() > 0 ? e_.keep(t.x.contiguous(), at, layer_) : Tensor(),
            .mask = {.causal = f_.causal}};
  }
  PositionEncoding& e_;
  const PositionFacts& f_;
  double scale_;
  int64_t layer_;
  Places places_;
};

// 0, 1, 2 … on plain positions, or on the last of several axes.
Positions places_of(int64_t length, int64_t axes) {
  Positions at = consecutive(0, length, at::kCPU);
  if (axes == 0) return at;
  const Tensor line = at::arange(length, at::kFloat).view({1, length, 1});
  at.coords = axes == 1 ? line : at::cat({at::zeros({1, length, axes - 1}, at::kFloat), line}, 2);
  return at;
}

int64_t first_layer(const PositionSubject& subject) {
  int64_t layer = 0;
  while (layer + 1 < subject.facts.layers && !subject.encoding->acts_in(layer)) ++layer;
  return layer;
}

void look_at_frequencies(PositionEncoding& encoding, PositionView& view) {
  view.frequencies = encoding.frequencies(view.facts.max_length);
  view.at_length = encoding.frequencies(view.asked);
  if (view.at_length.defined())
    view.angles = at::outer(at::arange(view.length, at::kDouble), view.at_length.to(at::kDouble));
}

void look_at_moves(PositionEncoding& encoding, const Positions& at, uint64_t seed, PositionView& view) {
  constexpr int64_t kRows = 4;
  const auto numbers = [](const Positions& p) {
    return p.coords.defined() ? p.coords.select(-1, p.coords.size(-1) - 1).to(at::kDouble) : p.index.to(at::kDouble);
  };
  view.moved = numbers(encoding.place(at, 1, {})).slice(0, 0, 1);
  std::vector<Tensor> rows;
  encoding.train();
  for (int64_t row = 0; row < kRows; ++row)
    rows.push_back(numbers(encoding.place(at, 1, {.seed = seed, .step = row + 1})).select(0, 0));
  encoding.eval();
  view.moved_training = at::stack(rows);
}

// The last query's keys are the past, the first one's the future.
Tensor along_distances(const PositionFacts& facts, const Tensor& last, const Tensor& first) {
  const Tensor past = last.flip(-1);
  if (facts.causal) return past;
  return at::cat({first.slice(-1, 1).flip(-1), past}, -1);
}

// Scores less one of them; what only rounding tells from it is 0.
Tensor from_zero(const Tensor& scores, const Tensor& zero) {
  const Tensor rest = scores - zero;
  return rest.masked_fill(rest.abs() <= 1e-6 * zero.abs(), 0.0);
}

void look_at_pairs(const PositionSubject& subject, const ViewOptions& options, PositionView& view) {
  const Looker looker(subject, view.layer);
  const int64_t L = view.length, M = std::min(L, options.matrix);
  const PositionFacts& f = subject.facts;
  const auto placed = [&](int64_t length) {
    const Positions at = places_of(length, view.axes);
    return view.traits.places.positions ? subject.encoding->place(at, 1, {}) : at;
  };
  const Positions all = placed(L), few = placed(M);
  if (view.traits.places.input) view.table = looker.table(all);
  view.distances = at::arange(f.causal ? 0 : 1 - L, L, at::kLong);
  const ViewTokens noise = noise_tokens(f, L, options.seed), equal = equal_tokens(f, L, options.seed);
  const auto first_of = [M](const ViewTokens& t) {
    return ViewTokens{t.x.slice(1, 0, M), t.q.slice(2, 0, M), t.k.slice(2, 0, M)};
  };
  if (view.traits.places.scores) {
    view.bias = looker.bias(first_of(noise), few, 0, M);
    if (const Tensor last = looker.bias(noise, all, L - 1, L); last.defined())
      view.bias_by_distance =
          along_distances(f, last.select(1, 0), f.causal ? Tensor() : looker.bias(noise, all, 0, 1).select(1, 0));
  }
  if (view.traits.places.values)
    if (const auto added = looker.values(first_of(noise), few)) view.values_by_offset = added->detach();
  const Tensor last = looker.scores(equal, all, L - 1, L).select(0, 0);
  const Tensor first = f.causal ? Tensor() : looker.scores(equal, all, 0, 1).select(0, 0);
  view.decay = from_zero(along_distances(f, last, first), last.select(0, L - 1));
  const Tensor pairs = looker.scores(first_of(equal), few, 0, M);
  view.similarity = from_zero(pairs, pairs.diagonal().mean());
  if (f.causal) {
    const Tensor hidden = at::ones({M, M}, at::kBool).triu(1);
    view.similarity = view.similarity.masked_fill(hidden, std::numeric_limits<double>::quiet_NaN());
  }
}

// The longest sequence up to `asked` that it serves.
int64_t served_length(const PositionEncoding& encoding, int64_t asked, std::string& refused) {
  const auto why = encoding.refuses_length(asked);
  if (!why) return asked;
  refused = *why;
  int64_t low = 1, high = asked;  // low is served
  while (high - low > 1) (encoding.refuses_length((low + high) / 2) ? high : low) = (low + high) / 2;
  return low;
}

}  // namespace

double PositionSubject::scale() const {
  return facts.scale > 0.0 ? facts.scale : 1.0 / std::sqrt(static_cast<double>(facts.head_dim));
}

void prepare(PositionSubject& subject, uint64_t seed) {
  const PositionFacts& f = subject.facts;
  for (int64_t layer = 0; layer < f.layers; ++layer) {
    const auto projection = [&](int64_t heads) {
      auto made = std::make_shared<Linear>(f.dim, heads * f.head_dim, Linear::Options{.bias = false});
      initialise(*made, seed + static_cast<uint64_t>(layer), {}, f.layers);
      subject.projections.push_back(made);
      return made;
    };
    const auto q = projection(f.heads), k = projection(f.kv_heads);
    subject.encoding->attach(layer, *q, *k);
  }
  initialise(*subject.encoding, seed, {}, f.layers);
  subject.encoding->eval();
}

PositionView look_at(const PositionSubject& subject, const ViewOptions& options) {
  const at::NoGradGuard no_grad;
  PositionView view{.name = subject.name,
                    .summary = subject.summary,
                    .traits = subject.encoding->traits(),
                    .facts = subject.facts,
                    .layer = first_layer(subject),
                    .asked = options.length};
  view.length = served_length(*subject.encoding, view.asked, view.refused);
  for (const auto& p : subject.encoding->named_parameters())
    if (p.value().defined()) view.parameters.emplace_back(p.key(), p.value().detach());
  look_at_frequencies(*subject.encoding, view);
  constexpr int64_t kMostAxes = 3;
  for (std::optional<ConfigError> wants_axes; view.axes <= kMostAxes; ++view.axes) {
    try {
      if (view.traits.places.positions)
        look_at_moves(*subject.encoding, places_of(std::min(view.length, options.matrix), view.axes), options.seed,
                      view);
      look_at_pairs(subject, options, view);
      break;
    } catch (const ConfigError& refusal) {  // an encoding of several coordinates a token says so
      if (!wants_axes) wants_axes = refusal;
      if (view.axes == kMostAxes) throw *wants_axes;
    }
  }
  return view;
}

double PositionView::decay_at(int64_t distance) const {
  if (distance >= length) return std::numeric_limits<double>::quiet_NaN();
  return decay[decay.size(0) - length + distance].item<double>();
}

std::vector<double> PositionView::wavelengths() const {
  std::vector<double> lengths;
  if (!at_length.defined()) return lengths;
  const Tensor plain = at_length.to(at::kDouble).contiguous().cpu();
  for (int64_t i = 0; i < plain.numel(); ++i)
    if (const double w = std::abs(plain.const_data_ptr<double>()[i]); w > 0.0)
      lengths.push_back(2.0 * std::numbers::pi / w);
  std::sort(lengths.begin(), lengths.end());
  return lengths;
}

}  // namespace ordo
