// SPDX-License-Identifier: Apache-2.0
// Models that speak with one voice.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ordo/models/model.h"

namespace ordo {

// One model, or several of one vocabulary whose probabilities are averaged token by token. The models must outlive it.
class Ensemble {
 public:
  Ensemble(Model& model) : models_{&model} {}  // implicit: a model is an ensemble of one
  // Throws ConfigError when there is none, or when vocabularies differ in size or some models alone read a source.
  explicit Ensemble(std::vector<Model*> models);

  const std::vector<Model*>& models() const { return models_; }
  int64_t vocab_size() const { return models_.front()->head().weight().size(0); }
  bool reads_source() const { return models_.front()->reads_source(); }
  // Why a row of this many tokens cannot be served by all of them; nothing if it can.
  std::optional<std::string> refuses_length(int64_t length) const;
  int64_t max_length() const;  // the least of theirs

 private:
  std::vector<Model*> models_;
};

// While it lives the models are in evaluation mode; afterwards each is as it was.
class EvaluationMode {
 public:
  explicit EvaluationMode(const Ensemble& models);
  ~EvaluationMode();
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  std::vector<Model*> models_;
  std::vector<bool> training_;
};

}  // namespace ordo
