// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <map>

#include "ordo/checkpoint/checkpoint.h"
#include "ordo/core/errors.h"
#include "ordo/ops/type_name.h"

namespace ordo {

namespace {

constexpr size_t kMostListed = 10;

std::string shape_of(const at::Tensor& t) { return fmt::format("[{}]", fmt::join(t.sizes(), ", ")); }

// Why the one cannot be copied into the other; empty when it can.
std::string misfit(const std::string& name, const at::Tensor& from, const at::Tensor& into) {
  if (from.sizes() != into.sizes())
    return fmt::format("'{}' has shape {}, expected {}", name, shape_of(from), shape_of(into));
  if (from.is_floating_point() != into.is_floating_point())
    return fmt::format("'{}' is of type {}, expected {}", name, type_name(from.scalar_type()),
                       type_name(into.scalar_type()));
  return {};
}

std::string listed(const std::vector<std::string>& problems) {
  std::string text;
  for (size_t i = 0; i < std::min(problems.size(), kMostListed); ++i) text += "\n  " + problems[i];
  if (problems.size() > kMostListed) text += fmt::format("\n  and {} more", problems.size() - kMostListed);
  return text;
}

}  // namespace

void load_into(const NamedTensors& from, const NamedTensors& into, std::string_view what) {
  std::map<std::string_view, const at::Tensor*> given;
  for (const auto& [name, tensor] : from) given.emplace(name, &tensor);
  std::vector<std::string> problems;
  std::vector<std::pair<const at::Tensor*, const at::Tensor*>> copies;
  for (const auto& [name, tensor] : into) {
    const auto found = given.find(name);
    if (found == given.end()) {
      problems.push_back(fmt::format("'{}' is missing", name));
      continue;
    }
    if (std::string why = misfit(name, *found->second, tensor); !why.empty()) problems.push_back(std::move(why));
    copies.emplace_back(found->second, &tensor);
    given.erase(found);
  }
  for (const auto& [name, tensor] : given)
    problems.push_back(fmt::format("'{}' of shape {} is unknown here", name, shape_of(*tensor)));
  require<CheckpointError>(problems.empty(), "{} does not fit: {} of {} tensors{}", what, problems.size(), from.size(),
                           listed(problems));
  const at::NoGradGuard no_grad;
  for (const auto& [source, target] : copies) target->copy_(*source);
}

}  // namespace ordo
