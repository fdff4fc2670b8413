// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/labelled_images.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ordo/data/bad_lines.h"
#include "ordo/data/idx_file.h"
#include "ordo/data/image_file.h"
#include "ordo/data/labelled_files.h"
#include "ordo/data/packed_file.h"
#include "ordo/data/table_file.h"

namespace ordo {

namespace {

// Rows and columns of images of so many pixels.
std::pair<int64_t, int64_t> table_shape(const TableImagesConfig& config, int64_t pixels, const fs::path& path) {
  if (config.shape.empty()) {
    const auto side = std::llround(std::sqrt(static_cast<double>(pixels)));
    require<ConfigError>(side * side == pixels,
                         "{}: the {} columns beside the label are no square of pixels; give task.data.shape: [rows, "
                         "columns]",
                         path.string(), pixels);
    return {side, side};
  }
  require<ConfigError>(config.shape.size() == 2, "task.data.shape is rows and columns, found {} numbers",
                       config.shape.size());
  require<ConfigError>(config.shape[0] * config.shape[1] == pixels,
                       "{}: task.data.shape ({} x {}) has {} pixels, but there are {} columns beside the label",
                       path.string(), config.shape[0], config.shape[1], config.shape[0] * config.shape[1], pixels);
  return {config.shape[0], config.shape[1]};
}

std::vector<SignalExample> read_table_images(const fs::path& path, const TableImagesConfig& config) {
  BadLines strict;
  const TableFile table =
      read_table(path, {.format = table_format(path), .header = config.header.value_or(false)}, strict);
  require<DataError>(table.width() >= 2, "{}: a row is the pixels of an image and its label, found one column",
                     path.string());
  const size_t first = config.label == LabelColumn::first ? 1 : 0, label = first == 1 ? 0 : table.width() - 1;
  const auto pixels = static_cast<int64_t>(table.width()) - 1;
  const auto [rows, columns] = table_shape(config, pixels, path);
  const Tensor images = at::empty({std::ssize(table.rows), 1, rows, columns}, at::kFloat);
  float* place = images.data_ptr<float>();
  std::vector<SignalExample> all;
  for (size_t i = 0; i < table.rows.size(); ++i) {
    for (size_t column = first; column < first + static_cast<size_t>(pixels); ++column)
      *place++ = static_cast<float>(table.number(i, column));
    if (table.rows[i][label].find_first_not_of(" \t") == std::string::npos)
      table.refuse(i, label, "the label is empty");
    all.push_back({.signal = images[static_cast<int64_t>(i)],
                   .label = table.rows[i][label],
                   .where = fmt::format("{}: line {}", path.string(), table.lines[i])});
  }
  return all;
}

std::vector<SignalExample> read_idx_pair(const fs::path& path, const fs::path& labels_path) {
  require<ConfigError>(!labels_path.empty(),
                       "{} is read as an IDX file, whose labels stand in one of their own: give it too (task.data."
                       "train_labels, validation_labels, test_labels)",
                       path.string());
  const Tensor images = read_idx_images(path), labels = read_idx_labels(labels_path);
  require<DataError>(images.size(0) == labels.size(0), "{} has {} images, but {} has {} labels", path.string(),
                     images.size(0), labels_path.string(), labels.size(0));
  std::vector<SignalExample> all;
  for (int64_t i = 0; i < images.size(0); ++i)
    all.push_back({.signal = images[i].unsqueeze(0),
                   .label = std::to_string(labels.const_data_ptr<uint8_t>()[i]),
                   .where = fmt::format("{}: image {} (from 0)", path.string(), i)});
  return all;
}

std::vector<SignalExample> read_image_folder(const fs::path& path) {
  const LabelledFiles files = labelled_files(path);
  std::vector<SignalExample> all;
  bool coloured = false;
  for (const auto& file : files.files) {
    const Tensor image = read_image(file.path);
    coloured = coloured || image.size(0) == 3;
    all.push_back(
        {.signal = image, .label = files.classes[static_cast<size_t>(file.label)], .where = file.path.string()});
  }
  for (auto& example : all)
    if (coloured && example.signal.size(0) == 1) example.signal = example.signal.expand({3, -1, -1}).contiguous();
  return all;
}

void require_one_size(const std::vector<SignalExample>& all) {
  const auto& first = all.front();
  for (const auto& other : all)
    require<DataError>(other.signal.sizes() == first.signal.sizes(),
                       "{} has {} rows and {} columns of pixels, but {} has {} and {}: all images must be of one size",
                       other.where, other.signal.size(1), other.signal.size(2), first.where, first.signal.size(1),
                       first.signal.size(2));
}

}  // namespace

bool is_image_table(const fs::path& path) {
  const auto kind = without_packing(path).extension();
  return kind == ".csv" || kind == ".tsv";
}

std::vector<SignalExample> read_labelled_images(const fs::path& images, const fs::path& labels,
                                                const TableImagesConfig& table) {
  std::error_code ignored;
  const bool folder = fs::is_directory(images, ignored), in_table = !folder && is_image_table(images);
  require<ConfigError>(!folder || labels.empty(), "{} is a folder, whose sub-folders are the labels: leave {} out",
                       images.string(), labels.string());
  require<ConfigError>(!in_table || labels.empty(), "{} is a table, which has its labels in a column: leave {} out",
                       images.string(), labels.string());
  if (in_table) return read_table_images(images, table);
  auto all = folder ? read_image_folder(images) : read_idx_pair(images, labels);
  require_one_size(all);
  return all;
}

}  // namespace ordo
