// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/deciding.h"

#include <nlohmann/json.hpp>

#include "ordo/config/config.h"

namespace ordo {

namespace {

struct Deciding {
  std::string_view path;
  Decides what;
};
// The first that a path is at or below; all others decide the training.
constexpr Deciding kDeciding[] = {
    {"name", Decides::place},
    {"device", Decides::place},
    {"train.log_every", Decides::record},
    {"train.certify", Decides::record},
    {"checkpoint.keep", Decides::record},
    {"checkpoint.every", Decides::record},
    {"evaluate.batch_size", Decides::record},
    {"seed", Decides::judgement},
    {"instance", Decides::judgement},
    {"checkpoint", Decides::judgement},
    {"evaluate", Decides::judgement},
    {"train.recompute", Decides::judgement},
};

// Takes the key of a dotted path out, where it is there.
void erase_at(Json& value, std::string_view path) {
  const size_t dot = path.find('.');
  const std::string key(path.substr(0, dot));
  if (dot == path.npos)
    value.erase(key);
  else if (value.contains(key))
    erase_at(value[key], path.substr(dot + 1));
}

}  // namespace

Decides decided_by(std::string_view path) {
  for (const auto& entry : kDeciding)
    if (path.starts_with(entry.path) && (path.size() == entry.path.size() || path[entry.path.size()] == '.'))
      return entry.what;
  return Decides::training;
}

Json settings_that_decide(const RunConfig& config, Decides least) {
  RunConfig copy = config;
  Json all = dump_json(walk_of(copy));
  for (const auto& entry : kDeciding)
    if (entry.what < least) erase_at(all, entry.path);
  return all;
}

}  // namespace ordo
