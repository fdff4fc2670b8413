// SPDX-License-Identifier: Apache-2.0
#include "ordo/checkpoint/guard.h"

namespace ordo {

void require_regular_file(const fs::path& path) {
  std::error_code problem;
  const fs::file_status status = fs::status(path, problem);
  require<CheckpointError>(status.type() != fs::file_type::not_found, "{} is missing", path.string());
  require<CheckpointError>(!problem, "cannot read {}: {}", path.string(), problem.message());
  require<CheckpointError>(!fs::is_directory(status), "{} is a folder, a file is expected", path.string());
  require<CheckpointError>(fs::is_regular_file(status), "{} is no regular file", path.string());
}

}  // namespace ordo
