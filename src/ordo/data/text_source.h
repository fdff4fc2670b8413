// SPDX-License-Identifier: Apache-2.0
// Text that is made, not read.
#pragma once
#include <cstdint>
#include <string>

#include "ordo/config/catalog.h"
#include "ordo/data/batch.h"

namespace ordo {

struct TextFacts {
  uint64_t seed = 0;
};

class TextSource {
 public:
  virtual ~TextSource() = default;
  virtual std::string_view kind() const = 0;
  virtual std::string text(Split split) const = 0;  // a function of the seed, the settings and the split alone
};

using TextSourceCatalog = Catalog<TextSource, TextFacts>;
const TextSourceCatalog& text_sources();  // chase
template <>
const Kinds& kinds_of<TextSource>();

}  // namespace ordo
