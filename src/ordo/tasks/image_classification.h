// SPDX-License-Identifier: Apache-2.0
// Classes of images of one size. train.length counts pixels a side, of the longer one.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ordo/tasks/labelled_images.h"
#include "ordo/tasks/made_signals.h"
#include "ordo/tasks/signal_task.h"

namespace ordo {

struct ImageDataConfig {
  fs::path train, validation, test;
  fs::path train_labels, validation_labels, test_labels;  // of IDX files
  TableImagesConfig table = {};
  std::optional<MadeBarsConfig> generate = {};  // in place of files
  OnBadLine on_bad_line = OnBadLine::stop;
};
void fields(Fields& f, ImageDataConfig& c);

class ImageClassification final : public SignalTask {
 public:
  struct Config : SignalTaskConfig {
    ImageDataConfig data;
  };
  static constexpr std::string_view kKind = "image_classification", kSummary = "classes of images";
  ImageClassification(const Config& config, const TaskFacts& facts);
  std::string_view kind() const override { return kKind; }
  int64_t row_length(int64_t length) const override;  // all pixels of an image
  std::optional<std::string> refuses_length(Split split, int64_t length) const override;
  std::optional<InputKind> input_kind() const override;

 protected:
  bool gives(Split split) const override;
  bool makes() const override { return data_.generate.has_value(); }
  std::vector<fs::path> sources(Split split) const override;
  OnBadLine on_bad_line() const override { return data_.on_bad_line; }
  std::vector<SignalExample> read(Split split, BadLines& bad) const override;
  Tensor read_input(const PredictorInput& input, int64_t length) const override;
  SignalFacts signal() const override;
  Tensor by_channel(const Tensor& signal) const override { return signal.flatten(1); }
  std::string sizes_text() const override;
  Batch side_by_side(std::span<const SignalExample* const> examples, int64_t length) const override;
  int64_t length_of(const SignalExample& example, int64_t length) const override;

 private:
  Tensor coloured(const Tensor& image) const;  // a grey one where training has colours, too
  ImageDataConfig data_;
};
void fields(Fields& f, ImageClassification::Config& c);

}  // namespace ordo
