// SPDX-License-Identifier: Apache-2.0
// JSON Lines: a text file with one JSON value a line.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ordo/core/files.h"
#include "ordo/data/bad_lines.h"
#include "ordo/data/line_blocks.h"
#include "ordo/tokenizers/json_view.h"

namespace ordo {

// Calls visit(value, line) for each line of a file, in their order; what it takes by JsonView's calls is refused with
// "a.jsonl: line 7: label: expected …, found …". It takes all that it needs before it keeps anything. The value lives
// as long as the call.
//
// Text is held to what read_text asks for (UTF-8; .gz, .zst, byte order mark, CRLF), in memory of the longest line.
// Only LF ends a line: U+2028 and U+0085 inside strings are characters, a lone CR is a blank between values. The last
// line needs no line break.
//
// Bad lines go to `bad`: what is not UTF-8 or not strict JSON (several values, NaN, a comma at the end, a key twice, a
// NUL, nesting deeper than 100), a blank line, one longer than a gigabyte, and each DataError that visit throws.
// Whatever `bad` says, DataError is thrown for what LineBlocks refuses and for a file of which no line is left.
using VisitJson = std::function<void(const JsonView& value, size_t line)>;
void read_json_lines(const fs::path& path, BadLines& bad, const VisitJson& visit);

// The same of blocks of a file, one after another.
class JsonLineReader {
 public:
  explicit JsonLineReader(fs::path path) : path_(std::move(path)) {}
  // A line that is cut at the end of the block is left out, with the rest of it in the blocks behind. True: a line was
  // taken.
  bool read(const LineBlock& block, BadLines& bad, const VisitJson& visit);
  bool within_long() const { return within_long_; }  // the next block goes on with a line that is left out

 private:
  void read_line(std::string_view text, const FilePlace& at, const VisitJson& visit) const;
  fs::path path_;
  bool within_long_ = false;
};

// A list of strings, or of finite numbers; DataError names the item: "a.jsonl: line 7: tags[2]: expected a string, …".
std::vector<std::string> texts_of(const JsonView& list);
std::vector<double> numbers_of(const JsonView& list);

}  // namespace ordo
