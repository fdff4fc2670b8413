// SPDX-License-Identifier: Apache-2.0
// Pairs of texts, a source and its target, from tables, JSON lines, or two files side by side.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "ordo/core/files.h"
#include "ordo/data/records.h"
#include "ordo/data/splits.h"

namespace ordo {

// The files of one split: pairs in one file each, or sources and targets line by line in files of their own.
struct PairPaths {
  std::vector<fs::path> files = {};
  std::vector<fs::path> source = {};
  std::vector<fs::path> target = {};
  bool given() const { return !files.empty() || !source.empty() || !target.empty(); }
  std::vector<fs::path> entries() const;  // files, then sources
};
void fields(Fields& f, PairPaths& c);

struct TextPairsConfig {
  PairPaths train, validation, test;
  RecordFormat format = RecordFormat::automatic;
  std::vector<double> weights = {};  // of train's entries: files, then sources; empty: each pair once an epoch
  std::string source, target;        // empty: columns 1 and 2; of JSON lines the keys "source" and "target"
  bool header = false;
  OnBadLine on_bad_line = OnBadLine::stop;
};
void fields(Fields& f, TextPairsConfig& c);

struct TextPair {
  std::string source, target;
  std::string where;   // "cmn.txt: line 7"
  int64_t number = 0;  // in its file, from 0
  size_t entry = 0;    // of PairPaths::entries
};

struct TextPairs {
  std::array<std::vector<TextPair>, 3> pairs;  // by Split
  std::string left_out;                        // BadLines::sentence()
};
// `rule` divides the files of train; null: each split has files of its own. A side that is empty or of blanks alone is
// a bad line. Throws DataError for files that cannot be read, side files of unequal lengths, a split without a pair.
TextPairs read_text_pairs(const TextPairsConfig& config, const SplitRule* rule);

}  // namespace ordo
