// SPDX-License-Identifier: Apache-2.0
#include "ordo/config/catalog.h"

#include <exception>
#include <typeinfo>

#include "ordo/config/words.h"
#include "ordo/core/errors.h"
#include "ordo/core/text.h"

namespace ordo {

void unknown_kind(std::string_view what, std::string_view kind, const Kinds& kinds) {
  const auto names = names_of(kinds);
  const std::string near = did_you_mean(kind, names);
  throw ConfigError(fmt::format("unknown {} '{}'; {}{}there are: {}", what, shown(kind), near, near.empty() ? "" : " ",
                                join(names, ", ")));
}

namespace {
// A refusal that names its place: those of parts are passed on as they are.
struct PlacedRefusal : ConfigError {
  using ConfigError::ConfigError;
};
}  // namespace

void refused_at(const Source& place, const ConfigError& refusal) {
  if (const auto* placed = dynamic_cast<const PlacedRefusal*>(&refusal)) throw PlacedRefusal(*placed);
  if (typeid(refusal) != typeid(ConfigError) && std::current_exception())
    throw;  // says more by its type than its place
  if (place.file.empty()) throw ConfigError(refusal);
  const std::string where = place.line > 0 ? fmt::format("{}:{}:{}", place.file, place.line, place.column) : place.file;
  throw PlacedRefusal(fmt::format("{}: {}", where, refusal.what()));
}

}  // namespace ordo
