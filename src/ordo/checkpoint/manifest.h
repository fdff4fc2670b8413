// SPDX-License-Identifier: Apache-2.0
// manifest.json of a checkpoint: which files and tensors there are, how long, and their checksums. Its last line holds
// the checksum of all lines before, so that nothing in the folder can change unnoticed.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/checkpoint/safetensors.h"

namespace ordo {

inline constexpr std::string_view kManifestName = "manifest.json";

struct FileRecord {
  std::string name;  // relative to the folder, with '/'
  uint64_t size = 0;
  std::string xxh3;    // of the bytes; empty for a safetensors file, which the sums of its parts cover
  std::string header;  // of a safetensors file: of everything before the data
  std::vector<std::pair<std::string, std::string>> tensors;  // name, checksum; in the order of the file
  bool safetensors() const { return xxh3.empty(); }
};

struct Manifest {
  int64_t step = 0;
  std::vector<FileRecord> files;

  const FileRecord* find(std::string_view name) const;  // null when absent
  std::string text() const;
};

// Throws CheckpointError: missing, changed, of a newer format.
Manifest read_manifest(const fs::path& folder);

FileRecord record_of(const std::string& name, const SafetensorsSums& sums);
FileRecord record_of(const std::string& name, std::string_view content);

// Throws CheckpointError, naming the file or tensor, unless the folder holds just these files in these sizes and, when
// `bytes`, with these bytes.
void verify_folder(const fs::path& folder, const Manifest& manifest, bool bytes);

}  // namespace ordo
