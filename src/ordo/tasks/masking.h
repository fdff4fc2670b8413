// SPDX-License-Identifier: Apache-2.0
// Which tokens of a text are hidden from a masked language model, and what it is shown in their place (Devlin et al.
// 2019).
#pragma once
#include <vector>

#include "ordo/data/streams.h"
#include "ordo/data/tokenizer.h"

namespace ordo {

// What a token is to the words of a text: the start of one, a part that goes on from the token before it, or neither
// (blanks, punctuation, special tokens).
enum class WordPart { start, more, none };
// By id, from how the tokenizer writes a token after itself: "the the", but "inging".
std::vector<WordPart> word_parts(const Tokenizer& tokenizer);

struct Masking {
  double share = 0.15;                // of tokens, or of words, that are asked for
  double masked = 0.8, random = 0.1;  // of these become the mask, any token; the rest stay as they are
  int64_t mask_id = 0,
          vocab_size = 0;            // any token: one of [0, vocab_size) that is not the mask
  std::vector<WordPart> parts = {};  // by id; empty: tokens are drawn one by one, not words
};
// Rows whose targets are the hidden tokens, each in its place; all else is kIgnore. What happens to a token is a
// function of (key, its place in the sequence) alone, with whole words of the place where its word starts in the
// window. Tokens see their own document only.
Batch masked_batch(const TokenSequence& tokens, const std::vector<Window>& windows, const Masking& masking,
                   uint64_t key);

}  // namespace ordo
