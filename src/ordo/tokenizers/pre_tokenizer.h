// SPDX-License-Identifier: Apache-2.0
// `pre_tokenizer` of a tokenizer.json: cuts a normalised text into pieces that the model takes one by one.
#pragma once
#include <functional>
#include <string_view>

#include "ordo/tokenizers/json_view.h"

namespace ordo {

// A piece, and whether it begins where the whole text began.
using PieceSink = std::function<void(std::string_view piece, bool first)>;
using PreTokenizer = std::function<void(std::string_view text, bool first, const PieceSink& sink)>;

// Throws DataError with the path in the file. Takes Sequence, ByteLevel, Whitespace, WhitespaceSplit, BertPreTokenizer,
// Metaspace, Punctuation, Digits, Split and CharDelimiterSplit.
PreTokenizer read_pre_tokenizer(const JsonView& part);

}  // namespace ordo
