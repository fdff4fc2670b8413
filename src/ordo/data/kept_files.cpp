// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/kept_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "ordo/config/writer.h"

namespace ordo {

namespace {

// Size and time of a file. One that is not there has none: it is for the reader to say so.
std::string file_state(const fs::path& file) {
  std::error_code ignored;
  const auto size = fs::file_size(file, ignored);
  const auto time = fs::last_write_time(file, ignored).time_since_epoch().count();
  return fmt::format("{}|{}|{}\n", file.string(), size, time);
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failed;
  constexpr auto kLinks = fs::directory_options::follow_directory_symlink;  // as who reads folders does
  for (auto at = fs::recursive_directory_iterator(folder, kLinks, failed); !failed && at != fs::end(at);
       at.increment(failed))
    files.push_back(at->path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string state_of(const std::vector<fs::path>& sources) {
  std::string state;
  for (const auto& source : sources) {
    state += file_state(source);
    std::error_code ignored;
    if (!fs::is_directory(source, ignored)) continue;
    for (const auto& file : files_below(source)) state += file_state(file);
  }
  return state;
}

// The newest first.
class KeptValues {
 public:
  std::shared_ptr<const void> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(values_.begin(), values_.end(), [&](const auto& one) { return one.first == key; });
    if (found == values_.end()) return nullptr;
    std::rotate(values_.begin(), found, found + 1);
    return values_.front().second;
  }
  void keep(const std::string& key, std::shared_ptr<const void> value) {
    const std::lock_guard lock(mutex_);
    values_.emplace_front(key, std::move(value));
    if (values_.size() > kKeptValues) values_.pop_back();
  }

 private:
  std::mutex mutex_;
  std::deque<std::pair<std::string, std::shared_ptr<const void>>> values_;
};

}  // namespace

std::string settings_text(const Walk& walk) { return yaml_inline(json_of(walk)); }

std::shared_ptr<const void> kept_value(const std::string& name, const std::vector<fs::path>& sources,
                                       const std::function<std::shared_ptr<const void>()>& make) {
  static KeptValues kept;
  const std::string key = name + "\n" + state_of(sources);
  if (auto found = kept.find(key)) return found;
  auto made = make();
  kept.keep(key, made);
  return made;
}

}  // namespace ordo
