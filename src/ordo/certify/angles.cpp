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

struct Reader {
  Model& model;
  const MultiHeadAttention* attention;  // of a layer that the encoding acts in
  Tensor angles;                        // frequency x place: [M, P]
  at::ScalarType type;

  std::optional<double> read(const Positions& at) const {
    PositionEncoding& position = model.position();
    const Places places = position.traits().places;
    std::optional<double> worst;
    const auto take = [&](std::optional<double> error) {
      if (error) worst = std::max(worst.value_or(0.0), *error);
    };
    if (places.query_key && attention != nullptr) {
      const Tensor turns = turns_of_queries(position, attention->settings(), at, type);
      const Tensor still = at::zeros({1, at.length()}, at::kDouble);
      if (turns.defined()) take(largest(nearest_curve(turns, at::cat({angles.cos().acos(), still}, 0))));
    }
    if (places.input) {
      const auto options = at::TensorOptions(type).device(at.index.device());
      const Tensor added = position.input(at::zeros({1, at.length(), model.dim()}, options), at)[0];
      take(largest(
          nearest_curve(added.to(at::kCPU, at::kDouble).transpose(0, 1), at::cat({angles.sin(), angles.cos()}, 0))));
    }
    return worst;
  }
};

// Positions as they are, and as coordinates on one axis or more: an encoding of rows and columns takes those.
std::vector<Positions> as_coordinates(const Positions& at) {
  std::vector<Positions> forms{at};
  for (int64_t axes = 1; axes <= 3; ++axes)
    forms.push_back(
        {.index = at.index, .coords = at.index.to(at::kFloat).unsqueeze(-1).expand({-1, -1, axes}).contiguous()});
  return forms;
}

}  // namespace

std::optional<AngleError> angle_error(Lab& lab, at::ScalarType type) {
  constexpr int64_t kFarthest = 1 << 15;
  Model& model = lab.model();
  const int64_t length = std::min(model.max_length(), kFarthest);
  const Tensor frequencies = model.position().frequencies(length);
  if (!frequencies.defined() || frequencies.numel() == 0) return std::nullopt;
  const at::NoGradGuard no_grad;
  const AutocastScope plain(lab.device().type(), no_autocast());
  const Positions at = spread(length, lab.device());
  Reader reader{.model = model, .attention = nullptr, .angles = {}, .type = type};
  reader.angles =
      frequencies.detach().to(at::kCPU, at::kDouble).flatten().unsqueeze(1) * at.index.to(at::kCPU, at::kDouble);
  for (const MultiHeadAttention* attention : lab.attentions(model))
    if (reader.attention == nullptr && model.position().acts_in(attention->settings().layer))
      reader.attention = attention;
  std::optional<double> best;
  for (const Positions& form : as_coordinates(at)) {
    try {
      if (const auto found = reader.read(form)) best = std::min(best.value_or(*found), *found);
    } catch (const Error&) {  // no encoding of such coordinates
    }
  }
  if (!best) return std::nullopt;
  return AngleError{*best, length};
}

}  // namespace ordo::certify_checks
