// SPDX-License-Identifier: Apache-2.0
// A small study and its base config, in a folder of the test's own.
#pragma once
#include <string>
#include <vector>

#include "ordo/core/log.h"
#include "ordo/study/plan.h"
#include "support/program.h"

namespace ordo::test {

inline constexpr std::string_view kSampleBase = R"(task:
  kind: language_modeling
  tokenizer: char
  data: {generate: {kind: chase, sentences: 20, held_out: 5}}
model:
  kind: decoder
  dim: 16
  layers: 1
  attention: {heads: 2}
  position: rope
train:
  steps: 4
  batch_size: 2
  length: 16
  optimizer: {kind: adamw, lr: 1e-3}
)";
inline constexpr std::string_view kSampleStudy = R"(# Which encoding is best?
base: base.yaml
vary:
  encoding:
    none: {model.position: none}
    rope: {model.position: {kind: rope}}
    alibi: {model.position: {kind: alibi}}
seeds: [1, 2]
evaluate: {lengths: [16, 32]}
compare: {metric: loss, length: 16, against: none}
claims:
  - {name: order, order: [rope, none], length: 16}
)";

class SampleFolder {
 public:
  SampleFolder() {
    log::set_level(log::Level::warning);
    scratch_.write("base.yaml", std::string(kSampleBase));
  }
  fs::path write(const std::string& text, const std::string& name = "study.yaml") const {
    return scratch_.write(name, text);
  }
  StudyConfig load(const std::string& text, const std::vector<std::string>& overrides = {}) const {
    return load_study(write(text), overrides);
  }
  Plan plan(const std::string& text, const std::vector<std::string>& overrides = {},
            const std::vector<std::string>& only = {}) const {
    Plan plan = make_plan(load(text, overrides));
    keep_only(plan, only);
    return plan;
  }
  const Scratch& scratch() const { return scratch_; }

 private:
  Scratch scratch_;
};

// The sample with one part of it replaced.
inline std::string study_with(std::string_view found, std::string_view replaced) {
  std::string text(kSampleStudy);
  const size_t at = text.find(found);
  if (at == std::string::npos) throw std::logic_error("the sample study has no " + std::string(found));
  return text.replace(at, found.size(), replaced);
}
// The sample with keys of its own at the end.
inline std::string study_and(const std::string& more) { return std::string(kSampleStudy) + more; }

}  // namespace ordo::test
