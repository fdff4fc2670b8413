// SPDX-License-Identifier: Apache-2.0
// From the values of a series to tokens: each step by itself, or patches of several steps (Nie et al. 2023), flattened
// and through a linear layer. Patches begin every `stride` steps; what is left over at the end is not read, unless
// `pad_end` first repeats the last step `stride` times, as PatchTST does.
#pragma once
#include <memory>

#include "ordo/models/input.h"

namespace ordo {

class ValueInput final : public InputLayer {
 public:
  struct Config {
    int64_t patch = 1, stride = 0;  // steps; stride 0: those of a patch
    bool pad_end = false;
  };
  static constexpr std::string_view kKind = "values",
                                    kSummary = "steps of a series, or patches of them, through a linear layer";
  // Throws ConfigError for data that are no rows of numbers, and for patches that leave steps out.
  ValueInput(const Config& config, const InputFacts& facts);
  // signal [B, L, C] -> [B, N, D]. A token stands where the last step of its patch does, in time (coords) too, and is
  // real when one of its steps is.
  Embedded forward(const ModelInput& in) override;
  std::optional<std::string> refuses_length(int64_t length) const override;  // rows shorter than a patch
  int64_t tokens(int64_t length) const override;                             // throws ConfigError for those
  double flops_per_token() const override;

 private:
  bool by_step() const { return config_.patch == 1 && config_.stride == 1 && !config_.pad_end; }
  int64_t padded() const { return config_.pad_end ? config_.stride : 0; }
  Tensor embed(const Tensor& patches) const;
  Config config_;
  int64_t channels_;
  std::shared_ptr<Linear> project_;  // child "project"; of a patch all steps of the first channel come first
};
void fields(Fields& f, ValueInput::Config& c);

}  // namespace ordo
