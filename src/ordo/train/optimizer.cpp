// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/optimizer.h"

#include <algorithm>

#include "ordo/checkpoint/checkpoint.h"
#include "ordo/core/text.h"

namespace ordo {

namespace {
constexpr NamedValue kDecayList[] = {{"matrices", static_cast<int>(Decay::matrices)},
                                     {"all", static_cast<int>(Decay::all)}};

// True when one of the dotted parts of a name is `word`.
bool has_part(std::string_view name, std::string_view word) {
  const auto parts = split(name, '.');
  return std::find(parts.begin(), parts.end(), word) != parts.end();
}
}  // namespace

const std::span<const NamedValue> kDecays = kDecayList;

ParameterRole role_of(const std::string& name, const Tensor& parameter) {
  if (has_part(name, "position") || has_part(name, "cross_position")) return ParameterRole::position;
  if (has_part(name, "bias")) return ParameterRole::bias;
  if (parameter.dim() < 2) return ParameterRole::norm;
  if (has_part(name, "embedding")) return ParameterRole::embedding;
  return has_part(name, "head") ? ParameterRole::head : ParameterRole::matrix;
}

bool decays(ParameterRole role, Decay decay) {
  if (decay == Decay::all) return true;
  return role == ParameterRole::matrix || role == ParameterRole::embedding || role == ParameterRole::head;
}

void Optimizer::restore(const NamedTensors& from) { load_into(from, state(), "the optimiser's state"); }

}  // namespace ordo
