// SPDX-License-Identifier: Apache-2.0
// The bytes of a file, unpacked where its name says that it is packed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "ordo/core/files.h"

namespace ordo {

// The bytes of a file in pieces, from its start to its end, in memory of a few megabytes; a name that ends in .gz is
// gunzipped, one in .zst unpacked by zstd, both also with several members (frames) in a row, as `cat a.gz b.gz` makes
// them. A zstd frame that needs a window of more than 128 MiB (`zstd --long=28` and up) is refused. An empty file has
// no bytes, whatever its name.
// Throws DataError with the path for: missing, no regular file, unreadable, not packed as the name says, broken or cut
// off (once that shows), a file that is not packed and grew or shrank while it was read.
class PackedReader {
 public:
  static std::unique_ptr<PackedReader> open(const fs::path& path);
  virtual ~PackedReader() = default;
  // Fills `into`, but at the end of the file: how many bytes there were.
  virtual size_t read(char* into, size_t size) = 0;
  // Moves on by `count` bytes, which a packed file unpacks to lose them; false: there are fewer.
  virtual bool skip(uint64_t count);
  // Of the file on disk.
  uint64_t file_size() const { return file_size_; }

 protected:
  PackedReader(fs::path path, uint64_t file_size) : path_(std::move(path)), file_size_(file_size) {}
  fs::path path_;
  uint64_t file_size_;
};

// All bytes of a file, as PackedReader has them; a small file which unpacks to more than `most` bytes costs no more
// memory than `most` and a piece. Throws DataError for more than `most` bytes, too.
std::string read_packed(const fs::path& path, uint64_t most);

bool is_packed(const fs::path& path);  // .gz or .zst
// "a.csv" for "a.csv.gz" and "a.csv.zst"; all other paths as they are.
fs::path without_packing(const fs::path& path);

}  // namespace ordo
