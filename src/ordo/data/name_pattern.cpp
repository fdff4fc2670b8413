// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/name_pattern.h"

#include <algorithm>

#include "ordo/core/errors.h"

namespace ordo {

NamePattern::NamePattern(std::string_view pattern) : pattern_(pattern), between_(1) {
  for (size_t at = 0; at < pattern.size(); ++at) {
    require<ConfigError>(pattern[at] != '}', "'{}': a closing brace without an opening one", pattern);
    if (pattern[at] != '{') {
      between_.back() += pattern[at];
      continue;
    }
    const size_t end = pattern.find('}', at);
    require<ConfigError>(end != pattern.npos, "'{}': a brace is not closed", pattern);
    const std::string name(pattern.substr(at + 1, end - at - 1));
    require<ConfigError>(!name.empty() && name.find('{') == name.npos, "'{}': braces hold a name, as in {{speaker}}",
                         pattern);
    require<ConfigError>(std::find(names_.begin(), names_.end(), name) == names_.end(), "'{}' has '{}' twice", pattern,
                         name);
    require<ConfigError>(names_.empty() || !between_.back().empty(),
                         "'{}' has nothing between '{}' and '{}', so where one ends cannot be told", pattern,
                         names_.empty() ? "" : names_.back(), name);
    names_.push_back(name);
    between_.emplace_back();
    at = end;
  }
  require<ConfigError>(!names_.empty(), "'{}' names nothing; a pattern is like {{class}}_{{speaker}}_{{take}}",
                       pattern);
}

std::map<std::string, std::string> NamePattern::read(const fs::path& path) const {
  const std::string stem = path.stem().string();
  const auto fits = [&](bool so) { require<DataError>(so, "{}: its name does not fit '{}'", path.string(), pattern_); };
  fits(stem.starts_with(between_.front()));
  std::map<std::string, std::string> found;
  size_t at = between_.front().size();
  for (size_t i = 0; i < names_.size(); ++i) {
    const std::string& behind = between_[i + 1];
    const bool last = i + 1 == names_.size();
    const size_t end = last ? stem.size() - std::min(behind.size(), stem.size()) : stem.find(behind, at + 1);
    fits(end != stem.npos && end > at && (!last || stem.ends_with(behind)));
    found[names_[i]] = stem.substr(at, end - at);
    at = end + behind.size();
  }
  return found;
}

}  // namespace ordo
