// SPDX-License-Identifier: Apache-2.0
// Small models without attention, from what would stand under `model` in a config.
#pragma once
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <memory>
#include <string>
#include <vector>

#include "ordo/config/config.h"
#include "support/models.h"

namespace ordo::test {

struct BaselineFile {
  Choice<Model> model;
};
inline void fields(Fields& f, BaselineFile& c) { f("model", c.model, "model"); }

// Of width 16, with embeddings large enough that choices differ, and a head of its own; unless `kind` says otherwise.
inline std::shared_ptr<Model> baseline(const std::string& kind, ModelFacts facts = {}) {
  std::string settings = "init: {embedding_std: 1.0}, " + kind;
  if (kind.find("dim:") == std::string::npos) settings += ", dim: 16";
  if (kind.find("tie_embeddings:") == std::string::npos) settings += ", tie_embeddings: false";
  BaselineFile file;
  load_config_text("model: {" + settings + "}", walk_of(file), {});
  if (facts.vocab_size == 0) facts.vocab_size = kSmallVocabulary;
  if (facts.max_length == 0) facts.max_length = kSmallLength;
  if (facts.seed == 0) facts.seed = 1;
  auto model = models().build(file.model, facts);
  model->eval();
  return model;
}

inline const std::vector<std::string> kCausalBaselines{
    "kind: lstm, layers: 2",
    "kind: lstm, layers: 1, bias: false",
    "kind: gru, layers: 2",
    "kind: cnn, layers: 3",
    "kind: cnn, layers: 2, kernel: 4, dilation: [1, 2], activation: relu",
};
inline const std::vector<std::string> kTwoSidedBaselines{
    "kind: lstm, layers: 2, bidirectional: true",
    "kind: gru, layers: 2, bidirectional: true",
    "kind: cnn, layers: 3, causal: false",
    "kind: cnn, layers: 2, causal: false, kernel: 5, dilation: 1, activation: relu",
};
inline const std::vector<std::string> kPairBaselines{
    "kind: lstm, layers: 2, cross_attention: additive",
    "kind: lstm, layers: 1, cross_attention: multiplicative",
    "kind: gru, layers: 2, cross_attention: multiplicative",
    "kind: gru, layers: 1, cross_attention: additive, bias: false",
};

inline Tensor evaluated(Model& model, const ModelInput& in, Cache* cache = nullptr) {
  const c10::NoGradGuard no_gradients;
  return model.forward(in, cache);
}

}  // namespace ordo::test
