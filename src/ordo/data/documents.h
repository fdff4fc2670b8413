// SPDX-License-Identifier: Apache-2.0
// The documents of a text, encoded.
#pragma once
#include <string>
#include <string_view>

#include "ordo/config/fields.h"
#include "ordo/data/tokenizer.h"
#include "ordo/data/tokens.h"

namespace ordo {

// Where one document of a text file ends and the next begins.
enum class Documents { file, blank_line };
inline constexpr NamedValue kDocuments[] = {{"file", static_cast<int>(Documents::file)},
                                            {"blank_line", static_cast<int>(Documents::blank_line)}};

// The next end of a document after `from`: blank lines go to the document before them, so that all characters stay.
size_t document_end(std::string_view text, size_t from, Documents documents);

// Adds the documents of a text, `name` its store's. Throws DataError with line and column for a character that the
// tokenizer does not know.
void add_text(TokenSequence& sequence, const std::string& name, std::string_view text, Documents documents,
              const Tokenizer& tokenizer);

}  // namespace ordo
