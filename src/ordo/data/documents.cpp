// SPDX-License-Identifier: Apache-2.0
#include "ordo/data/documents.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ordo/core/utf8.h"

namespace ordo {

namespace {

class DocumentEncoder {
 public:
  DocumentEncoder(const FileText& from, const Tokenizer& tokenizer, BadLines& bad)
      : path_(from.path),
        text_(from.text),
        tokenizer_(tokenizer),
        bad_(bad),
        tokens_(from.path.filename().string() + (from.line > 1 ? fmt::format(" from line {}", from.line) : ""),
                tokenizer.vocab_size()),
        line_(from.line) {}

  void add(size_t from, size_t end) {
    while (from < end) {
      const size_t to = piece_end(from, end);
      add_piece(from, to);
      from = to;
    }
  }
  int64_t size() const { return tokens_.size(); }
  std::shared_ptr<const TokenStore> finish() { return tokens_.finish(); }

 private:
  // Pieces of about a megabyte at line ends where the tokenizer allows it: ids take eight times the memory of their
  // text.
  size_t piece_end(size_t from, size_t end) const {
    constexpr size_t kPiece = size_t{1} << 20;
    if (!tokenizer_.piecewise() || end - from <= kPiece) return end;
    const size_t line = text_.find('\n', from + kPiece);
    return std::min(line == std::string_view::npos ? end : line + 1, end);
  }

  void add_piece(size_t from, size_t end) {
    while (from < end) {
      try {
        return tokens_.add(tokenizer_.encode(text_.substr(from, end - from)));
      } catch (const UnknownCharacter& unknown) {
        from = leave_out(from, end, unknown);
      }
    }
  }
  // The line of an unknown character; the tokens before it are added. Returns where to go on.
  size_t leave_out(size_t from, size_t end, const UnknownCharacter& unknown) {
    const size_t at = from + unknown.offset;
    bad_.leave_out(fmt::format(
        "{}: {}unknown character {}: the {} tokenizer has {} characters, those of data.train; add the text with it "
        "there, or use the byte tokenizer",
        path_.string(), line_ > 0 ? place_of(at).text() + ": " : "", unknown.what_is_there, tokenizer_.kind(),
        tokenizer_.vocab_size()));
    const bool is_break = text_[at] == '\n';
    const size_t line = is_break ? at : line_begin(at);
    if (line > from) tokens_.add(tokenizer_.encode(text_.substr(from, line - from)));
    return is_break ? at + 1 : std::min(text_.find('\n', at), end);
  }
  size_t line_begin(size_t at) const {
    const size_t before = at == 0 ? std::string_view::npos : text_.rfind('\n', at - 1);
    return before == std::string_view::npos ? 0 : before + 1;
  }
  // Lines are counted on from the place before: many lines may be left out.
  TextPlace place_of(size_t at) {
    line_ += std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                        text_.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    counted_ = at;
    const size_t begin = line_begin(at);
    return {.line = line_, .column = place_in(text_.substr(begin), at - begin).column};
  }

  const fs::path& path_;
  std::string_view text_;
  const Tokenizer& tokenizer_;
  BadLines& bad_;
  TokenBuilder tokens_;
  size_t counted_ = 0;  // up to here line breaks are counted
  int64_t line_;        // of the place counted up to; 0: not known
};

}  // namespace

size_t document_end(std::string_view text, size_t from, Documents documents) {
  if (documents == Documents::file) return text.size();
  const size_t blank = text.find("\n\n", from);
  const size_t next = blank == std::string_view::npos ? blank : text.find_first_not_of('\n', blank);
  return std::min(next, text.size());
}

void add_text(TokenSequence& sequence, const FileText& from, Documents documents, const Tokenizer& tokenizer,
              BadLines& bad) {
  DocumentEncoder encoder(from, tokenizer, bad);
  std::vector<int64_t> ends;
  for (size_t begin = 0; begin < from.text.size();) {
    const size_t end = document_end(from.text, begin, documents);
    encoder.add(begin, end);
    ends.push_back(encoder.size());
    begin = end;
  }
  const auto store = encoder.finish();
  int64_t begin = 0;
  for (const int64_t end : ends) sequence.add(store, std::exchange(begin, end), end);
}

}  // namespace ordo
