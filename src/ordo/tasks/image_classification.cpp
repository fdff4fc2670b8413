// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/image_classification.h"

#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <algorithm>

#include "ordo/config/config.h"
#include "ordo/data/image_file.h"
#include "ordo/data/kept_files.h"
#include "ordo/models/signal_text.h"

namespace ordo {

namespace {

constexpr NamedValue kLabelColumns[] = {{"first", static_cast<int>(LabelColumn::first)},
                                        {"last", static_cast<int>(LabelColumn::last)}};

const fs::path& images_of(const ImageDataConfig& c, Split split) {
  return split == Split::train ? c.train : split == Split::validation ? c.validation : c.test;
}
const fs::path& labels_of(const ImageDataConfig& c, Split split) {
  return split == Split::train ? c.train_labels : split == Split::validation ? c.validation_labels : c.test_labels;
}

SignalFacts facts_of(const Tensor& image) {
  return {.channels = image.size(0), .height = image.size(1), .width = image.size(2)};
}

void check_image_data(const ImageDataConfig& c) {
  require<ConfigError>(c.train.empty() == c.generate.has_value(),
                       "give one of task.data.train (a table, an IDX file, or a folder of a folder for each class) and "
                       "task.data.generate");
  bool tables = false;
  for (const Split split : kSplits) {
    const bool given = !images_of(c, split).empty();
    require<ConfigError>(given || labels_of(c, split).empty(),
                         "task.data.{0}_labels are labels of task.data.{0}: give "
                         "it, or leave them out",
                         split_name(split));
    require<ConfigError>(!given || !c.generate,
                         "task.data.generate makes {0} images of its own: leave task.data.{0} out", split_name(split));
    tables = tables || (given && is_image_table(images_of(c, split)));
  }
  require<ConfigError>(!c.generate || c.on_bad_line == OnBadLine::stop,
                       "task.data.on_bad_line is of files, and the images are made: leave it out");
  require<ConfigError>(tables || !c.table.given(),
                       "task.data.label, header and shape say how tables (.csv, .tsv) are read, and there are none: "
                       "leave them out");
}

}  // namespace

void fields(Fields& f, ImageDataConfig& c) {
  f("train", c.train,
    "images: a table (.csv, .tsv) of a row for each, pixels and label; an IDX file; or a folder that holds one of PNG "
    "or "
    "JPEG files for each class");
  f("train_labels", c.train_labels, "IDX file of the labels of train, where that is one of images");
  f("validation", c.validation, "images of the validation split");
  f("validation_labels", c.validation_labels, "their labels");
  f("test", c.test, "images of the test split");
  f("test_labels", c.test_labels, "their labels");
  f("label", c.table.label, "column of the label in a table; absent: last", kLabelColumns);
  f("header", c.table.header, "the first row of a table names its columns; absent: it is an image");
  f("shape", c.table.shape, "rows and columns of the images in a table; absent: as many of both", within(1, 1 << 14));
  f("on_bad_line", c.on_bad_line,
    "a row or a file that cannot be read, or is of another size than most, ends the run, or is left out and counted; "
    "not of IDX files",
    kOnBadLine);
  f("generate", c.generate, "in place of files: bright bars in noise, horizontal or vertical");
}

void fields(Fields& f, ImageClassification::Config& c) {
  f("data", c.data, "images and their classes");
  fields(f, static_cast<SignalTaskConfig&>(c));
}

ImageClassification::ImageClassification(const Config& config, const TaskFacts& facts)
    : SignalTask(config, facts, settings_text(config)), data_(config.data) {
  check_image_data(data_);
  require_split();
}

bool ImageClassification::gives(Split split) const { return makes() || !images_of(data_, split).empty(); }

std::vector<fs::path> ImageClassification::sources(Split split) const {
  if (labels_of(data_, split).empty()) return {images_of(data_, split)};
  return {images_of(data_, split), labels_of(data_, split)};
}

std::vector<SignalExample> ImageClassification::read(Split split, BadLines& bad) const {
  if (makes()) return made_bars(*data_.generate, seed(), split);
  return read_labelled_images(images_of(data_, split), labels_of(data_, split), data_.table, bad);
}

SignalFacts ImageClassification::signal() const { return facts_of(all(Split::train).front().signal); }

Tensor ImageClassification::coloured(const Tensor& image) const {
  return image.size(0) == 1 ? image.expand({signal().channels, -1, -1}).contiguous() : image;
}

// Like those of training: a table's pixels have a scale of their own.
std::optional<ClassTask::InputKind> ImageClassification::input_kind() const {
  if (makes()) return std::nullopt;
  if (is_image_table(data_.train)) return InputKind{.name = "the pixels of an image, apart by commas"};
  return InputKind{.name = "a PNG or JPEG file", .is_file = true};
}

Tensor ImageClassification::read_input(const PredictorInput& input, int64_t length) const {
  (void)length;
  const SignalFacts wanted = signal();
  if (is_image_table(data_.train))
    return at::tensor(listed_numbers(input, wanted.height * wanted.width)).view({1, wanted.height, wanted.width});
  const Tensor image = coloured(read_image(input.text));
  require<DataError>(image.sizes() == at::IntArrayRef({wanted.channels, wanted.height, wanted.width}),
                     "{}: expected {}, as in training, found {}", input.where, signal_text(wanted),
                     signal_text(facts_of(image)));
  return image;
}

int64_t ImageClassification::row_length(int64_t length) const {
  (void)length;
  const SignalFacts facts = signal();
  return facts.height * facts.width;
}

std::optional<std::string> ImageClassification::refuses_length(Split split, int64_t length) const {
  if (!has(split)) return std::nullopt;
  const Tensor first = coloured(all(split).front().signal);
  const SignalFacts facts = signal();
  if (first.sizes() != at::IntArrayRef{facts.channels, facts.height, facts.width})
    return fmt::format("{} has {}, but training has {}: all must be of one size", split_name(split),
                       signal_text(facts_of(first)), signal_text(facts));
  const int64_t side = std::max(facts.height, facts.width);
  if (length == side) return std::nullopt;
  return fmt::format(
      "the images have {} rows and {} columns of pixels, and the length counts the longer side: {} must be {}",
      facts.height, facts.width, length, side);
}

std::string ImageClassification::sizes_text() const { return signal_text(signal()); }

Batch ImageClassification::side_by_side(std::span<const SignalExample* const> examples, int64_t length) const {
  (void)length;
  std::vector<Tensor> images;
  for (const auto* example : examples) images.push_back(coloured(example->signal));
  Batch batch;
  batch.signal = standardised(at::stack(images), 1);
  return batch;
}

int64_t ImageClassification::length_of(const SignalExample& example, int64_t length) const {
  (void)example, (void)length;
  return 0;
}

}  // namespace ordo
