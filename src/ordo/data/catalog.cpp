// SPDX-License-Identifier: Apache-2.0
// The lists of all tokenizers and of all sources of made text.
#include "ordo/data/byte_tokenizer.h"
#include "ordo/data/char_tokenizer.h"
#include "ordo/data/chase.h"
#include "ordo/data/hf_tokenizer.h"
#include "ordo/data/sentencepiece_tokenizer.h"
#include "ordo/data/word_tokenizer.h"

namespace ordo {

const TokenizerCatalog& tokenizers() {
  static const TokenizerCatalog catalog(
      "tokenizer",
      {entry<ByteTokenizer, Tokenizer, TokenizerFacts>(), entry<CharTokenizer, Tokenizer, TokenizerFacts>(),
       entry<WordTokenizer, Tokenizer, TokenizerFacts>(), entry<SentencepieceTokenizer, Tokenizer, TokenizerFacts>(),
       entry<HfTokenizer, Tokenizer, TokenizerFacts>()});
  return catalog;
}
template <>
const Kinds& kinds_of<Tokenizer>() {
  return tokenizers().kinds();
}

const TextSourceCatalog& text_sources() {
  static const TextSourceCatalog catalog("text generator", {entry<ChaseText, TextSource, TextFacts>()});
  return catalog;
}
template <>
const Kinds& kinds_of<TextSource>() {
  return text_sources().kinds();
}

}  // namespace ordo
