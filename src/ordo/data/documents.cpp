// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/documents.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ordo/core/utf8.h"

namespace ordo {

namespace {

// Pieces of about a megabyte at line ends where the tokenizer allows it: ids take eight times the memory of their text.
size_t piece_end(std::string_view text, size_t from, size_t end, const Tokenizer& tokenizer) {
  constexpr size_t kPiece = size_t{1} << 20;
  if (!tokenizer.piecewise() || end - from <= kPiece) return end;
  const size_t line = text.find('\n', from + kPiece);
  return std::min(line == std::string_view::npos ? end : line + 1, end);
}

void encode_document(std::string_view text, size_t from, size_t end, const Tokenizer& tokenizer, TokenBuilder& into) {
  while (from < end) {
    const size_t to = piece_end(text, from, end, tokenizer);
    try {
      into.add(tokenizer.encode(text.substr(from, to - from)));
    } catch (const UnknownCharacter& unknown) {
      throw DataError(
          fmt::format("{}: unknown character {}: the {} tokenizer has {} characters, those of data.train; add the text "
                      "with it there, or use "
                      "the byte tokenizer",
                      place_in(text, from + unknown.offset).text(), unknown.what_is_there, tokenizer.kind(),
                      tokenizer.vocab_size()));
    }
    from = to;
  }
}

}  // namespace

size_t document_end(std::string_view text, size_t from, Documents documents) {
  if (documents == Documents::file) return text.size();
  const size_t blank = text.find("\n\n", from);
  const size_t next = blank == std::string_view::npos ? blank : text.find_first_not_of('\n', blank);
  return std::min(next, text.size());
}

void add_text(TokenSequence& sequence, const std::string& name, std::string_view text, Documents documents,
              const Tokenizer& tokenizer) {
  TokenBuilder builder(name, tokenizer.vocab_size());
  std::vector<int64_t> ends;
  for (size_t from = 0; from < text.size();) {
    const size_t end = document_end(text, from, documents);
    encode_document(text, from, end, tokenizer, builder);
    ends.push_back(builder.size());
    from = end;
  }
  const auto store = builder.finish();
  int64_t begin = 0;
  for (const int64_t end : ends) sequence.add(store, std::exchange(begin, end), end);
}

}  // namespace ordo
