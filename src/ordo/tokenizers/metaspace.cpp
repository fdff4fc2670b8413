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
  if (const auto scheme = part.find("prepend_scheme")) {
    const std::string& name = scheme->text();
    scheme->require(name == "always" || name == "first" || name == "never",
                    "unknown scheme '{}'; there are always, first, never", name);
    made.prepend = name == "always"  ? Metaspace::Prepend::always
                   : name == "first" ? Metaspace::Prepend::first
                                     : Metaspace::Prepend::never;
  }
  return made;
}

}  // namespace ordo
