// SPDX-License-Identifier: Apache-2.0
// The documents of a text, encoded.
#pragma once
#include <string>
#include <string_view>

#include "ordo/config/fields.h"
#include "ordo/core/files.h"
#include "ordo/data/bad_lines.h"
#include "ordo/data/tokenizer.h"
#include "ordo/data/tokens.h"

namespace ordo {

// Where one document of a text file ends and the next begins.
enum class Documents { file, blank_line };
inline constexpr NamedValue kDocuments[] = {{"file", static_cast<int>(Documents::file)},
                                            {"blank_line", static_cast<int>(Documents::blank_line)}};

// The next end of a document after `from`: blank lines go to the document before them, so that all characters stay.
size_t document_end(std::string_view text, size_t from, Documents documents);

// What goes behind each text of a column.
inline constexpr std::string_view kBehindRecord = "\n\n";

struct FileText {
  fs::path path;
  std::string_view text;
  int64_t line = 1;  // of the file, where the text begins; 0: its lines are not those of the file (records)
};
// Adds the documents of a text. A line with a character that the tokenizer does not know goes to `bad`, with line and
// column where they are the file's; what is left out leaves its line break.
void add_text(TokenSequence& sequence, const FileText& from, Documents documents, const Tokenizer& tokenizer,
              BadLines& bad);

}  // namespace ordo
