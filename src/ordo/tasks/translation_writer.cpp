// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/translation_writer.h"

#include "ordo/core/hash.h"

namespace ordo {

Prompt TranslationWriter::prompt(std::string_view text) const {
  auto ids = source_.encode(text);
  require<DataError>(!ids.empty(), "a prompt without a token has nothing to translate");
  return layout_(std::move(ids));
}

std::string TranslationWriter::piece(int64_t id, bool first) const {
  std::string piece = target_.piece(id);
  if (first && piece.starts_with(' ')) piece.erase(0, 1);  // as a whole text is decoded
  return piece;
}

std::optional<int64_t> TranslationWriter::token(std::string_view text) const {
  if (const auto id = target_.find(text)) return id;
  const auto encoded = target_.encode(text);
  return encoded.size() == 1 ? std::optional(encoded.front()) : std::nullopt;
}

uint64_t TranslationWriter::fingerprint() const { return mix(target_.fingerprint(), 1); }

}  // namespace ordo
