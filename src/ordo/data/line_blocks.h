// SPDX-License-Identifier: Apache-2.0
// A text file, plain or packed, in blocks of whole lines: memory holds a block, whatever the file's size.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "ordo/data/packed_file.h"
#include "ordo/data/text_checks.h"

namespace ordo {

struct LineBlock {
  std::string bytes;  // as they are in the file, but for a byte order mark at its start
  FilePlace begin;
  bool cut = false;  // its last line is longer than allowed, and goes on in the next block
};

class LineBlocks {
 public:
  // `from`: where a block before ended. `longest`: bytes of a line with its break; a longer one is cut between two
  // characters. Throws DataError as PackedReader does, and when the file ends before `from`.
  LineBlocks(fs::path path, const FilePlace& from, uint64_t longest);
  // The next lines: as many as fit into `size` bytes, one at least, with the blank lines behind; of those it prefers to
  // end behind a blank line, if there is one in the second half. False: the file has ended. Throws DataError for a file
  // that is empty or looks like UTF-16, and as PackedReader does.
  bool next(uint64_t size, LineBlock& block);
  const FilePlace& place() const { return place_; }  // where the next block begins

 private:
  void fill(uint64_t size);
  void begin();
  uint64_t line_end(uint64_t size);
  uint64_t with_blank_lines(uint64_t end);
  uint64_t cut_end() const;
  fs::path path_;
  uint64_t longest_;
  std::unique_ptr<PackedReader> reader_;
  FilePlace place_;
  std::string pending_;  // read, and not yet handed out
  bool ended_ = false;   // all is read
};

}  // namespace ordo
