// SPDX-License-Identifier: Apache-2.0
// Text files as training text: UTF-8, plain or packed, checked, with one kind of line break.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/core/files.h"
#include "ordo/data/bad_lines.h"

namespace ordo {

// The text of one file; one named .gz or .zst is unpacked (data/packed_file.h). A byte order mark at the start is
// dropped, CRLF becomes LF; a lone CR, NUL and Unicode's other line separators are kept as characters. Throws DataError
// with the path for: missing, no regular file, unreadable, empty, broken or cut gzip or zstd, UTF-16, more than `most`
// bytes, invalid UTF-8 (with the line).
inline constexpr uint64_t kMostText = 4'000'000'000;
std::string read_text(const fs::path& path, uint64_t most = kMostText);
// The same, but lines that are not valid UTF-8 go to `bad`; what is left out leaves its line break. Throws DataError
// for a file of which no line is left.
std::string read_text(const fs::path& path, BadLines& bad, uint64_t most = kMostText);

// `*`, `?` and `[…]` in each path are matched against the files there, in order of their names; a path that exists is
// taken as it is. Throws DataError for a pattern that matches nothing and for a file named twice.
std::vector<fs::path> expand_paths(const std::vector<fs::path>& patterns);
// The same, each with the number of the pattern that it comes from.
struct EntryFile {
  fs::path path;
  size_t entry = 0;
};
std::vector<EntryFile> expand_entries(const std::vector<fs::path>& patterns);

}  // namespace ordo
