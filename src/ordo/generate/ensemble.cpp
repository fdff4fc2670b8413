// SPDX-License-Identifier: Apache-2.0
#include "ordo/generate/ensemble.h"

#include <algorithm>
#include <utility>

#include "ordo/core/errors.h"

namespace ordo {

Ensemble::Ensemble(std::vector<Model*> models) : models_(std::move(models)) {
  require<ConfigError>(!models_.empty(), "an ensemble needs at least one model");
  for (size_t i = 1; i < models_.size(); ++i) {
    const int64_t size = models_[i]->head().weight().size(0);
    require<ConfigError>(size == vocab_size(),
                         "models of one ensemble need one vocabulary: the first has {} ids, model {} has {}",
                         vocab_size(), i + 1, size);
    require<ConfigError>(models_[i]->reads_source() == reads_source(),
                         "models of one ensemble must read the same: the first {} a source, model {} {}",
                         reads_source() ? "reads" : "does not read", i + 1, reads_source() ? "does not" : "does");
  }
}

std::optional<std::string> Ensemble::refuses_length(int64_t length) const {
  for (Model* const model : models_)
    if (auto refusal = model->refuses_length(length)) return refusal;
  return std::nullopt;
}

int64_t Ensemble::max_length() const {
  int64_t least = models_.front()->max_length();
  for (const Model* const model : models_) least = std::min(least, model->max_length());
  return least;
}

EvaluationMode::EvaluationMode(const Ensemble& models) : models_(models.models()) {
  for (Model* const model : models_) {
    training_.push_back(model->is_training());
    model->eval();
  }
}

EvaluationMode::~EvaluationMode() {
  for (size_t i = 0; i < models_.size(); ++i) models_[i]->train(training_[i]);
}

}  // namespace ordo
