// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ordo/certify/checks.h"

namespace ordo::certify_checks {

double difference(const Tensor& a, const Tensor& b) {
  const Tensor x = a.detach().to(at::kCPU, at::kDouble), y = b.detach().to(at::kCPU, at::kDouble);
  if (x.numel() == 0) return 0.0;
  const double far = (x - y).abs().max().item<double>(), size = y.abs().max().item<double>();
  if (!(far < std::numeric_limits<double>::infinity())) return std::numeric_limits<double>::infinity();
  return far == 0.0 ? 0.0 : far / std::max(size, 1e-12);
}

Property at_most(double measured, double limit, std::string why, std::string broken) {
  if (!(measured <= limit) && !broken.empty()) why = std::move(broken);
  return {.measured = measured,
          .limit = limit,
          .verdict = measured <= limit ? Verdict::pass : Verdict::fail,
          .why = std::move(why)};
}

Property more_than(double measured, double limit, std::string why) {
  return {.more_than = true,
          .measured = measured,
          .limit = limit,
          .verdict = measured > limit ? Verdict::pass : Verdict::fail,
          .why = std::move(why)};
}

Property not_applicable(std::string why, std::optional<double> measured) {
  return {.measured = measured, .verdict = Verdict::not_applicable, .why = std::move(why)};
}

Property failed(std::string why, std::optional<double> measured) {
  return {.measured = measured, .verdict = Verdict::fail, .why = std::move(why)};
}

Property excused(Property property, const std::string& nature) {
  if (property.verdict != Verdict::fail || nature.empty()) return property;
  return not_applicable(nature, property.measured);
}

Lab::Lab(const Subject& subject, at::Device device) : subject_(subject), device_(device) {}

std::shared_ptr<Model> Lab::fresh(const Variant& variant) const {
  auto model = subject_.build(variant);
  model->to(device_);
  model->eval();
  return model;
}

Model& Lab::model(const Variant& v) {
  auto& held = models_[v];
  if (!held) held = fresh(v);
  return *held;
}

bool Lab::encodes() { return traits().places.anywhere(); }

std::vector<MultiHeadAttention*> Lab::attentions(Model& model) const {
  std::vector<MultiHeadAttention*> found;
  for (const auto& module : model.modules())
    if (auto* attention = module->as<MultiHeadAttention>()) found.push_back(attention);
  return found;
}

bool Lab::windowed() {
  const auto all = attentions(model());
  return std::any_of(all.begin(), all.end(), [](const auto* a) { return a->settings().window.has_value(); });
}

std::vector<PositionEncoding*> Lab::parts() { return model().position().parts(); }

int64_t Lab::changes_at() {
  if (changes_at_) return *changes_at_;
  constexpr int64_t kLongest = 200;
  const int64_t longest = std::min(2 * model().max_length(), kLongest);
  changes_at_ = 0;
  for (int64_t n = 2; n <= longest && *changes_at_ == 0 && !model().position().refuses_length(n); ++n)
    if (!same_frequencies(n, 1)) changes_at_ = n;
  return *changes_at_;
}

int64_t Lab::reached(int64_t length) {
  const Positions moved = model().position().place(consecutive(0, length, device_), 1, {});
  return moved.coords.defined() ? static_cast<int64_t>(std::floor(moved.coords.max().item<double>())) + 1
                                : moved.index.max().item<int64_t>() + 1;
}

bool Lab::same_frequencies(int64_t length, int64_t other) {
  const int64_t a = reached(length), b = reached(other);
  const auto all = parts();
  return std::all_of(all.begin(), all.end(), [&](const PositionEncoding* part) {
    const Tensor first = part->frequencies(b);
    return !first.defined() || at::equal(part->frequencies(a), first);
  });
}

int64_t Lab::length() {
  if (length_) return *length_;
  constexpr int64_t kPlain = 40, kMost = 160;
  int64_t wanted = kPlain;
  for (const auto* attention : attentions(model()))
    if (const auto window = attention->settings().window) wanted = std::max(wanted, *window + *window / 2);
  wanted = std::min({wanted, kMost, model().max_length()});
  length_ = changes_at() > 0 ? std::min(wanted, changes_at() - 1) : wanted;
  return *length_;
}

Tensor Lab::ids(int64_t rows, int64_t length, uint64_t key, const Variant& variant) const {
  const Tensor uniform = at::empty({rows, length}, at::kFloat);
  draw_uniform(uniform, 0.0, static_cast<double>(subject_.vocab_size(variant)), key);
  return uniform.to(at::kLong).clamp_max(subject_.vocab_size(variant) - 1).to(device_);
}

LabRows Lab::rows(int64_t count, int64_t length, uint64_t key) const {
  return {.ids = ids(count, length, key), .at = consecutive(0, length, device_)};
}

Tensor Lab::hidden(Model& model, const LabRows& rows, Cache* cache) const {
  const at::NoGradGuard no_grad;
  return model.forward({.ids = rows.ids, .at = rows.at, .mask = rows.mask}, cache);
}

Tensor Lab::in_steps(Model& model, const LabRows& rows, const std::vector<int64_t>& ends) const {
  const auto cache = model.make_cache();
  std::vector<Tensor> parts;
  int64_t from = 0;
  for (const int64_t to : ends) {
    LabRows part{.ids = rows.ids.slice(1, from, to), .at = rows.at.slice(from, to)};
    if (rows.mask.keys.defined()) part.mask.keys = rows.mask.keys.slice(1, from, to);
    parts.push_back(hidden(model, part, cache.get()));
    from = to;
  }
  return at::cat(parts, 1);
}

std::string Lab::moves_by_row() {
  if (!traits().places.positions) return {};
  PositionEncoding& position = model().position();
  const auto numbers = [](const Positions& p) { return p.coords.defined() ? p.coords : p.index; };
  const int64_t n = length(), half = n / 2;
  const Positions at = consecutive(0, n, device_);
  const Tensor whole = numbers(position.place(at, 1, {}));
  const Tensor first = numbers(position.place(at.slice(0, half), 1, {}));
  if (!at::equal(whole.slice(1, 0, half), first))
    return "the encoding moves positions by the whole row, of which a part or a padded form holds something else";
  const Tensor among = numbers(position.place(at, 3, {}));
  if (!at::equal(among.slice(0, 0, 1), whole))
    return "the encoding moves the positions of each row by a draw of its own";
  return {};
}

NamedGradients training_gradients(Model& model, const LabRows& rows, const Draw& draw) {
  const InTraining training(model);
  const Tensor hidden = model.forward({.ids = rows.ids, .at = rows.at, .mask = rows.mask, .draw = draw});
  (hidden * standard_normal(hidden.sizes(), 3, hidden.options())).sum().backward();
  NamedGradients all;
  for (const auto& p : model.named_parameters()) all.emplace_back(p.key(), p.value().grad());
  return all;
}

double gradients_differ(const NamedGradients& found, const NamedGradients& expected) {
  double largest = 0.0, worst = 0.0;
  for (const auto& [name, g] : expected)
    if (g.defined()) largest = std::max(largest, g.abs().max().item<double>());
  for (size_t i = 0; i < expected.size(); ++i) {
    const Tensor &a = found[i].second, &b = expected[i].second;
    if (a.defined() != b.defined()) return std::numeric_limits<double>::infinity();
    if (!a.defined() || b.numel() == 0) continue;
    const double own = b.abs().max().item<double>(), far = (a - b).abs().max().item<double>();
    if (!std::isfinite(far)) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, far == 0.0 ? 0.0 : far / std::max(own, 1e-2 * largest));
  }
  return worst;
}

LabPaddedRows padded_rows(const Lab& lab, int64_t length) {
  constexpr int64_t kPads = 5;
  const Tensor row = lab.ids(1, length, 11), pads = lab.ids(1, kPads, 12);
  Tensor keys = at::ones({3, length + kPads}, at::TensorOptions(at::kBool).device(lab.device()));
  keys[0].slice(0, 0, kPads).fill_(false);
  keys[1].slice(0, length).fill_(false);
  keys[2].slice(0, std::max<int64_t>(length - 2, 1)).fill_(false);
  LabRows rows{.ids = at::cat({at::cat({pads, row}, 1), at::cat({row, pads}, 1), lab.ids(1, length + kPads, 13)}, 0),
               .at = from_padding(keys)};
  rows.mask.keys = keys;
  return {std::move(rows), kPads};
}

}  // namespace ordo::certify_checks
