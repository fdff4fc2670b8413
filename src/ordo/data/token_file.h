// SPDX-License-Identifier: Apache-2.0
// A corpus that was made into tokens once: a mapped token file (llm.c's format, which other programs read too), and
// beside it FILE.json, which says where documents end and by which tokenizer the ids were made.
#pragma once
#include "ordo/data/tokenizer.h"
#include "ordo/data/tokens.h"

namespace ordo {

bool is_token_file(const fs::path& path);  // .bin

// Both files are written beside, flushed and renamed.
void write_token_file(const fs::path& path, const TokenSequence& tokens, const Tokenizer& tokenizer);

// A token file with its documents; without a FILE.json beside it one document, ids of type `raw` unless it has a
// header. Throws DataError for what TokenStore::map refuses, and where FILE.json does not fit: another number of
// tokens, other ids, another tokenizer than the one given (null: none is).
TokenSequence read_token_file(const fs::path& path, TokenType raw, int64_t vocab_size, const Tokenizer* tokenizer);

}  // namespace ordo
