// SPDX-License-Identifier: Apache-2.0
// Images and the classes that they are of: from tables, IDX files, or a folder of image files for each class.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ordo/data/bad_lines.h"
#include "ordo/tasks/signal_task.h"

namespace ordo {

// The column of the label in a table of images; all others are pixels, row by row.
enum class LabelColumn { first, last };

struct TableImagesConfig {
  std::optional<LabelColumn> label = {};  // absent: last
  std::optional<bool> header = {};        // absent: there is none
  std::vector<int64_t> shape = {};        // rows, columns; empty: as many of both
  bool given() const { return label || header || !shape.empty(); }
};

// What a file of images is, by its name: .csv and .tsv (.gz or .zst behind it or not) are tables, a folder is one of
// folders, all else are IDX files.
bool is_image_table(const fs::path& path);

// Images of one size, bytes or (of tables) float [C, H, W]; of grey and coloured ones together all are coloured. To
// `bad` go rows of a table that cannot be read, and files of a folder that cannot or are not of the size that most
// have. Throws DataError for other files that cannot be read, as many labels as there are not images, a label of which
// no example is left; ConfigError for a shape that the columns do not fill, where labels (of IDX files) are missing or
// are too much, and for leaving out images of IDX files.
std::vector<SignalExample> read_labelled_images(const fs::path& images, const fs::path& labels,
                                                const TableImagesConfig& table, BadLines& bad);

}  // namespace ordo
