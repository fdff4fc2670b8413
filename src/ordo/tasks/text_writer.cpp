// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/text_writer.h"

namespace ordo {

std::string TokenizerWriter::piece(int64_t id, bool first) const {
  (void)first;  // tokens bring their own blanks
  return tokenizer_.piece(id);
}

std::optional<int64_t> TokenizerWriter::token(std::string_view text) const {
  if (const auto id = tokenizer_.find(text)) return id;
  const auto encoded = tokenizer_.encode(text);
  return encoded.size() == 1 ? std::optional(encoded.front()) : std::nullopt;
}

}  // namespace ordo
