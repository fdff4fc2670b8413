// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/class_predictor.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "ordo/config/words.h"
#include "ordo/core/text.h"
#include "ordo/tasks/class_judge.h"

namespace ordo {

std::vector<Json> ClassPredictor::predict(Model& model, std::span<const PredictorInput> inputs, int64_t length) const {
  ORDO_ASSERT(!model.is_training());
  const c10::NoGradGuard no_gradients;
  const auto set = task_.inputs(inputs, length);
  std::vector<uint64_t> numbers(inputs.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const Batch there = to_device(set->batch(numbers), model.head().weight().device());
  const Tensor logits = model.head().logits(model.pooled(input_of(there))).to(at::kCPU, at::kDouble);
  const Tensor found = (task_.several_labels() ? logits.sigmoid() : logits.softmax(1)).contiguous();
  std::vector<Json> all;
  const auto K = static_cast<size_t>(found.size(1));
  for (size_t i = 0; i < inputs.size(); ++i) all.push_back(told({found.data_ptr<double>() + i * K, K}));
  return all;
}

Json ClassPredictor::told(std::span<const double> probabilities) const {
  const auto& names = task_.classes();
  Json made = Json::object(), each = Json::object();
  for (size_t k = 0; k < names.size(); ++k) each[names[k]] = probabilities[k];
  if (task_.several_labels()) {
    made["classes"] = Json::array();
    for (size_t k = 0; k < names.size(); ++k)
      if (probabilities[k] >= kPredicted) made["classes"].push_back(names[k]);
  } else {
    const auto best = std::max_element(probabilities.begin(), probabilities.end());
    made["class"] = names[static_cast<size_t>(best - probabilities.begin())];
    made["probability"] = *best;
  }
  made["probabilities"] = std::move(each);
  return made;
}

std::string ClassPredictor::line(const Json& told, const PredictorInput& input) const {
  if (!told.contains("classes"))
    return fmt::format("{:.3f}  {}  {}", told["probability"].get<double>(), shown(told["class"].get<std::string>()),
                       input.text);
  std::vector<std::string> named;
  for (const auto& name : told["classes"])
    named.push_back(fmt::format("{} {:.3f}", shown(name.get<std::string>()),
                                told["probabilities"][name.get<std::string>()].get<double>()));
  return fmt::format("{}  {}", named.empty() ? "(none)" : join(named, ", "), input.text);
}

}  // namespace ordo
