// SPDX-License-Identifier: Apache-2.0
// Data files that something is wrong with, or that look so, for every kind of task: each with the config that reads
// them and what is to become of it.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/program.h"

namespace ordo::test {

// How the reading of a corpus ends, as an exit code.
inline constexpr int kIsRead = 0, kSettingsWrong = 2, kDataWrong = 3;

// In settings and words "FOLDER" stands for the folder that the files are written into.
struct HostileCorpus {
  std::string name;                                        // what is odd about it
  std::vector<std::pair<std::string, std::string>> files;  // name -> bytes; a name that ends in / is an empty folder
  std::vector<std::string> words;          // what the error must say; where it is read, what Task::summary() must say
  std::vector<std::string> settings = {};  // on top of the family's config
  int code = kDataWrong;
};

// Corpora of one kind of task.
struct HostileFamily {
  std::string config;
  std::vector<HostileCorpus> corpora;
};
HostileFamily hostile_texts();    // plain text and token files
HostileFamily hostile_columns();  // a column of a table or of JSON Lines as plain text
HostileFamily hostile_pairs();    // of sources and targets
HostileFamily hostile_labelled_texts();
HostileFamily hostile_tagged_texts();
HostileFamily hostile_dialogues();
HostileFamily hostile_series();
HostileFamily hostile_images();
HostileFamily hostile_sounds();
std::vector<HostileFamily> hostile_families();  // all of them

std::string with_folder(std::string text, const Scratch& folder);
void write_corpus(const Scratch& folder, const HostileCorpus& corpus);

}  // namespace ordo::test
