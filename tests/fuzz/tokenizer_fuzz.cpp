// SPDX-License-Identifier: Apache-2.0
// libFuzzer over tokenizer files: what begins with '{' is read as a tokenizer.json, all else as a SentencePiece model.
// One that is accepted encodes and decodes some texts.
#include <cstdint>
#include <string_view>

#include "ordo/core/errors.h"
#include "ordo/tokenizers/hf_pipeline.h"
#include "ordo/tokenizers/sentencepiece_model.h"

namespace {

constexpr std::string_view kTexts[] = {"", " ", "The quick  brown fox, 1,000 \u4E2D\u6587 \U0001F44D",
                                       "a\u0301\n\tb<s></s>[CLS]  <sep> "};

template <class Tokenizer>
void use(const Tokenizer& tokenizer) {
  for (const std::string_view text : kTexts) {
    const auto ids = tokenizer.encode(text);
    tokenizer.decode(ids);
    for (const int64_t id : ids) tokenizer.piece(id);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    if (bytes.starts_with('{')) {
      const ordo::HfPipeline pipeline(bytes, "input");
      use(pipeline);
      pipeline.encode_special("a", "b");
    } else {
      use(ordo::SentencepieceModel(bytes, "input"));
    }
  } catch (const ordo::DataError&) {
  }
  return 0;
}
