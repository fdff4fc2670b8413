// SPDX-License-Identifier: Apache-2.0
#include "ordo/checkpoint/guard.h"

#include <algorithm>

#include "ordo/core/utf8.h"

namespace ordo {

void require_regular_file(const fs::path& path) {
  std::error_code problem;
  const fs::file_status status = fs::status(path, problem);
  require<CheckpointError>(status.type() != fs::file_type::not_found, "{} is missing", path.string());
  require<CheckpointError>(!problem, "cannot read {}: {}", path.string(), problem.message());
  require<CheckpointError>(!fs::is_directory(status), "{} is a folder, a file is expected", path.string());
  require<CheckpointError>(fs::is_regular_file(status), "{} is no regular file", path.string());
}

std::string printable(std::string_view text, size_t most) {
  std::string shown;
  for (size_t at = 0, count = 0; at < text.size(); ++count) {
    if (count == most) return shown + "…";
    const CodePoint code = code_point_at(text, at);
    const size_t bytes = std::max<size_t>(code.bytes, 1);
    const bool plain = code.bytes > 0 && code.value >= 0x20 && code.value != 0x7F;
    shown +=
        plain ? std::string(text.substr(at, bytes)) : fmt::format("\\x{:02X}", static_cast<unsigned char>(text[at]));
    at += bytes;
  }
  return shown;
}

}  // namespace ordo
