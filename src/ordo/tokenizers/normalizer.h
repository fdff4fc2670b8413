// SPDX-License-Identifier: Apache-2.0
// `normalizer` of a tokenizer.json: what is done to a text before it is cut.
#pragma once
#include <functional>
#include <string>

#include "ordo/tokenizers/json_view.h"
#include "ordo/tokenizers/regex.h"

namespace ordo {

using Normalizer = std::function<std::string(std::string text)>;

// Throws DataError with the path in the file. Takes Sequence, NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents,
// Replace, Prepend, BertNormalizer, Nmt, Precompiled and ByteLevel.
Normalizer read_normalizer(const JsonView& part);

// {"String": …} or {"Regex": …}.
Regex read_pattern(const JsonView& part);
// Every match replaced by a text.
std::string replaced(std::string_view text, const Regex& pattern, std::string_view content);

// How byte-level tokenizers write a byte as a character that can be seen (Radford et al. 2019), and back.
std::string visible_bytes(std::string_view bytes);
// The bytes of a token so written; the token itself if it has a character that stands for none.
std::string bytes_of_visible(std::string_view token);

}  // namespace ordo
