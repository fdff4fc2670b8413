// SPDX-License-Identifier: Apache-2.0
// The classes of inputs that nobody has judged.
#pragma once
#include "ordo/tasks/class_task.h"

namespace ordo {

class ClassPredictor final : public Predictor {
 public:
  explicit ClassPredictor(const ClassTask& task) : task_(task) {}  // outlives it
  std::string reads() const override { return task_.input_kind()->name; }
  bool reads_files() const override { return task_.input_kind()->is_file; }
  std::vector<Json> predict(Model& model, std::span<const PredictorInput> inputs, int64_t length) const override;
  std::string line(const Json& told, const PredictorInput& input) const override;

 private:
  Json told(std::span<const double> probabilities) const;
  const ClassTask& task_;
};

}  // namespace ordo
