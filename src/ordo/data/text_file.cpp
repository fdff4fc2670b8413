// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/text_file.h"

#include <glob.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"

namespace ordo {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

[[noreturn]] void too_large(const fs::path& path, uint64_t most) {
  throw DataError(fmt::format(
      "{} holds more than {} of text, which is the most that is tokenized at start; write it as a token file (.bin)",
      path.string(), bytes_text(static_cast<double>(most))));
}

void require_regular(const fs::path& path) {
  std::error_code failed;
  const auto status = fs::status(path, failed);
  require<DataError>(!failed || status.type() != fs::file_type::none, "cannot read {}: {}", path.string(),
                     failed.message());
  require<DataError>(fs::exists(status), "cannot read {}: there is no such file", path.string());
  require<DataError>(!fs::is_directory(status), "cannot read {}: it is a folder; name its files, for example {}/*.txt",
                     path.string(), path.string());
  require<DataError>(fs::is_regular_file(status),
                     "cannot read {}: it is no regular file, and a run must be able to read it again", path.string());
}

// zlib's reader also takes several members in a row, as `cat a.gz b.gz` makes them.
std::string gunzip(const fs::path& path, uint64_t most) {
  constexpr unsigned kChunk = 1U << 20;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose_r);
  require<DataError>(file != nullptr, "cannot open {}: {}", path.string(), std::strerror(errno));
  gzbuffer(file.get(), kChunk);
  std::string text;
  while (true) {
    const size_t used = text.size();
    text.resize(used + kChunk);
    const int got = gzread(file.get(), text.data() + used, kChunk);
    int code = Z_OK;
    const char* reason = gzerror(file.get(), &code);  // a file that was cut ends without a failed read
    require<DataError>(got >= 0 && code == Z_OK, "cannot unpack {}: {}; the file is damaged or cut off", path.string(),
                       reason);
    require<DataError>(gzdirect(file.get()) == 0 || got == 0, "{} is named .gz but is not gzip data", path.string());
    text.resize(used + static_cast<size_t>(got));
    if (text.size() > most) too_large(path, most);
    if (got == 0) return text;
  }
}

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
  require_regular(path);
  std::string text;
  if (path.extension() == ".gz") {
    text = gunzip(path, most);
  } else {
    if (fs::file_size(path) > most) too_large(path, most);
    text = read_file(path);
  }
  require_utf8(path, text);
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  unify_line_breaks(text);
  require<DataError>(!text.empty(), "{} is empty", path.string());
  return text;
}

std::vector<fs::path> expand_paths(const std::vector<fs::path>& patterns) {
  std::vector<fs::path> all;
  std::set<fs::path> seen;
  for (const auto& pattern : patterns) {
    std::error_code ignored;
    const bool plain = pattern.string().find_first_of("*?[") == std::string::npos || fs::exists(pattern, ignored);
    for (const auto& path : plain ? std::vector{pattern} : matches_of(pattern)) {
      require<DataError>(seen.insert(path.lexically_normal()).second, "{} is named twice", path.string());
      all.push_back(path);
    }
  }
  return all;
}

}  // namespace ordo
