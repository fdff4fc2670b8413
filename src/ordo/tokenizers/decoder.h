// SPDX-License-Identifier: Apache-2.0
// `decoder` of a tokenizer.json: what tokens become so that, one after another, they are text again.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "ordo/tokenizers/json_view.h"

namespace ordo {

struct Decoding {
  std::vector<std::string> tokens;
  // Set: each token by itself, as the bytes that it stands for, though they be no whole character; the number of tokens
  // stays, and what concerns the text as a whole is left out. For streaming.
  bool apart = false;
  bool fused = false;  // a step made one text of all tokens
};
using Decoder = std::function<void(Decoding& decoding)>;

// Throws DataError with the path in the file. Takes Sequence, ByteLevel, WordPiece, Metaspace, BPEDecoder,
// ByteFallback, Fuse, Strip, Replace and CTC.
Decoder read_decoder(const JsonView& part);

}  // namespace ordo
