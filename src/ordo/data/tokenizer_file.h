// SPDX-License-Identifier: Apache-2.0
// The files that tokenizers are made from.
#pragma once
#include <string>

#include "ordo/core/files.h"

namespace ordo {

// A file's bytes; throws DataError when it is missing, no regular file, or larger than any tokenizer is (256 MiB).
inline constexpr uint64_t kLargestTokenizer = uint64_t{1} << 28;
std::string read_tokenizer_file(const fs::path& path);

}  // namespace ordo
