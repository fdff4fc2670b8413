// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/text_file.h"

#include <glob.h>

#include <algorithm>
#include <set>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/data/packed_file.h"

namespace ordo {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// UTF-16 has a mark of its own, or (in European texts without one) a NUL in every second byte, which is valid UTF-8 and
// would go unnoticed.
bool looks_like_utf16(std::string_view bytes) {
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) return true;
  constexpr size_t kLooked = 4096;
  const auto head = bytes.substr(0, kLooked);
  const auto zeros = static_cast<size_t>(std::count(head.begin(), head.end(), '\0'));
  return head.size() >= 16 && 3 * zeros > head.size();
}

void require_utf8(const fs::path& path, std::string_view text) {
  require<DataError>(!looks_like_utf16(text),
                     "{} looks like UTF-16, UTF-8 is expected; convert it with: iconv -f UTF-16 -t UTF-8 {} > utf8.txt",
                     path.string(), path.filename().string());
  size_t bad = 0;
  if (valid_utf8(text, &bad)) return;
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bad), '\n') + 1;
  throw DataError(fmt::format(
      "{}: line {}: byte 0x{:02X} (byte {} of the file) is not valid UTF-8; if it is Latin-1, convert it with: "
      "iconv -f LATIN1 -t UTF-8 {} > utf8.txt",
      path.string(), line, static_cast<unsigned char>(text[bad]), bad, path.filename().string()));
}

void unify_line_breaks(std::string& text) {
  size_t kept = text.find("\r\n");
  if (kept == std::string::npos) return;
  for (size_t i = kept; i < text.size(); ++i)
    if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') text[kept++] = text[i];
  text.resize(kept);
}

std::vector<fs::path> matches_of(const fs::path& pattern) {
  glob_t found{};
  const int code = glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<fs::path> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  require<DataError>(code == 0 || code == GLOB_NOMATCH, "cannot look for {}: a folder cannot be read",
                     pattern.string());
  require<DataError>(!paths.empty(), "no file matches {}", pattern.string());
  return paths;
}

}  // namespace

std::string read_text(const fs::path& path, uint64_t most) {
  std::string text = read_packed(path, most);
  require_utf8(path, text);
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  unify_line_breaks(text);
  require<DataError>(!text.empty(), "{} is empty", path.string());
  return text;
}

std::vector<EntryFile> expand_entries(const std::vector<fs::path>& patterns) {
  std::vector<EntryFile> all;
  std::set<fs::path> seen;
  for (size_t entry = 0; entry < patterns.size(); ++entry) {
    const fs::path& pattern = patterns[entry];
    std::error_code ignored;
    const bool plain = pattern.string().find_first_of("*?[") == std::string::npos || fs::exists(pattern, ignored);
    for (const auto& path : plain ? std::vector{pattern} : matches_of(pattern)) {
      require<DataError>(seen.insert(path.lexically_normal()).second, "{} is named twice", path.string());
      all.push_back({path, entry});
    }
  }
  return all;
}

std::vector<fs::path> expand_paths(const std::vector<fs::path>& patterns) {
  std::vector<fs::path> all;
  for (auto& file : expand_entries(patterns)) all.push_back(std::move(file.path));
  return all;
}

}  // namespace ordo
