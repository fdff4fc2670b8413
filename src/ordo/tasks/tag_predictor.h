// SPDX-License-Identifier: Apache-2.0
// The tags of sentences that nobody has tagged, in words apart by blanks.
#pragma once
#include "ordo/tasks/predictor.h"
#include "ordo/tasks/token_classification.h"

namespace ordo {

class TagPredictor final : public Predictor {
 public:
  // All outlive it.
  TagPredictor(const Tokenizer& tokenizer, const std::vector<std::string>& tags, TooLong too_long)
      : tokenizer_(tokenizer), tags_(tags), too_long_(too_long) {}
  std::string reads() const override { return "a sentence in words apart by blanks"; }
  // {"words": […], "tags": […], "probabilities": […]}; of a sentence that was cut those of its first words.
  std::vector<Json> predict(Model& model, std::span<const PredictorInput> inputs, int64_t length) const override;
  std::string line(const Json& told, const PredictorInput& input) const override;  // "Anna/B-PER sees/O"

 private:
  TokenClassification::Sentence sentence(const PredictorInput& input, int64_t length) const;
  const Tokenizer& tokenizer_;
  const std::vector<std::string>& tags_;
  TooLong too_long_;
};

}  // namespace ordo
