// SPDX-License-Identifier: Apache-2.0
// The angles that an encoding really turns by, read off its own results.
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/atan2.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <vector>

#include "ordo/certify/checks.h"
#include "ordo/ops/autocast.h"

namespace ordo::certify_checks {

namespace {

// 0, 1, 2, 3, 5, 8, … and the last one.
Positions spread(int64_t length, at::Device device) {
  std::vector<int64_t> places{0};
  for (int64_t a = 1, b = 2; a < length - 1; b += a, a = b - a) places.push_back(a);
  if (length > 1) places.push_back(length - 1);
  return {.index = at::tensor(places, at::kLong).unsqueeze(0).to(device)};
}

// found [C, P], curves [M, P]: for each channel its distance from the nearest curve; [C].
Tensor nearest_curve(const Tensor& found, const Tensor& curves) {
  return std::get<0>((found.unsqueeze(1) - curves.unsqueeze(0)).abs().amax(2).min(1));
}

// Nothing when half of the channels follow no curve: the encoding does more than turn.
std::optional<double> largest(const Tensor& errors) {
  constexpr double kFollows = 0.05;
  if (errors.numel() == 0 || errors.median().item<double>() > kFollows) return std::nullopt;
  return errors.max().item<double>();
}

// Each unit vector is turned towards one other: the sizes of the angles, fp64 [E, P]; undefined when it is not so.
Tensor turns_of_queries(PositionEncoding& position, const AttentionLayer& layer, const Positions& at,
                        at::ScalarType type) {
  const int64_t E = layer.config.head_dim, P = at.length();
  const Tensor unit = at::eye(E, at::TensorOptions(type).device(at.index.device())).view({E, 1, 1, E});
  const Tensor turned = position.query(unit.expand({E, layer.config.heads, P, E}), at, layer.layer)
                            .select(1, 0)
                            .to(at::kCPU, at::kDouble);           // [E, P, E]
  const Tensor along = turned.diagonal(0, 0, 2).transpose(0, 1);  // [E, P]
  const Tensor aside = turned * (1.0 - at::eye(E, at::kDouble)).unsqueeze(1);
  const Tensor across = aside.abs().amax(2), rest = aside.abs().sum(2) - across;
  constexpr double kAlone = 0.02;
  if (rest.max().item<double>() > kAlone) return {};
  return at::atan2(across, along);
}

// What is read of one encoding, alone.
struct Reader {
  PositionEncoding& position;
  const AttentionLayer* layer;  // that it acts in; null: in none
  int64_t dim;
  Tensor angles;  // frequency x place: [M, P]
  at::ScalarType type;

  // LabRows that parameters project, scale or mix are no sines and cosines any more.
  bool adds_plain_rows() const { return position.traits().places.input && position.parameters().empty(); }

  std::optional<double> read(const Positions& at) const {
    std::optional<double> worst;
    const auto take = [&](std::optional<double> error) {
      if (error) worst = std::max(worst.value_or(0.0), *error);
    };
    if (position.traits().places.query_key && layer != nullptr) {
      const Tensor turns = turns_of_queries(position, *layer, at, type);
      const Tensor still = at::zeros({1, at.length()}, at::kDouble);
      if (turns.defined()) take(largest(nearest_curve(turns, at::cat({angles.cos().acos(), still}, 0))));
    }
    if (adds_plain_rows()) {
      const auto options = at::TensorOptions(type).device(at.index.device());
      const Tensor added = position.input(at::zeros({1, at.length(), dim}, options), at)[0];
      take(largest(
          nearest_curve(added.to(at::kCPU, at::kDouble).transpose(0, 1), at::cat({angles.sin(), angles.cos()}, 0))));
    }
    return worst;
  }
};

// Whole positions, of which tables may be kept: coordinates would go past those. Only an encoding that reads whole
// positions as places of a grid is given coordinates, equal on every axis.
Positions readable(const Reader& reader, const Positions& at) {
  const int64_t axes = reader.position.traits().takes_axes;
  if (axes < 2 || reader.layer == nullptr) return at;
  const Positions line{.index = at.index,
                       .coords = at.index.to(at::kFloat).unsqueeze(-1).expand({-1, -1, axes}).contiguous()};
  constexpr int64_t kFirst = 4;  // so near that halves of the bits are no other place
  constexpr double kApart = 0.05;
  const auto turns = [&](const Positions& p) {
    return turns_of_queries(reader.position, *reader.layer, p.slice(0, std::min(kFirst, p.length())), reader.type);
  };
  const Tensor by_index = turns(at), by_line = turns(line);
  const bool same = by_index.defined() && by_line.defined() && (by_index - by_line).abs().max().item<double>() < kApart;
  return same ? at : line;
}

}  // namespace

std::optional<AngleError> angle_error(Lab& lab, at::ScalarType type) {
  constexpr int64_t kFarthest = 1 << 15;
  Model& model = lab.model();
  const int64_t length = std::min(model.max_length(), kFarthest);
  const at::NoGradGuard no_grad;
  const AutocastScope plain(lab.device().type(), no_autocast());
  const Positions at = spread(length, lab.device());
  std::optional<AngleError> worst;
  for (PositionEncoding* part : lab.parts()) {
    const Tensor frequencies = part->frequencies(length);
    if (!frequencies.defined() || frequencies.numel() == 0) continue;
    Reader reader{.position = *part, .layer = nullptr, .dim = model.dim(), .angles = {}, .type = type};
    reader.angles =
        frequencies.detach().to(at::kCPU, at::kDouble).flatten().unsqueeze(1) * at.index.to(at::kCPU, at::kDouble);
    for (const MultiHeadAttention* attention : lab.attentions(model))
      if (reader.layer == nullptr && part->acts_in(attention->settings().layer)) reader.layer = &attention->settings();
    if (const auto error = reader.read(readable(reader, at)))
      worst = AngleError{std::max(*error, worst ? worst->radians : 0.0), length};
  }
  return worst;
}

}  // namespace ordo::certify_checks
