// SPDX-License-Identifier: Apache-2.0
// The blocks of files that are streamed, encoded.
#pragma once
#include <optional>
#include <string>

#include "ordo/data/json_lines.h"
#include "ordo/data/line_blocks.h"
#include "ordo/data/streamed_text.h"

namespace ordo {

struct BlockPlace {
  int64_t epoch = 0, file = 0;  // in the order of the epoch
  FilePlace at;                 // in that file
};

struct TextBlock {
  BlockPlace begin, end;  // the end is where the next one begins
  TokenSequence tokens;
  std::string left_out;  // BadLines::sentence()
};

// Endless, epoch after epoch; a block ends with its epoch. Files and tokenizer must outlive it.
class TextBlocks {
 public:
  TextBlocks(const TextFiles& files, const Tokenizer& tokenizer, uint64_t seed)
      : files_(files), tokenizer_(tokenizer), seed_(seed) {}
  void move_to(const BlockPlace& place);
  TextBlock next();  // throws DataError for what it meets

 private:
  const fs::path& path() const;
  void end_file();
  bool add_lines(uint64_t size, std::string& text, BadLines& bad);
  void add_records(const LineBlock& lines, std::string& text, BadLines& bad);
  std::string part(uint64_t size, BadLines& bad);
  const TextFiles& files_;
  const Tokenizer& tokenizer_;
  uint64_t seed_;
  BlockPlace place_;
  std::optional<LineBlocks> open_;  // the file at place_, if it is being read
  std::optional<JsonLineReader> records_;
};

}  // namespace ordo
