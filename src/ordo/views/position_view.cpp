// SPDX-License-Identifier: Apache-2.0
#include "ordo/views/position_view.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "ordo/core/hash.h"

namespace ordo {

namespace {

// x [1, L, D], q [1, H, L, E], k [1, G, L, E].
struct ViewTokens {
  Tensor x, q, k;
};

ViewTokens noise_tokens(const PositionFacts& f, int64_t L, uint64_t seed) {
  return {standard_normal({1, L, f.dim}, key_of(seed, "x")),
          standard_normal({1, f.heads, L, f.head_dim}, key_of(seed, "q")),
          standard_normal({1, f.kv_heads, L, f.head_dim}, key_of(seed, "k"))};
}

ViewTokens equal_tokens(const PositionFacts& f, int64_t L, uint64_t seed) {
  const Tensor one = standard_normal({1, 1, 1, f.head_dim}, key_of(seed, "equal"));
  return {standard_normal({1, 1, f.dim}, key_of(seed, "x")).expand({1, L, f.dim}),
          one.expand({1, f.heads, L, f.head_dim}), one.expand({1, f.kv_heads, L, f.head_dim})};
}

// [L, D]: what a zero input becomes.
Tensor input_rows(PositionEncoding& encoding, const PositionFacts& facts, const Positions& at) {
  return encoding.input(at::zeros({1, at.length(), facts.dim}, at::kFloat), at).squeeze(0).detach();
}

// One layer's encoding over tokens at given places.
class Looker {
 public:
  Looker(const PositionSubject& subject, int64_t layer, ViewTokens tokens, const Positions& at)
      : acting_(acting_in(subject.parts, layer).empty() ? make_position({}, subject.facts) : subject.encoding),
        f_(subject.facts),
        scale_(subject.scale()),
        layer_(layer),
        t_(std::move(tokens)),
        at_(at) {
    k_ = repeat_groups(acting_->key(t_.k.contiguous(), at, layer).detach(), f_.heads);
    bias_ = acting_->scores(pass());
    if (subject.encoding->traits().places.input) rows_ = input_rows(*subject.encoding, f_, at);
  }

  // The bias [H, q1-q0, L] of queries [q0, q1) and all keys; undefined: it has none.
  Tensor bias(int64_t q0, int64_t q1) const { return bias_ ? bias_of(query(q0, q1), q0, q1) : Tensor(); }
  // Scores [q1-q0, L], the mean of the heads: content, input rows and bias.
  Tensor scores(int64_t q0, int64_t q1) const {
    const Tensor q = query(q0, q1);
    Tensor sum = (at::matmul(q, k_.transpose(-1, -2)) * scale_).mean(1).squeeze(0);
    if (bias_) sum = sum + bias_of(q, q0, q1).mean(0);
    if (!rows_.defined()) return sum;
    const double share = scale_ / static_cast<double>(f_.heads);  // heads take equal shares of the rows' channels
    return sum + at::matmul(rows_.slice(0, q0, q1), rows_.transpose(0, 1)) * share;
  }
  std::optional<Tensor> values() const {
    const auto term = acting_->values(pass());
    return term ? term->by_offset() : std::nullopt;
  }

 private:
  Tensor query(int64_t q0, int64_t q1) const {  // [1, H, q1-q0, E]
    return acting_->query(t_.q.slice(2, q0, q1).contiguous(), at_.slice(q0, q1), layer_).detach();
  }
  Tensor bias_of(const Tensor& q, int64_t q0, int64_t q1) const {
    const int64_t L = at_.length();
    return bias_->tile({q0, q1, 0, L}, q, k_).detach().expand({1, f_.heads, q1 - q0, L}).squeeze(0).to(at::kFloat);
  }
  AttentionPass pass() const {
    const Tensor x = t_.x.contiguous();
    return {.layer = layer_,
            .q = at_,
            .k = at_,
            .scale = scale_,
            .x = x,
            .kept = acting_->keep(x, at_, layer_),
            .mask = {.causal = f_.causal}};
  }
  std::shared_ptr<PositionEncoding> acting_;  // in the layer; none where nothing does
  const PositionFacts& f_;
  double scale_;
  int64_t layer_;
  ViewTokens t_;
  Positions at_;
  Tensor k_;  // [1, H, L, E], as they are used
  std::shared_ptr<const ScoreBias> bias_;
  Tensor rows_;  // [L, D]
};

void look_at_frequencies(const std::vector<PositionPart>& acting, PositionView& view) {
  for (const auto& part : acting) {
    if (view.frequencies.defined()) return;  // of the first that has some
    view.frequencies_at_max_length = part.encoding->frequencies(view.facts.max_length);
    view.frequencies = part.encoding->frequencies(view.asked);
    if (view.frequencies.defined())
      view.angles = at::outer(at::arange(view.length, at::kDouble), view.frequencies.to(at::kDouble));
  }
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

void look_at_similarity(const Looker& equal, const ViewOptions& options, PositionView& view) {
  const int64_t L = view.length, step = (L + options.matrix - 1) / options.matrix;
  view.similar = at::arange(0, L, step, at::kLong);
  Tensor pairs;
  if (step == 1) {
    pairs = equal.scores(0, L);
  } else {
    std::vector<Tensor> rows;
    for (int64_t q = 0; q < L; q += step) rows.push_back(equal.scores(q, q + 1).slice(1, 0, L, step));
    pairs = at::cat(rows, 0);
  }
  view.similarity = from_zero(pairs, pairs.diagonal().mean());
  if (view.facts.causal) {
    const Tensor hidden = at::ones(pairs.sizes(), at::kBool).triu(1);
    view.similarity = view.similarity.masked_fill(hidden, std::numeric_limits<double>::quiet_NaN());
  }
}

void look_at_bias(const Looker& noise, PositionView& view) {
  const Tensor last = noise.bias(view.length - 1, view.length);
  if (!last.defined()) return;
  const Tensor first = view.facts.causal ? Tensor() : noise.bias(0, 1).select(1, 0);
  view.bias_by_distance = along_distances(view.facts, last.select(1, 0), first);
}

void look_at_pairs(const PositionSubject& subject, const ViewOptions& options, PositionView& view) {
  const int64_t L = view.length, M = std::min(L, options.matrix);
  const PositionFacts& f = subject.facts;
  const auto placed = [&](int64_t length) {
    const Positions at = consecutive(0, length, at::kCPU);
    return view.traits.places.positions ? subject.encoding->place(at, 1, {}) : at;
  };
  const Positions all = placed(L), few = placed(M);
  if (view.traits.places.input) view.table = input_rows(*subject.encoding, f, all);
  view.distances = at::arange(f.causal ? 0 : 1 - L, L, at::kLong);
  const ViewTokens noise = noise_tokens(f, L, options.seed);
  if (view.traits.places.scores || view.traits.places.values) {
    const Looker first(subject, view.layer, {noise.x.slice(1, 0, M), noise.q.slice(2, 0, M), noise.k.slice(2, 0, M)},
                       few);
    if (view.traits.places.scores) view.bias = first.bias(0, M);
    if (view.traits.places.values)
      if (const auto added = first.values()) view.values_by_offset = added->detach();
  }
  if (view.traits.places.scores) look_at_bias(Looker(subject, view.layer, noise, all), view);
  const Looker equal(subject, view.layer, equal_tokens(f, L, options.seed), all);
  const Tensor last = equal.scores(L - 1, L).select(0, 0);
  const Tensor first = f.causal ? Tensor() : equal.scores(0, 1).select(0, 0);
  view.decay = from_zero(along_distances(f, last, first), last.select(0, L - 1));
  look_at_similarity(equal, options, view);
}

// Traits of what acts in the layer; how long a sequence may be is asked of all.
PositionTraits traits_of(const std::vector<PositionPart>& acting, const PositionSubject& subject) {
  std::vector<Choice<PositionEncoding>> choices;
  for (const auto& part : acting) choices.push_back(part.choice);
  PositionTraits traits = make_position(choices, subject.facts)->traits();
  traits.unbounded = subject.encoding->traits().unbounded;
  return traits;
}

NamedTensors parameters_in(const std::vector<PositionPart>& parts, int64_t layer) {
  NamedTensors all;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].encoding->acts_in(layer)) continue;
    const std::string above = parts.size() == 1 ? "" : fmt::format("{}.", i);
    for (const auto& p : parts[i].encoding->named_parameters())
      if (p.value().defined()) all.emplace_back(above + p.key(), p.value().detach());
  }
  return all;
}

int64_t layer_of(const PositionSubject& subject, const ViewOptions& options) {
  if (!options.layer) return first_acting_layer(subject.parts, subject.facts.layers);
  require<ConfigError>(
      *options.layer >= 0 && *options.layer < subject.facts.layers, "--layer {}: {} has the layers 0 to {}",
      *options.layer, subject.name.empty() ? kinds_text(subject.parts, " + ") : subject.name, subject.facts.layers - 1);
  return *options.layer;
}

// What it is called, and what acts in the layer.
PositionView named_view(const PositionSubject& subject, const ViewOptions& options) {
  const int64_t layer = layer_of(subject, options);
  const auto acting = acting_in(subject.parts, layer);
  const std::string kinds = kinds_text(acting, "+");
  return {.owner = subject.name,
          .name = subject.name.empty() ? kinds : subject.name + ": " + kinds,
          .kinds = kinds,
          .title = titles_text(acting),
          .set = titles_text(acting) != kinds_text(acting, " + "),
          .summary = acting.size() == 1 ? acting[0].summary : "",
          .origin = subject.origin,
          .fresh = subject.fresh,
          .traits = traits_of(acting, subject),
          .facts = subject.facts,
          .layer = layer,
          .layer_note = layer_text(subject.parts, layer, subject.facts.layers, "--layer"),
          .asked = options.length,
          .parameters = parameters_in(subject.parts, layer)};
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

PositionSubject assembled(const std::vector<Choice<PositionEncoding>>& position, const PositionFacts& facts) {
  const auto encoding = make_position(position, facts);
  return {.parts = parts_of(position, encoding), .encoding = encoding, .facts = facts};
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
  PositionView view = named_view(subject, options);
  view.length = served_length(*subject.encoding, view.asked, view.refused);
  look_at_frequencies(acting_in(subject.parts, view.layer), view);
  if (view.traits.places.positions)
    look_at_moves(*subject.encoding, consecutive(0, std::min(view.length, options.matrix), at::kCPU), options.seed,
                  view);
  look_at_pairs(subject, options, view);
  return view;
}

std::string PositionView::silence() const {
  const auto nothing = [](const Tensor& t) { return t.numel() > 0 && t.abs().max().item<double>() == 0.0; };
  if (!fresh || !bias_by_distance.defined() || !nothing(bias_by_distance)) return "";
  for (const auto& [its_name, tensor] : parameters)
    if (nothing(tensor))
      return fmt::format("fresh weights: {} starts at 0, so nothing is added to scores yet", its_name);
  return "";
}

std::string PositionView::full_name() const { return owner.empty() ? title : owner + ": " + title; }

std::vector<std::string> PositionView::notes() const {
  std::vector<std::string> all;
  if (!origin.empty()) all.push_back(origin);
  if (!layer_note.empty()) all.push_back(layer_note);
  if (const std::string why = silence(); !why.empty())
    all.push_back(why);
  else if (untrained())
    all.emplace_back("fresh weights");
  return all;
}

double PositionView::decay_at(int64_t distance) const {
  if (distance >= length) return std::numeric_limits<double>::quiet_NaN();
  return decay[decay.size(0) - length + distance].item<double>();
}

std::vector<double> PositionView::wavelengths() const {
  std::vector<double> lengths;
  if (!frequencies.defined()) return lengths;
  const Tensor plain = frequencies.to(at::kDouble).contiguous().cpu();
  for (int64_t i = 0; i < plain.numel(); ++i)
    if (const double w = std::abs(plain.const_data_ptr<double>()[i]); w > 0.0)
      lengths.push_back(2.0 * std::numbers::pi / w);
  std::sort(lengths.begin(), lengths.end());
  return lengths;
}

}  // namespace ordo
