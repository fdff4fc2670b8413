// SPDX-License-Identifier: Apache-2.0
// Files in one folder a class: cats/1.png, cats/2.png, dogs/1.png.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ordo/core/files.h"

namespace ordo {

struct LabelledFile {
  fs::path path;
  int64_t label = 0;  // in `classes`
};
struct LabelledFiles {
  std::vector<std::string> classes;  // the names of the sub-folders, in the order of their bytes: "10" before "2"
  std::vector<LabelledFile> files;   // class after class, each in the order of its names
};

// Names that begin with a dot, and files beside the folders of the classes (a README), are no part of it; links are
// followed. Throws DataError with the path for: missing, no folder, unreadable, no sub-folder, a class without a file,
// something in a class that is no regular file (a folder inside it above all).
LabelledFiles labelled_files(const fs::path& folder);

}  // namespace ordo
