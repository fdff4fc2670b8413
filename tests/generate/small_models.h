// SPDX-License-Identifier: Apache-2.0
// Small decoders that write, and prompts for them.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ordo/config/config.h"
#include "ordo/generate/generate.h"

namespace ordo::test {

using Row = std::vector<int64_t>;
using Rows = std::vector<Row>;

struct ModelFile {
  Choice<Model> model;
};
inline void fields(Fields& f, ModelFile& c) { f("model", c.model, "model"); }

// A decoder of 11 tokens whose weights are large enough that its choices differ.
inline std::shared_ptr<Model> small_model(const std::string& position, uint64_t seed = 3, int64_t vocab_size = 11) {
  ModelFile file;
  load_config_text(
      "model: {kind: decoder, dim: 16, layers: 2, max_length: 24, attention: {heads: 2}, init: {std: 0.5}, dropout: "
      "0.2, position: " +
          position + "}",
      walk_of(file), {});
  return models().build(file.model, {.vocab_size = vocab_size, .max_length = 24, .seed = seed});
}

inline const Rows kUneven{{1, 2, 3}, {4}, {5, 6, 7, 8, 9, 10, 0}, {2, 2}};

inline std::vector<Prompt> prompts_of(const Rows& rows) {
  std::vector<Prompt> prompts;
  for (const Row& row : rows) prompts.push_back({.ids = row});
  return prompts;
}

inline std::vector<Answer> answers_to(const Ensemble& models, const Prompt& prompt, const GenerateConfig& config) {
  return generate(models, {prompt}, config).at(0);
}

// The first answer to each prompt.
inline Rows first_ids(const Answers& answers) {
  Rows rows;
  for (const auto& of_prompt : answers) rows.push_back(of_prompt.at(0).ids);
  return rows;
}

}  // namespace ordo::test
