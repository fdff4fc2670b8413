// SPDX-License-Identifier: Apache-2.0
// Attention: all kernels compute the same, its weights sum to one, and who sees nothing gets nothing.
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <fmt/format.h>

#include <algorithm>

#include "ordo/certify/checks.h"
#include "ordo/core/text.h"
#include "ordo/models/probe.h"

namespace ordo::certify_checks {

namespace {

constexpr const char* kReference = "eager";

// Calls work(), which is false when a kernel refused in words.
template <class Work>
bool unless_refused(const Work& work) {
  try {
    work();
    return true;
  } catch (const KernelRefusal&) {
    return false;
  }
}

std::vector<std::string> kernel_kinds() {
  std::vector<std::string> kinds{""};  // the config's own, with its settings
  for (const auto& k : kernels().kinds())
    if (k.kind != kReference) kinds.emplace_back(k.kind);
  return kinds;
}

struct Agreement {
  double values = 0.0, gradients = 0.0;
  std::vector<std::string> agreeing, refusing;
};

Agreement compare_kernels(Lab& lab, const LabRows& rows) {
  Model& reference = lab.model({.kernel = kReference});
  const Tensor values = lab.hidden(reference, rows);
  const NamedGradients gradients = training_gradients(reference, rows);
  Agreement all;
  for (const std::string& kind : kernel_kinds()) {
    double values_here = 0.0, gradients_here = 0.0;
    const bool ran = unless_refused([&] {
      Model& model = lab.model({.kernel = kind});
      values_here = difference(lab.hidden(model, rows), values);
      unless_refused([&] { gradients_here = gradients_differ(training_gradients(model, rows), gradients); });
    });
    if (!kind.empty()) (ran ? all.agreeing : all.refusing).push_back(kind);
    all.values = std::max(all.values, values_here);
    all.gradients = std::max(all.gradients, gradients_here);
  }
  return all;
}

// Collects the weights of every layer.
class Weights final : public Probe {
 public:
  bool wants_weights(int64_t) const override { return true; }
  void weights(int64_t layer, const Tensor& weights) override { found.emplace_back(layer, weights.detach()); }
  std::vector<std::pair<int64_t, Tensor>> found;
};

struct RowSums {
  double seeing = 0.0, blind = 0.0;  // largest |sum over visible keys - 1|; largest weight of rows that see nothing
};

RowSums row_sums(Lab& lab, Model& model, const LabRows& rows) {
  const at::NoGradGuard no_grad;
  Weights weights;
  model.forward({.ids = rows.ids, .at = rows.at, .mask = rows.mask, .probe = &weights});
  RowSums sums;
  const auto layers = lab.attentions(model);
  for (const auto& [layer, w] : weights.found) {
    Mask mask = rows.mask.with_window(layers.at(static_cast<size_t>(layer))->settings().window);
    mask.causal = model.causal();
    const Tensor visible = mask.tile({0, w.size(2), 0, w.size(3)}, w.device()).expand_as(w);
    const Tensor sees = visible.any(-1), sum = w.masked_fill(visible.logical_not(), 0.0).sum(-1);
    if (const Tensor off = (sum - 1.0).abs().masked_select(sees); off.numel() > 0)
      sums.seeing = std::max(sums.seeing, off.max().item<double>());
    if (const Tensor left = w.abs().sum(-1).masked_select(sees.logical_not()); left.numel() > 0)
      sums.blind = std::max(sums.blind, left.max().item<double>());
  }
  return sums;
}

// Row 0 left-padded, row 1 all padding, row 2 whole.
LabRows with_a_blind_row(const Lab& lab, int64_t n, uint64_t key) {
  Tensor keys = at::ones({3, n}, at::TensorOptions(at::kBool).device(lab.device()));
  keys[0].slice(0, 0, n / 4).fill_(false);
  keys[1].fill_(false);
  LabRows rows{.ids = lab.ids(3, n, key), .at = from_padding(keys)};
  rows.mask.keys = keys;
  return rows;
}

std::vector<std::string> weighing_kernels() {
  std::vector<std::string> kinds;
  for (const auto& k : kernels().kinds())
    if (k.kind != "auto" &&
        kernels().build(k.kind, {.dim = 8, .heads = 1, .kv_heads = 1, .head_dim = 8})->traits().weights)
      kinds.emplace_back(k.kind);
  return kinds;
}

}  // namespace

Property kernels_agree(Lab& lab) {
  const Agreement all = compare_kernels(lab, lab.rows(2, lab.length(), 41));
  const auto forms = forms_differ(lab);
  std::string why = fmt::format("{} against {}: outputs {:.1g}, gradients {:.1g}", join(all.agreeing, ", "), kReference,
                                all.values, all.gradients);
  if (!all.refusing.empty()) why += fmt::format("; refused by {}", join(all.refusing, ", "));
  if (forms) why += fmt::format("; the forms of its biases (tiles, keys, offsets) against the whole: {:.1g}", *forms);
  return at_most(std::max({all.values, all.gradients, forms.value_or(0.0)}), kReordered, std::move(why));
}

Property rows_sum_to_one(Lab& lab) {
  const LabRows rows = with_a_blind_row(lab, lab.length(), 51);
  double worst = 0.0;
  for (const std::string& kind : weighing_kernels())
    worst = std::max(worst, row_sums(lab, lab.model({.kernel = kind}), rows).seeing);
  return at_most(
      worst, kSame,
      fmt::format("weights over visible keys, in rows with and without padding ({})", join(weighing_kernels(), ", ")));
}

Property masked_rows_are_zero(Lab& lab) {
  const int64_t n = lab.length(), kept = n / 2;
  const LabRows rows = with_a_blind_row(lab, n, 61);
  LabRows changed = rows;
  changed.ids = lab.ids(3, n, 62);
  changed.ids.select(1, kept).copy_(rows.ids.select(1, kept));
  double worst = 0.0;
  for (const std::string& kind : weighing_kernels())
    worst = std::max(worst, row_sums(lab, lab.model({.kernel = kind}), rows).blind);
  std::vector<std::string> seen;
  for (const std::string& kind : kernel_kinds())
    unless_refused([&] {
      Model& model = lab.model({.kernel = kind});
      worst = std::max(worst, difference(lab.hidden(model, changed)[1][kept], lab.hidden(model, rows)[1][kept]));
      if (!kind.empty()) seen.push_back(kind);
    });
  return at_most(worst, kSame,
                 fmt::format("a row that is all padding: no weights, and no token sees another ({})", join(seen, ", ")),
                 "a row that is all padding still has weights, or its tokens see each other");
}

}  // namespace ordo::certify_checks
