// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/sentencepiece_tokenizer.h"

namespace ordo {

void fields(Fields& f, SentencepieceTokenizer::Config& c) {
  f("file", c.file, "a .model file of SentencePiece", required());
}

}  // namespace ordo
