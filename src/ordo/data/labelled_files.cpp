// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/labelled_files.h"

#include <algorithm>

#include "ordo/core/errors.h"

namespace ordo {

namespace {

// What a folder holds, hidden names left out, in the order of the names.
std::vector<fs::path> visible_in(const fs::path& folder) {
  std::error_code failed;
  require<DataError>(fs::exists(folder, failed), "cannot read {}: there is no such folder", folder.string());
  require<DataError>(fs::is_directory(folder, failed), "cannot read {}: a folder is expected, this is a file",
                     folder.string());
  std::vector<fs::path> found;
  for (auto at = fs::directory_iterator(folder, failed); !failed && at != fs::directory_iterator();
       at.increment(failed))
    if (!at->path().filename().string().starts_with('.')) found.push_back(at->path());
  require<DataError>(!failed, "cannot read {}: {}", folder.string(), failed.message());
  std::sort(found.begin(), found.end());
  return found;
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;  // a link to nothing is no folder
  return fs::is_directory(path, ignored);
}

}  // namespace

LabelledFiles labelled_files(const fs::path& folder) {
  LabelledFiles all;
  for (const auto& of_class : visible_in(folder)) {
    if (!is_folder(of_class)) continue;
    const auto label = static_cast<int64_t>(all.classes.size());
    all.classes.push_back(of_class.filename().string());
    const auto files = visible_in(of_class);
    require<DataError>(!files.empty(), "{}: the class '{}' has no files", of_class.string(), all.classes.back());
    for (const auto& path : files) {
      std::error_code ignored;
      require<DataError>(fs::is_regular_file(path, ignored),
                         "{} is no file; the folder of a class holds files alone, its name is the class",
                         path.string());
      all.files.push_back({.path = path, .label = label});
    }
  }
  require<DataError>(!all.classes.empty(),
                     "{} has no sub-folders; one folder a class is expected, which holds the files of that class",
                     folder.string());
  return all;
}

}  // namespace ordo
