// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/side_tokenizers.h"

#include <nlohmann/json.hpp>

#include "ordo/core/hash.h"

namespace ordo {

void SideTokenizers::save(const fs::path& folder) const {
  write_vocabulary(folder, kKind, Json::object());
  for (const auto& [side, below] :
       {std::pair{source_.get(), source_folder(folder)}, std::pair{target_.get(), target_folder(folder)}}) {
    fs::create_directories(below);
    side->save(below);
  }
}

bool SideTokenizers::saved_in(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(source_folder(folder), ignored) && fs::is_directory(target_folder(folder), ignored);
}

uint64_t SideTokenizers::fingerprint() const { return mix(source_->fingerprint(), target_->fingerprint()); }

}  // namespace ordo
