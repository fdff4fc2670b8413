// SPDX-License-Identifier: Apache-2.0
#include "ordo/tokenizers/metaspace.h"

#include "ordo/tokenizers/unicode.h"

namespace ordo {

Metaspace read_metaspace(const JsonView& part) {
  Metaspace made;
  if (const auto mark = part.find("replacement")) {
    made.replacement.clear();
    append_utf8(made.replacement, mark->character());
  }
  made.split = part.boolean("split", true);
  // Older files have the yes or no alone.
  if (!part.boolean("add_prefix_space", true)) made.prepend = Metaspace::Prepend::never;
  static constexpr std::pair<std::string_view, Metaspace::Prepend> kSchemes[] = {{"always", Metaspace::Prepend::always},
                                                                                 {"first", Metaspace::Prepend::first},
                                                                                 {"never", Metaspace::Prepend::never}};
  if (const auto scheme = part.find("prepend_scheme")) made.prepend = named(*scheme, "scheme", kSchemes);
  return made;
}

}  // namespace ordo
