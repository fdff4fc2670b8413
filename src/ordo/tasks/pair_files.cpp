// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/pair_files.h"

#include <unordered_map>
#include <utility>

#include "ordo/core/errors.h"
#include "ordo/core/text.h"
#include "ordo/data/text_file.h"

namespace ordo {

namespace {

// Ids of words, given as they are met; behind them those of <unknown> and <end>.
class WordIds {
 public:
  void add(const std::vector<std::string>& words) {
    for (const auto& word : words)
      if (ids_.try_emplace(word, unknown()).second) words_.push_back(word);
  }
  int64_t unknown() const { return static_cast<int64_t>(words_.size()); }
  std::vector<int64_t> of(const std::vector<std::string>& words) const {
    std::vector<int64_t> found;
    for (const auto& word : words) {
      const auto known = ids_.find(word);
      found.push_back(known == ids_.end() ? unknown() : known->second);
    }
    return found;
  }
  Example example(const WordPair& pair) const {
    Example made{.given = of(pair.prompt), .asked = of(pair.answer)};
    made.asked.push_back(unknown() + 1);
    return made;
  }
  std::vector<std::string> symbols() const {
    std::vector<std::string> all = words_;
    all.insert(all.end(), {"<unknown>", "<end>"});
    return all;
  }

 private:
  std::unordered_map<std::string, int64_t> ids_;
  std::vector<std::string> words_;
};

}  // namespace

std::vector<std::string> blank_apart(std::string_view text) {
  std::vector<std::string> words;
  for (auto& word : split(text, ' '))
    if (!word.empty()) words.push_back(std::move(word));
  return words;
}

WordPair word_pair(std::string_view prompt, std::string_view answer, const fs::path& file, size_t line) {
  WordPair pair{.prompt = blank_apart(prompt), .answer = blank_apart(answer)};
  require<DataError>(!pair.prompt.empty() && !pair.answer.empty(),
                     "{}: line {}: a pair needs a prompt and an answer of at least one word each, but the {} is empty",
                     file.string(), line, pair.prompt.empty() ? "prompt" : "answer");
  return pair;
}

std::vector<std::string> read_lines(const fs::path& path) {
  std::vector<std::string> lines = split(read_text(path), '\n');
  if (lines.back().empty()) lines.pop_back();  // behind the last line break
  return lines;
}

PairFiles read_pair_files(const std::array<fs::path, 3>& files, const ReadPairs& read) {
  WordIds ids;
  const std::vector<WordPair> training = read(files[static_cast<size_t>(Split::train)]);
  for (const auto& pair : training) {
    ids.add(pair.prompt);
    ids.add(pair.answer);
  }
  PairFiles made{.symbols = ids.symbols(), .pairs = {}};
  const auto add = [&](Split split, const std::vector<WordPair>& pairs) {
    for (const auto& pair : pairs) made.pairs[static_cast<size_t>(split)].push_back(ids.example(pair));
  };
  add(Split::train, training);
  for (const Split split : {Split::validation, Split::test})
    if (const auto& file = files[static_cast<size_t>(split)]; !file.empty()) add(split, read(file));
  return made;
}

}  // namespace ordo
