// SPDX-License-Identifier: Apache-2.0
// Sentences in words, each word with its tag: from files of columns, from JSON Lines, or made.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "ordo/core/files.h"
#include "ordo/data/bad_lines.h"
#include "ordo/data/splits.h"
#include "ordo/tasks/made_sentences.h"

namespace ordo {

// columns: a word a line with its tag, a blank line between sentences (CoNLL), apart by tabs or, where the file has
// none, by blanks; a sentence of "-DOCSTART-" alone is the mark of a document and left out. jsonl: {"tokens": […],
// "tags": […]}.
enum class TagFormat { automatic, columns, jsonl };

struct TaggedTextsConfig {
  std::vector<fs::path> train, validation, test;  // patterns are expanded
  std::vector<double> weights = {};               // of the entries of train; empty: each sentence once an epoch
  std::optional<MadeSentencesConfig> generate = {};
  TagFormat format = TagFormat::automatic;
  int64_t word = 1, tag = 0;                   // columns, from 1; tag 0: the last
  std::string tokens_key = {}, tags_key = {};  // of JSON; empty: "tokens" and "tags"
  OnBadLine on_bad_line = OnBadLine::stop;
  bool has(Split split) const;  // without a rule
};
void fields(Fields& f, TaggedTextsConfig& c);
// What is wrong with the settings alone, one sentence each.
std::vector<std::string> contradictions(const TaggedTextsConfig& config);

struct TaggedText {
  std::vector<std::string> words, tags;  // as many
  std::string where;                     // "a.conll: line 7", of its first word
  size_t entry = 0;                      // of the list of files
};

struct TaggedTexts {
  std::array<std::vector<TaggedText>, 3> splits;  // by Split
  std::string left_out;                           // BadLines::sentence()
};
// `rule` divides what is trained on; null: each split has files of its own. A line that cannot be read takes its whole
// sentence with it. Throws DataError for a split that is left without a sentence.
TaggedTexts read_tagged_texts(const TaggedTextsConfig& config, const SplitRule* rule, uint64_t seed);

}  // namespace ordo
