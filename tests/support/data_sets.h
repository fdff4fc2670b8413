// SPDX-License-Identifier: Apache-2.0
// Real data sets are not part of the repository: tests that read one look for it where ORDO_DATA names a folder of
// them.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "support/catch.h"

namespace ordo::test {

inline constexpr const char* kTinyShakespeare = "tiny-shakespeare/input.txt.gz";

// Of a file or folder below ORDO_DATA; nothing, and a line in the test's output, where it is not.
inline std::optional<std::filesystem::path> data_set(const std::string& name) {
  const char* folder = std::getenv("ORDO_DATA");
  const std::filesystem::path path = std::filesystem::path(folder == nullptr ? "" : folder) / name;
  if (folder != nullptr && std::filesystem::exists(path)) return path;
  WARN("without " << name << ": " << (folder == nullptr ? "ORDO_DATA names no folder" : "it is not in ORDO_DATA"));
  return std::nullopt;
}

}  // namespace ordo::test
