// SPDX-License-Identifier: Apache-2.0
#include "ordo/config/catalog.h"

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
struct PlacedRefusal : ConfigError {
  using ConfigError::ConfigError;
};
}  // namespace

std::string Source::text() const { return line > 0 ? fmt::format("{}:{}:{}", file, line, column) : file; }

std::string placed(const Source& place, const std::string& text) {
  return place.file.empty() ? text : fmt::format("{}: {}", place.text(), text);
}

void refuse_at(const Source& place, const std::string& text) {
  if (place.file.empty()) throw ConfigError(text);
  throw PlacedRefusal(placed(place, text));
}

}  // namespace ordo
