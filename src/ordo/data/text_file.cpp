// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/text_file.h"

#include <glob.h>

#include <set>

#include "ordo/core/errors.h"
#include "ordo/data/packed_file.h"
#include "ordo/data/text_checks.h"

namespace ordo {

namespace {

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
  BadLines none;
  return read_text(path, none, most);
}

std::string read_text(const fs::path& path, BadLines& bad, uint64_t most) {
  std::string text = read_packed(path, most);
  require_no_utf16(path, text);
  const size_t before = bad.count();
  keep_utf8(path, text, {}, bad);
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  unify_line_breaks(text);
  require<DataError>(!text.empty() || bad.count() > before, "{} is empty", path.string());
  require<DataError>(bad.count() == before || text.find_first_not_of('\n') != std::string::npos,
                     "{}: no line is left: {}", path.string(), bad.sentence());
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
