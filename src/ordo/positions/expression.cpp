// SPDX-License-Identifier: Apache-2.0
#include "ordo/positions/expression.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>

#include "ordo/core/text.h"
#include "ordo/positions/expression_parser.h"
#include "ordo/positions/formula_values.h"
#include "ordo/positions/offsets.h"

namespace ordo {

namespace {

std::vector<FormulaName> expression_names(const std::vector<Expression::Parameter>& parameters) {
  std::vector<FormulaName> names;
  for (const auto& p : parameters) names.push_back({p.name, p.size > 0});
  return names;
}

Formula parsed_expression(const Expression::Config& config) {
  auto read = parse_formula(config.bias, expression_names(config.parameters));
  if (const auto* problem = std::get_if<TextProblem>(&read))
    throw ConfigError(fmt::format("expression: bias, character {}: {}{}{}", problem->offset + 1, problem->text,
                                  problem->hint.empty() ? "" : "; ", problem->hint));
  return std::get<Formula>(std::move(read));
}

std::string row_error_text(const FormulaRowError& error, const std::vector<Expression::Parameter>& parameters) {
  const std::string& name = parameters[error.table].name;
  if (std::floor(error.row) != error.row)
    return fmt::format("asks for row {} of {}; rows are whole numbers: write floor(…)", number_text(error.row), name);
  return fmt::format("asks for row {} of {}, whose rows are 0 to {}; write min(…, {}) or max(…, 0) inside the brackets",
                     number_text(error.row), name, error.rows - 1, error.rows - 1);
}

// The pass hides the keys behind each query.
bool looks_back_only(const AttentionPass& pass) { return pass.mask.causal && pass.mask.prefix == 0; }

}  // namespace

void fields(Fields& f, Expression::Parameter& c) {
  constexpr double kMostRows = 1 << 20;
  f("name", c.name, "what the formula calls it", check_formula_name, required());
  f("size", c.size, "rows of a table, used as name[row]; 0: one number a head", within(0.0, kMostRows));
  f("init", c.init, "first value: one for all, or one a head; of a table one a row");
}

void fields(Fields& f, Expression::Config& c) {
  f("parameters", c.parameters, "learned numbers of the formula, one a head each");
  f("shared", c.shared, "one set of parameters for all layers; false: one a layer");
  f("bias", c.bias, "the formula, of i, j, distance, h, H, length and the parameters",
    [&c](std::string_view text) -> std::optional<TextProblem> {
      const auto nameless = [](const Expression::Parameter& p) { return p.name.empty(); };
      if (std::any_of(c.parameters.begin(), c.parameters.end(), nameless)) return std::nullopt;  // told already
      auto read = parse_formula(text, expression_names(c.parameters));
      const auto* problem = std::get_if<TextProblem>(&read);
      return problem == nullptr ? std::nullopt : std::optional(std::move(*problem));
    });
}

Expression::Expression(const Config& config, const PositionFacts& facts)
    : config_(config),
      formula_(parsed_expression(config)),
      heads_(facts.heads),
      sets_{config.shared, facts.layers},
      relative_(formula_.depends_on_difference()) {
  require<ConfigError>(config_.shared || !config_.parameters.empty(),
                       "expression: shared: false gives each layer parameters of its own, and there are none; leave it "
                       "out, or name parameters");
  for (size_t p = 0; p < config_.parameters.size(); ++p) {
    const auto& parameter = config_.parameters[p];
    const auto same = [&](const Parameter& other) { return other.name == parameter.name; };
    require<ConfigError>(std::count_if(config_.parameters.begin(), config_.parameters.end(), same) == 1,
                         "expression: there are two parameters '{}'; give them different names", parameter.name);
    require<ConfigError>(formula_.used[p],
                         "expression: the formula does not use the parameter '{}'; use it or leave it out",
                         parameter.name);
    const Tensor first = first_values(parameter);
    parameters_.push_back(register_parameter(parameter.name, first.expand(sets_.shape(first.sizes().vec())).clone()));
  }
  const int64_t longest = std::max<int64_t>(facts.max_length, 1);
  require_sound(longest, /*ahead=*/!facts.causal);
  constexpr int64_t kFar = 1 << 20;
  unbounded_ = longest >= kFar || !defect(kFar, !facts.causal);
}

// [H] or [H, size]
Tensor Expression::first_values(const Parameter& parameter) const {
  const auto given = static_cast<int64_t>(parameter.init.size());
  const int64_t wanted = parameter.size > 0 ? parameter.size : heads_;
  require<ConfigError>(given == 1 || given == wanted,
                       "expression: init of '{}' has {} numbers; give one, or one a {} ({})", parameter.name, given,
                       parameter.size > 0 ? "row" : "head", wanted);
  const Tensor values = at::tensor(parameter.init, at::kFloat);
  if (parameter.size == 0) return values.expand({heads_}).clone();
  return values.expand({heads_, parameter.size}).clone();
}

void Expression::reset(const Initialiser& init, const std::string& path) {
  (void)init, (void)path;
  for (size_t p = 0; p < parameters_.size(); ++p) parameters_[p].copy_(first_values(config_.parameters[p]));
}

// Pairs of positions at which a formula is looked at: fp32 [1, 1, n, 1].
struct Expression::Grid {
  Tensor i, j;

  // All positions below `length`, or the first ones and then ever fewer.
  static Tensor positions(int64_t length, int64_t whole) {
    const int64_t dense = std::min(length, whole);
    std::vector<int64_t> far;
    for (int64_t p = 1; p < length; p *= 2)
      if (p >= dense) far.push_back(p);
    if (length > dense) far.push_back(length - 1);
    return at::cat({at::arange(dense), at::tensor(far, at::kLong)}).to(at::kFloat);
  }
  static Grid of_differences(int64_t length, bool ahead) {
    constexpr int64_t kWhole = 4096;
    const Tensor distance = positions(length, kWhole), none = at::zeros_like(distance);
    return ahead ? made(at::cat({distance, none}), at::cat({none, distance})) : made(distance, none);
  }
  static Grid of_pairs(int64_t length, bool ahead) {
    constexpr int64_t kWhole = 256;
    const Tensor one = positions(length, kWhole), i = one.unsqueeze(1).expand({-1, one.size(0)}),
                 j = one.unsqueeze(0).expand({one.size(0), -1});
    return ahead ? made(i.flatten(), j.flatten()) : made(i.masked_select(j <= i), j.masked_select(j <= i));
  }
  static Grid made(const Tensor& i, const Tensor& j) { return {i.view({1, 1, -1, 1}), j.view({1, 1, -1, 1})}; }
  FormulaPlace place(int64_t count) const {
    const Tensor rows = i.slice(2, 0, count), columns = j.slice(2, 0, count);
    return {rows, columns, at::maximum(rows, columns) + 1};
  }
  int64_t size() const { return i.size(2); }
  std::string text(int64_t n) const {
    return fmt::format("at i = {}, j = {}", number_text(i.flatten()[n].item<double>()),
                       number_text(j.flatten()[n].item<double>()));
  }
};

std::optional<std::string> Expression::defect(int64_t length, bool ahead) const {
  const c10::InferenceMode ordinary(false);
  const at::NoGradGuard plain;
  const Grid grid = relative_ ? Grid::of_differences(length, ahead) : Grid::of_pairs(length, ahead);
  std::vector<Tensor> first;
  for (const auto& p : config_.parameters) first.push_back(first_values(p));
  try {
    const Tensor values = formula_values(formula_, grid.place(grid.size()), first, heads_);
    const Tensor wrong = values.isfinite().logical_not().nonzero();  // rows of (0, head, n, 0)
    if (wrong.size(0) == 0) return defect_of_gradient(grid);
    const auto head = wrong[0][1].item<int64_t>(), n = wrong[0][2].item<int64_t>();
    return fmt::format(
        "the bias is {} {} (head {}); it must be finite wherever a query looks, as log(1 + x) is, or "
        "x/max(y, 1)",
        number_text(values[0][head][n][0].item<double>()), grid.text(n), head);
  } catch (const FormulaRowError& error) {
    return fmt::format("the formula, {}, {}", grid.text(error.element % grid.size()),
                       row_error_text(error, config_.parameters));
  }
}

std::optional<std::string> Expression::defect_of_gradient(const Grid& grid) const {
  const at::AutoGradMode on(true);
  std::vector<Tensor> first;
  for (const auto& p : config_.parameters) first.push_back(first_values(p).requires_grad_());
  // The first parameter without a finite gradient of the first `count` values; none: the size.
  const auto poisoned = [&](int64_t count) {
    const Tensor sum = formula_values(formula_, grid.place(count), first, heads_).sum();
    if (!sum.requires_grad()) return first.size();
    sum.backward();
    size_t found = first.size();
    for (size_t p = first.size(); p-- > 0;) {
      if (first[p].grad().defined() && !first[p].grad().isfinite().all().item<bool>()) found = p;
      first[p].mutable_grad() = Tensor();
    }
    return found;
  };
  if (poisoned(grid.size()) == first.size()) return std::nullopt;
  int64_t good = 0, bad = grid.size();
  while (bad - good > 1) {
    const int64_t middle = (good + bad) / 2;
    (poisoned(middle) == first.size() ? good : bad) = middle;
  }
  return fmt::format(
      "the gradient of {} is not finite {}: training would be poisoned there; keep learned numbers out of "
      "a root or power of what may be 0",
      config_.parameters[poisoned(bad)].name, grid.text(bad - 1));
}

void Expression::require_sound(int64_t length, bool ahead) const {
  const std::lock_guard lock(sound_.looking);
  if (length <= sound_.below && (sound_.ahead || !ahead)) return;
  const int64_t below = std::max(sound_.below, length);
  const bool both = sound_.ahead || ahead;
  const auto found = defect(below, both);
  require<ConfigError>(!found, "expression: {}", found.value_or(""));
  sound_.below = below;
  sound_.ahead = both;
}

std::optional<std::string> Expression::refuses_length(int64_t length) const {
  const std::lock_guard lock(sound_.looking);
  if (length <= sound_.below) return std::nullopt;
  if (!defect(2 * length, sound_.ahead)) {  // decoding asks for one more each time
    sound_.below = 2 * length;
    return std::nullopt;
  }
  return defect(length, sound_.ahead);
}

// What both biases share: the formula on the parameters of one layer.
struct Expression::Whole {
  Whole(const Expression& owner, const AttentionPass& pass)
      : formula(owner.formula_),
        described(owner.config_.parameters),
        heads(owner.heads_),
        type(score_type(pass)),
        back_only(looks_back_only(pass)) {
    for (const Tensor& p : owner.parameters_) parameters.push_back(owner.sets_.of(p, pass.layer).to(type));
  }
  Tensor values(const FormulaPlace& place) const {
    try {
      return formula_values(formula, place, parameters, heads);
    } catch (const FormulaRowError& error) {
      throw ConfigError(fmt::format("expression: the formula {}", row_error_text(error, described)));
    }
  }

  Formula formula;
  std::vector<Parameter> described;
  int64_t heads;
  at::ScalarType type;
  bool back_only;
  std::vector<Tensor> parameters;
};

// Of i - j alone: j is set to 0.
struct Expression::ByOffset final : OffsetBias {
  ByOffset(const AttentionPass& pass, Whole whole) : OffsetBias(pass, whole.parameters), whole_(std::move(whole)) {}
  Tensor at(const Tensor& offset) const override {
    const Tensor distance = (whole_.back_only ? offset.clamp_max(0) : offset).neg().to(whole_.type);
    return whole_.values({distance, at::scalar_tensor(0.0, distance.options())});
  }
  Whole whole_;
};

struct Expression::ByPair final : ScoreBias {
  ByPair(const AttentionPass& pass, Whole whole) : q_(pass.q), k_(pass.k), whole_(std::move(whole)), mask_(pass.mask) {}
  std::vector<Tensor> inputs() const override { return whole_.parameters; }
  Tensor tile(const Tile& t, const Tensor& q, const Tensor& k) const override {
    (void)q, (void)k;
    const Tensor rows = q_.slice(t.q0, t.q1).index, columns = k_.slice(t.k0, t.k1).index;
    const Tensor i = rows.unsqueeze(1).unsqueeze(3), j = columns.unsqueeze(1).unsqueeze(1);
    const Tensor seen = whole_.back_only ? at::minimum(j, i) : j;
    const Tensor length = !whole_.formula.uses(FormulaOp::length) ? Tensor() : whole_.back_only ? i + 1 : lengths(t);
    return whole_.values({i.to(whole_.type), seen.to(whole_.type), length.defined() ? length.to(whole_.type) : length});
  }
  // Of the row, or of the document in it that a query belongs to: [1|B, 1, 1|q, 1]. Padding alone counts as one token,
  // so that formulas may divide by it.
  Tensor lengths(const Tile& t) const { return counted(t).clamp_min(1); }
  Tensor counted(const Tile& t) const {
    Tensor index = k_.index;
    if (mask_.keys.defined()) index = at::where(mask_.keys, index, -1);
    if (!mask_.q_segment.defined()) return index.amax({1}, /*keepdim=*/true).unsqueeze(1).unsqueeze(1) + 1;
    const Tensor same = mask_.q_segment.slice(1, t.q0, t.q1).unsqueeze(2) == mask_.k_segment.unsqueeze(1);
    return at::where(same, index.unsqueeze(1), -1).amax({2}, true).unsqueeze(1) + 1;
  }
  Positions q_, k_;
  Whole whole_;
  Mask mask_;
};

std::shared_ptr<const ScoreBias> Expression::scores(const AttentionPass& pass) {
  refuse_coords(pass, kKind, "time_decay");
  if (!looks_back_only(pass)) require_sound(0, /*ahead=*/true);  // at the lengths that are in use
  Whole whole(*this, pass);
  if (relative_) return std::make_shared<ByOffset>(pass, std::move(whole));
  return std::make_shared<ByPair>(pass, std::move(whole));
}

}  // namespace ordo
