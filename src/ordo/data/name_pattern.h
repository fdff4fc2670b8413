// SPDX-License-Identifier: Apache-2.0
// What the name of a file says of it: "{class}_{speaker}_{take}" reads class 7, speaker theo and take 3 in
// 7_theo_3.wav.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/core/files.h"

namespace ordo {

class NamePattern {
 public:
  // Throws ConfigError for braces that do not pair, a name that is empty or there twice, no name at all, and two names
  // with nothing between them.
  explicit NamePattern(std::string_view pattern);
  // Of a path without folders and ending. Each name takes as little as it can, the last one the rest. Throws DataError
  // for a path that does not fit.
  std::map<std::string, std::string> read(const fs::path& path) const;
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::string pattern_;
  std::vector<std::string> names_;
  std::vector<std::string> between_;  // [names + 1]: what stands before, between and behind them
};

}  // namespace ordo
