// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/labelled_images.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ordo/data/idx_file.h"
#include "ordo/data/image_file.h"
#include "ordo/data/labelled_files.h"
#include "ordo/data/packed_file.h"
#include "ordo/data/records.h"
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

std::vector<SignalExample> read_table_images(const fs::path& path, const TableImagesConfig& config, BadLines& bad) {
  const TableFile table =
      read_table(path, {.format = table_format(path), .header = config.header.value_or(false)}, bad);
  require<DataError>(table.width() >= 2, "{}: a row is the pixels of an image and its label, found one column",
                     path.string());
  const size_t first = config.label == LabelColumn::first ? 1 : 0, label = first == 1 ? 0 : table.width() - 1;
  const auto pixels = static_cast<int64_t>(table.width()) - 1;
  const auto [rows, columns] = table_shape(config, pixels, path);
  const Tensor images = at::empty({std::ssize(table.rows), 1, rows, columns}, at::kFloat);
  std::vector<SignalExample> all;
  std::set<std::string> labels;
  const auto read_row = [&](size_t row) {
    if (trimmed(table.rows[row][label]).empty()) table.refuse(row, label, "the label is empty");
    labels.insert(table.rows[row][label]);
    const Tensor image = images[std::ssize(all)];
    float* place = image.data_ptr<float>();
    for (size_t column = first; column < first + static_cast<size_t>(pixels); ++column)
      *place++ = static_cast<float>(table.number(row, column));
    all.push_back({.signal = image,
                   .label = table.rows[row][label],
                   .where = fmt::format("{}: line {}", path.string(), table.lines[row]),
                   .number = table.numbers[row]});
  };
  for (size_t row = 0; row < table.rows.size(); ++row) bad.attempt([&] { read_row(row); });
  require_each_label(all, labels, bad);
  return all;
}

std::vector<SignalExample> read_idx_pair(const fs::path& path, const fs::path& labels_path, const BadLines& bad) {
  require<ConfigError>(!labels_path.empty(),
                       "{} is read as an IDX file, whose labels stand in one of their own: give it too (task.data."
                       "train_labels, validation_labels, test_labels)",
                       path.string());
  require<ConfigError>(!bad.leaves_out(),
                       "task.data.on_bad_line: skip leaves out files of folders and rows of tables, and {} is read as "
                       "an IDX file, which is damaged as a whole or not at all: leave it out",
                       path.string());
  const Tensor images = read_idx_images(path), labels = read_idx_labels(labels_path);
  require<DataError>(images.size(0) == labels.size(0), "{} has {} images, but {} has {} labels", path.string(),
                     images.size(0), labels_path.string(), labels.size(0));
  std::vector<SignalExample> all;
  for (int64_t i = 0; i < images.size(0); ++i)
    all.push_back({.signal = images[i].unsqueeze(0),
                   .label = std::to_string(labels.const_data_ptr<uint8_t>()[i]),
                   .where = fmt::format("{}: image {} (from 0)", path.string(), i),
                   .number = i});
  return all;
}

std::pair<int64_t, int64_t> image_size(const SignalExample& image) {
  return {image.signal.size(1), image.signal.size(2)};
}

// Those of the size that most have, or of equally many the first one.
std::vector<SignalExample> of_one_size(std::vector<SignalExample> read, BadLines& bad) {
  std::map<std::pair<int64_t, int64_t>, int64_t> counts;
  for (const auto& image : read) ++counts[image_size(image)];
  const auto usual = std::max_element(read.begin(), read.end(), [&](const auto& a, const auto& b) {
    return counts[image_size(a)] < counts[image_size(b)];
  });
  if (usual == read.end()) return {};
  const auto [rows, columns] = image_size(*usual);
  const std::string first = usual->where;
  std::vector<SignalExample> all;
  for (auto& image : read)
    bad.attempt([&] {
      require<DataError>(
          image_size(image) == std::pair(rows, columns),
          "{} has {} rows and {} columns of pixels, but {} has {} and {}: all images must be of one size", image.where,
          image.signal.size(1), image.signal.size(2), first, rows, columns);
      all.push_back(std::move(image));
    });
  return all;
}

std::vector<SignalExample> read_image_folder(const fs::path& path, BadLines& bad) {
  const LabelledFiles files = labelled_files(path);
  std::vector<SignalExample> read;
  for (size_t i = 0; i < files.files.size(); ++i)
    bad.attempt([&] {
      const auto& file = files.files[i];
      read.push_back({.signal = read_image(file.path),
                      .label = files.classes[static_cast<size_t>(file.label)],
                      .where = file.path.string(),
                      .number = static_cast<int64_t>(i)});
    });
  auto all = of_one_size(std::move(read), bad);
  require_each_label(all, {files.classes.begin(), files.classes.end()}, bad);
  const bool coloured =
      std::any_of(all.begin(), all.end(), [](const auto& image) { return image.signal.size(0) == 3; });
  for (auto& image : all)
    if (coloured && image.signal.size(0) == 1) image.signal = image.signal.expand({3, -1, -1}).contiguous();
  return all;
}

}  // namespace

bool is_image_table(const fs::path& path) {
  const auto kind = without_packing(path).extension();
  return kind == ".csv" || kind == ".tsv";
}

std::vector<SignalExample> read_labelled_images(const fs::path& images, const fs::path& labels,
                                                const TableImagesConfig& table, BadLines& bad) {
  std::error_code ignored;
  require<DataError>(fs::exists(images, ignored), "cannot read {}: there is no such file or folder", images.string());
  const std::string ending = images.extension().string();
  require<DataError>(ending != ".png" && ending != ".jpg" && ending != ".jpeg",
                     "{} is a single image; give the folder that holds a folder of images for each class",
                     images.string());
  const bool folder = fs::is_directory(images, ignored), in_table = !folder && is_image_table(images);
  require<ConfigError>(!folder || labels.empty(), "{} is a folder, whose sub-folders are the labels: leave {} out",
                       images.string(), labels.string());
  require<ConfigError>(!in_table || labels.empty(), "{} is a table, which has its labels in a column: leave {} out",
                       images.string(), labels.string());
  if (in_table) return read_table_images(images, table, bad);
  return folder ? read_image_folder(images, bad) : read_idx_pair(images, labels, bad);
}

}  // namespace ordo
