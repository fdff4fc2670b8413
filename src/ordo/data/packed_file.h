// SPDX-License-Identifier: Apache-2.0
// The bytes of a file, unpacked where its name says that it is packed.
#pragma once
#include <cstdint>
#include <string>

#include "ordo/core/files.h"

namespace ordo {

// All bytes of a file; a name that ends in .gz is gunzipped, one in .zst unpacked by zstd, both also with several
// members (frames) in a row, as `cat a.gz b.gz` makes them. Both are unpacked in pieces, so that a small file which
// unpacks to more than `most` bytes costs no more memory than `most` and a piece; a zstd frame that needs a window of
// more than 128 MiB (`zstd --long=28` and up) is refused. An empty file has no bytes, whatever its name.
// Throws DataError with the path for: missing, no regular file, unreadable, not packed as the name says, broken or cut
// off, more than `most` bytes, a file that is not packed and grew or shrank while it was read.
std::string read_packed(const fs::path& path, uint64_t most);

// "a.csv" for "a.csv.gz" and "a.csv.zst"; all other paths as they are.
fs::path without_packing(const fs::path& path);

}  // namespace ordo
