// SPDX-License-Identifier: Apache-2.0
// Files of pairs, a prompt and its answer, both in words: read, and turned into ids.
#pragma once
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/core/files.h"
#include "ordo/tasks/sequence_task.h"

namespace ordo {

std::vector<std::string> blank_apart(std::string_view text);  // the words of a text

struct WordPair {
  std::vector<std::string> prompt, answer;
};
// A pair in words apart by blanks. Throws DataError with file and line when one of the two is empty.
WordPair word_pair(std::string_view prompt, std::string_view answer, const fs::path& file, size_t line);
// The lines of a text file, plain, .gz or .zst, without their breaks. Throws DataError as read_text does.
std::vector<std::string> read_lines(const fs::path& path);

// Answers end in the mark "<end>".
struct PairFiles {
  // Words of training, prompts' and answers' alike, in the order of their first use; then "<unknown>", which stands for
  // words of the other files, and "<end>".
  std::vector<std::string> symbols;
  std::array<std::vector<Example>, 3> pairs;  // by Split, as they stand in the file
  int64_t unknown() const { return static_cast<int64_t>(symbols.size()) - 2; }
  int64_t end() const { return static_cast<int64_t>(symbols.size()) - 1; }
};
// Files by Split, empty: there is none; `read` gives the pairs of one.
using ReadPairs = std::function<std::vector<WordPair>(const fs::path&)>;
PairFiles read_pair_files(const std::array<fs::path, 3>& files, const ReadPairs& read);

}  // namespace ordo
