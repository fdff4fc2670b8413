// SPDX-License-Identifier: Apache-2.0
// Classes of sounds, as frames of log-mel features. train.length counts frames, of the longest sound.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ordo/data/bad_lines.h"
#include "ordo/data/log_mel.h"
#include "ordo/tasks/made_signals.h"
#include "ordo/tasks/signal_task.h"
#include "ordo/tasks/spec_augment.h"

namespace ordo {

struct SoundDataConfig {
  std::vector<fs::path> train, validation, test;
  std::string name;                              // empty: the class is the folder of a file
  std::optional<MadeTonesConfig> generate = {};  // in place of files
  OnBadLine on_bad_line = OnBadLine::stop;
};
void fields(Fields& f, SoundDataConfig& c);

class AudioClassification final : public SignalTask {
 public:
  struct Config : SignalTaskConfig {
    SoundDataConfig data;
    LogMelConfig features;
    TooLong too_long = TooLong::stop;
    SpecAugmentConfig augment;
  };
  static constexpr std::string_view kKind = "audio_classification", kSummary = "classes of sounds";
  AudioClassification(const Config& config, const TaskFacts& facts);
  std::string_view kind() const override { return kKind; }
  std::optional<std::string> refuses_length(Split split, int64_t length) const override;
  std::optional<InputKind> input_kind() const override;

 protected:
  bool gives(Split split) const override;
  bool makes() const override { return config_.data.generate.has_value(); }
  std::vector<fs::path> sources(Split split) const override;
  OnBadLine on_bad_line() const override { return config_.data.on_bad_line; }
  std::vector<SignalExample> read(Split split, BadLines& bad) const override;
  Tensor read_input(const PredictorInput& input, int64_t length) const override;
  SignalFacts signal() const override { return {.channels = config_.features.mels}; }
  Tensor by_channel(const Tensor& signal) const override { return signal.t(); }
  std::string sizes_text() const override;
  Batch side_by_side(std::span<const SignalExample* const> examples, int64_t length) const override;
  int64_t length_of(const SignalExample& example, int64_t length) const override;
  bool unequal_lengths() const override { return true; }
  Batch varied(const Batch& batch) const override;

 private:
  Config config_;
};
void fields(Fields& f, AudioClassification::Config& c);

}  // namespace ordo
