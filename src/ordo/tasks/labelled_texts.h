// SPDX-License-Identifier: Apache-2.0
// Texts, or pairs of texts, and the classes that each is of: from tables, JSON Lines, files of one class each, or made.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/core/files.h"
#include "ordo/data/bad_lines.h"
#include "ordo/data/records.h"
#include "ordo/data/splits.h"
#include "ordo/tasks/made_sentences.h"

namespace ordo {

// Texts of one class, a line each.
struct ClassFiles {
  std::string name;
  std::vector<fs::path> files;
};
void fields(Fields& f, ClassFiles& c);

struct LabelledTextsConfig {
  std::vector<fs::path> train, validation, test;     // tables or JSON Lines; patterns are expanded
  std::vector<double> weights = {};                  // of the entries of train; empty: each example once an epoch
  std::vector<ClassFiles> by_class = {};             // in place of train
  std::optional<MadeSentencesConfig> generate = {};  // in place of files
  std::string text = {}, label = {}, pair = {};      // see RecordColumn; pair: of a second text, if there is one
  RecordFormat format = RecordFormat::automatic;
  bool header = false;
  OnBadLine on_bad_line = OnBadLine::stop;
  bool has(Split split) const;  // without a rule
};
void fields(Fields& f, LabelledTextsConfig& c);
// What is wrong with the settings alone, one sentence each.
std::vector<std::string> contradictions(const LabelledTextsConfig& config);

struct LabelledText {
  std::string text;
  std::string pair;  // where the config has one
  std::vector<std::string> labels;
  std::string where;       // "a.tsv: line 7"
  bool first_row = false;  // see Record
  size_t entry = 0;        // of the list of files
};

struct LabelledTexts {
  std::array<std::vector<LabelledText>, 3> splits;  // by Split
  std::vector<std::string> told;                    // what was left out, in sentences
};

struct ReadLabels {
  bool several = false;      // an example may have any number of them
  bool only_single = false;  // examples with several are left out
};
// `rule` divides what is trained on; null: each split has files of its own. A bad line is one without a text, or
// without a label where one is due. Throws DataError for a split that is left without an example.
LabelledTexts read_labelled_texts(const LabelledTextsConfig& config, const ReadLabels& labels, const SplitRule* rule,
                                  uint64_t seed);

}  // namespace ordo
