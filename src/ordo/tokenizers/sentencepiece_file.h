// SPDX-License-Identifier: Apache-2.0
// What a SentencePiece model holds, read from its bytes (one message of protocol buffers) before the library sees them,
// which does not check all that it later relies on.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ordo {

enum class PieceType { normal = 1, unknown, control, user_defined, unused, byte };

struct SentencepiecePiece {
  std::string text;
  float score = 0.0F;
  PieceType type = PieceType::normal;
};

struct SentencepieceFile {
  std::vector<SentencepiecePiece> pieces;  // by id
  bool is_unigram = true, byte_fallback = false;
};

// Throws DataError with `name` and what is wrong: a broken message, no piece, too many, an empty one, a score that is
// not finite, an unknown type, a table of replacements with a look-up that would leave it.
SentencepieceFile read_sentencepiece_file(std::string_view bytes, const std::string& name);

}  // namespace ordo
