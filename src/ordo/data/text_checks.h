// SPDX-License-Identifier: Apache-2.0
// What text files are held to, whether they are read whole or in blocks.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "ordo/core/files.h"
#include "ordo/data/bad_lines.h"

namespace ordo {

// A place in a file as it is unpacked: bytes from 0, lines from 1.
struct FilePlace {
  uint64_t offset = 0;
  int64_t line = 1;
};

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
inline constexpr size_t kTextHead = 4096;

// Throws DataError for what begins like UTF-16; `head`: the first kTextHead bytes, or all there are.
void require_no_utf16(const fs::path& path, std::string_view head);
// Throws DataError with line and byte unless a text, which begins at this place of the file, is valid UTF-8.
void require_utf8(const fs::path& path, std::string_view text, const FilePlace& begin);
// Hands each line of a text that is not valid UTF-8 to `bad`; what is left out leaves its line break, so that the
// numbers of lines hold.
void keep_utf8(const fs::path& path, std::string& text, const FilePlace& begin, BadLines& bad);
// CRLF becomes LF; a lone CR stays.
void unify_line_breaks(std::string& text);

}  // namespace ordo
