// SPDX-License-Identifier: Apache-2.0
// Learns a byte-level byte-pair encoding (Sennrich et al. 2016; over bytes, with GPT-2's pattern: Radford et al. 2019).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ordo {

struct BpeTraining {
  int64_t vocab_size = 8000;              // symbols and the 256 bytes among them
  int64_t at_least = 1;                   // pairs that are there more seldom are not joined
  std::vector<std::string> symbols = {};  // special tokens, with the first ids
};
// The content of a tokenizer.json; the same texts give the same. It may have fewer tokens than asked for, when no pair
// is left. Throws ConfigError for a vocabulary without room for the symbols and the bytes, or a symbol that is empty or
// there twice.
std::string train_byte_bpe(const BpeTraining& settings, const std::vector<std::string>& texts);

}  // namespace ordo
