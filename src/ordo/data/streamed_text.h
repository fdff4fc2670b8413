// SPDX-License-Identifier: Apache-2.0
// Training windows of text files that are read as they are needed: memory holds two blocks of text, whatever the
// files' size.
//
// An epoch reads all files, in an order drawn anew, one after another in blocks of about so many bytes of text; a block
// ends with a line (behind a blank one, where there is one) and may span several files. Each is encoded, laid out in
// windows side by side and these are taken in shuffled order, as Sampling::packed does for a whole corpus; what the
// windows of a block leave over (less than a window) is left out, another part of it each time, and so is a block of
// fewer windows than processes. A document that goes on in the next block is cut there. While a block is handed out,
// the next is read and encoded on a thread.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ordo/data/documents.h"
#include "ordo/data/records.h"
#include "ordo/data/streams.h"

namespace ordo {

struct TextFiles {
  std::vector<fs::path> paths;  // .gz and .zst packed
  RecordFormat format = RecordFormat::automatic;
  std::string column = {};  // of JSON Lines: the key of the text; empty: the files are text
  Documents documents = Documents::file;
  OnBadLine on_bad_line = OnBadLine::stop;
  uint64_t block = uint64_t{16} << 20;  // bytes of text; the longest line: one of a text is cut there, one of JSON
                                        // Lines is a bad line
};
// Throws DataError for files that are missing, cannot be read, are empty or named twice (patterns are expanded),
// ConfigError for token files and for tables.
TextFiles checked_text_files(TextFiles files);
// Of the settings, and of each file its name, its size and its first and last 64 KiB: for files too large to be read
// whole.
uint64_t fingerprint(const TextFiles& files);
// "3 files, 1.2 GB packed"
std::string size_text(const TextFiles& files);

// Endless; the number of batches of an epoch is not known (infinite). The state is {"epoch", "file" (its place in the
// order of the epoch), "offset" and "line" (in the text of the file, unpacked), "cursor" (windows of the block that
// begins there), "block" (its hash), "files" (their fingerprint)}. Going on reads one block, and of a packed file what
// stands before it. A block that is not what it was is a CheckpointError; when the files are others, the epoch begins
// again.
// Throws DataError for files without a window (one for each process), and what reading meets, when it comes to it.
std::unique_ptr<BatchStream> streamed_text(TextFiles files, std::shared_ptr<const Tokenizer> tokenizer,
                                           const TrainingWindows& windows);

}  // namespace ordo
