// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/text_checks.h"

#include <algorithm>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"

namespace ordo {

namespace {

// UTF-16 has a mark of its own, or (in European texts without one) a NUL in every second byte, which is valid UTF-8 and
// would go unnoticed.
bool looks_like_utf16(std::string_view head) {
  if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF")) return true;
  const auto zeros = static_cast<size_t>(std::count(head.begin(), head.end(), '\0'));
  return head.size() >= 16 && 3 * zeros > head.size();
}

std::string no_utf8(const fs::path& path, std::string_view text, size_t wrong, const FilePlace& begin) {
  const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(wrong), '\n');
  return fmt::format(
      "{}: line {}: byte 0x{:02X} (byte {} of the file) is not valid UTF-8; if it is Latin-1, convert it with: "
      "iconv -f LATIN1 -t UTF-8 {} > utf8.txt",
      path.string(), begin.line + lines, static_cast<unsigned char>(text[wrong]), begin.offset + wrong,
      path.filename().string());
}

}  // namespace

void require_no_utf16(const fs::path& path, std::string_view head) {
  require<DataError>(!looks_like_utf16(head.substr(0, kTextHead)),
                     "{} looks like UTF-16, UTF-8 is expected; convert it with: iconv -f UTF-16 -t UTF-8 {} > utf8.txt",
                     path.string(), path.filename().string());
}

void require_utf8(const fs::path& path, std::string_view text, const FilePlace& begin) {
  size_t wrong = 0;
  if (!valid_utf8(text, &wrong)) throw DataError(no_utf8(path, text, wrong, begin));
}

void keep_utf8(const fs::path& path, std::string& text, const FilePlace& begin, BadLines& bad) {
  size_t wrong = 0;
  if (valid_utf8(text, &wrong)) return;
  std::string kept;
  std::string_view rest = text;
  FilePlace at = begin;
  do {
    bad.leave_out(no_utf8(path, rest, wrong, at));
    const size_t before = rest.rfind('\n', wrong), next = std::min(rest.find('\n', wrong), rest.size());
    kept += rest.substr(0, before == std::string_view::npos ? 0 : before + 1);
    at.offset += next;
    at.line += std::count(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(next), '\n');
    rest.remove_prefix(next);
  } while (!valid_utf8(rest, &wrong));
  kept += rest;
  text = std::move(kept);
}

void unify_line_breaks(std::string& text) {
  size_t kept = text.find("\r\n");
  if (kept == std::string::npos) return;
  for (size_t i = kept; i < text.size(); ++i)
    if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') text[kept++] = text[i];
  text.resize(kept);
}

}  // namespace ordo
