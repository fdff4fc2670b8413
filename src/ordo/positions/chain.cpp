// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/chain.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>

#include <algorithm>

namespace ordo {

namespace {

template <class Part>
std::vector<Tensor> inputs_of(const std::vector<std::shared_ptr<const Part>>& parts) {
  std::vector<Tensor> all;
  for (const auto& part : parts)
    for (const Tensor& t : part->inputs())
      if (std::none_of(all.begin(), all.end(), [&](const Tensor& seen) { return seen.is_same(t); })) all.push_back(t);
  return all;
}

Tensor added_or(const Tensor& a, const Tensor& b) { return !a.defined() ? b : !b.defined() ? a : a + b; }
ContentForm added(const ContentForm& a, const ContentForm& b) {
  return {added_or(a.queries, b.queries), added_or(a.keys, b.keys), added_or(a.offsets, b.offsets)};
}

// The sum of biases. A cheap form is there when every part has it.
class BiasSum final : public ScoreBias {
 public:
  explicit BiasSum(std::vector<std::shared_ptr<const ScoreBias>> parts) : parts_(std::move(parts)) {}
  Tensor tile(const Tile& t, const Tensor& q, const Tensor& k) const override {
    Tensor sum = parts_[0]->tile(t, q, k);
    for (size_t i = 1; i < parts_.size(); ++i) sum = sum + parts_[i]->tile(t, q, k);
    return sum;
  }
  std::optional<Tensor> by_key() const override { return summed(&ScoreBias::by_key); }
  std::optional<Tensor> by_offset() const override { return summed(&ScoreBias::by_offset); }
  // A part that depends on the offset alone joins the tables of one that reads content.
  std::optional<ContentForm> by_content() const override {
    ContentForm sum;
    for (const auto& part : parts_) {
      auto one = part->by_content();
      if (!one)
        if (auto offsets = part->by_offset()) one = ContentForm{.offsets = std::move(*offsets)};
      if (!one) return std::nullopt;
      sum = added(sum, *one);
    }
    return reads_content() ? std::optional(sum) : std::nullopt;
  }
  std::vector<Tensor> inputs() const override { return inputs_of(parts_); }
  bool reads_content() const override {
    return std::any_of(parts_.begin(), parts_.end(), [](const auto& p) { return p->reads_content(); });
  }
  bool whole_rows() const override {
    return std::any_of(parts_.begin(), parts_.end(), [](const auto& p) { return p->whole_rows(); });
  }

 private:
  std::optional<Tensor> summed(std::optional<Tensor> (ScoreBias::*form)() const) const {
    std::optional<Tensor> sum;
    for (const auto& part : parts_) {
      const auto one = ((*part).*form)();
      if (!one) return std::nullopt;
      sum = sum ? *sum + *one : *one;
    }
    return sum;
  }
  std::vector<std::shared_ptr<const ScoreBias>> parts_;
};

class ValueSum final : public ValueTerm {
 public:
  explicit ValueSum(std::vector<std::shared_ptr<const ValueTerm>> parts) : parts_(std::move(parts)) {}
  Tensor tile(const Tile& t, const Tensor& weights) const override {
    Tensor sum = parts_[0]->tile(t, weights);
    for (size_t i = 1; i < parts_.size(); ++i) sum = sum + parts_[i]->tile(t, weights);
    return sum;
  }
  std::optional<Tensor> by_offset() const override {
    std::optional<Tensor> sum;
    for (const auto& part : parts_) {
      const auto one = part->by_offset();
      if (!one) return std::nullopt;
      sum = sum ? *sum + *one : *one;
    }
    return sum;
  }
  std::vector<Tensor> inputs() const override { return inputs_of(parts_); }

 private:
  std::vector<std::shared_ptr<const ValueTerm>> parts_;
};

}  // namespace

Chain::Chain(std::vector<std::shared_ptr<PositionEncoding>> parts) : parts_(std::move(parts)) {
  for (size_t i = 0; i < parts_.size(); ++i) register_module(std::to_string(i), parts_[i]);
}

PositionTraits Chain::traits() const {
  PositionTraits all{.relative = true};
  int turns = 0;
  for (const auto& part : parts_) {
    const PositionTraits one = part->traits();
    turns += one.places.query_key && !one.places.scores ? 1 : 0;
    all.places = {all.places.input || one.places.input, all.places.query_key || one.places.query_key,
                  all.places.scores || one.places.scores, all.places.values || one.places.values,
                  all.places.positions || one.places.positions};
    all.relative = all.relative && one.relative;
    all.unbounded = all.unbounded && one.unbounded;
    all.reads_content = all.reads_content || one.reads_content;
    if (one.keys == KeyCache::raw) all.keys = KeyCache::raw;
  }
  // Two turns need not commute, and what reads a turned query alone sees where it stands.
  if (turns > 1 || (turns == 1 && all.reads_content)) all.relative = false;
  return all;
}

Positions Chain::place(const Positions& at, int64_t rows, const Draw& draw) {
  Positions moved = at;
  for (const auto& part : parts_) moved = part->place(moved, rows, draw);
  return moved;
}

Tensor Chain::input(const Tensor& x, const Positions& at) {
  Tensor out = x;
  for (const auto& part : parts_) out = part->input(out, at);
  return out;
}

Tensor Chain::query(const Tensor& q, const Positions& at, int64_t layer) {
  Tensor out = q;
  for (const auto& part : parts_)
    if (part->acts_in(layer)) out = part->query(out, at, layer);
  return out;
}

Tensor Chain::key(const Tensor& k, const Positions& at, int64_t layer) {
  Tensor out = k;
  for (const auto& part : parts_)
    if (part->acts_in(layer)) out = part->key(out, at, layer);
  return out;
}

Tensor Chain::value(const Tensor& v, const Positions& at, int64_t layer) {
  Tensor out = v;
  for (const auto& part : parts_)
    if (part->acts_in(layer)) out = part->value(out, at, layer);
  return out;
}

int64_t Chain::keeps() const {
  int64_t all = 0;
  for (const auto& part : parts_) all += part->keeps();
  return all;
}

Tensor Chain::keep(const Tensor& x, const Positions& at, int64_t layer) {
  std::vector<Tensor> kept;
  for (const auto& part : parts_)
    if (part->keeps() > 0 && part->acts_in(layer)) kept.push_back(part->keep(x, at, layer));
  if (kept.empty()) return {};
  return kept.size() == 1 ? kept[0] : at::cat(kept, 2);
}

AttentionPass Chain::share(const AttentionPass& pass, size_t part) const {
  AttentionPass own = pass;
  int64_t from = 0;
  for (size_t i = 0; i < part; ++i)
    if (parts_[i]->acts_in(pass.layer)) from += parts_[i]->keeps();
  const int64_t width = parts_[part]->keeps();
  own.kept = width == 0 ? Tensor() : pass.kept.slice(2, from, from + width);
  return own;
}

std::shared_ptr<const ScoreBias> Chain::scores(const AttentionPass& pass) {
  std::vector<std::shared_ptr<const ScoreBias>> found;
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i]->acts_in(pass.layer)) continue;
    if (auto bias = parts_[i]->scores(share(pass, i))) found.push_back(std::move(bias));
  }
  if (found.size() <= 1) return found.empty() ? nullptr : found[0];
  return std::make_shared<BiasSum>(std::move(found));
}

std::shared_ptr<const ValueTerm> Chain::values(const AttentionPass& pass) {
  std::vector<std::shared_ptr<const ValueTerm>> found;
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i]->acts_in(pass.layer)) continue;
    if (auto term = parts_[i]->values(share(pass, i))) found.push_back(std::move(term));
  }
  if (found.size() <= 1) return found.empty() ? nullptr : found[0];
  return std::make_shared<ValueSum>(std::move(found));
}

void Chain::attach(int64_t layer, const Linear& q, const Linear& k) {
  for (const auto& part : parts_) part->attach(layer, q, k);
}

std::optional<std::string> Chain::refuses_length(int64_t length) const {
  const auto moves = [](const auto& part) { return part->traits().places.positions; };
  int64_t reached = length;
  for (const auto& part : parts_) {
    if (!moves(part)) continue;
    if (auto reason = part->refuses_length(reached)) return reason;
    reached = part->reach(reached);
  }
  for (const auto& part : parts_) {
    const auto reason = moves(part) ? std::nullopt : part->refuses_length(reached);
    if (!reason) continue;
    if (reached == length) return reason;
    return fmt::format("positions are moved: those of {} tokens reach up to {}, and {}", length, reached - 1, *reason);
  }
  return std::nullopt;
}

int64_t Chain::reach(int64_t length) const {
  for (const auto& part : parts_) length = part->reach(length);
  return length;
}

std::vector<PositionEncoding*> Chain::parts() {
  std::vector<PositionEncoding*> all;
  for (const auto& part : parts_) all.push_back(part.get());
  return all;
}

Tensor Chain::frequencies(int64_t length) const {
  for (const auto& part : parts_)
    if (auto found = part->frequencies(length); found.defined()) return found;
  return {};
}

std::optional<PositionEncoding::Resized> Chain::resized(const std::string& name, const Tensor& saved) const {
  for (size_t i = 0; i < parts_.size(); ++i)
    if (const std::string own = std::to_string(i) + "."; name.starts_with(own))
      return parts_[i]->resized(name.substr(own.size()), saved);
  return std::nullopt;
}

}  // namespace ordo
