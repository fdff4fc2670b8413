// SPDX-License-Identifier: Apache-2.0
#include "ordo/tasks/pcfg_set.h"

#include "ordo/core/errors.h"

namespace ordo {

namespace {

// "dir/test.src.gz" -> "dir/test.tgt.gz".
fs::path answers_beside(const fs::path& prompts) {
  const bool packed = prompts.extension() == ".gz";
  const fs::path plain = packed ? prompts.stem() : prompts.filename();
  require<DataError>(plain.extension() == ".src",
                     "{} is not named .src or .src.gz; pcfg_set takes the file of the prompts and finds the answers "
                     "beside it, in .tgt or .tgt.gz",
                     prompts.string());
  return prompts.parent_path() / (plain.stem().string() + (packed ? ".tgt.gz" : ".tgt"));
}

}  // namespace

void fields(Fields& f, PcfgSet::Config& c) { fields(f, c.files); }

std::vector<fs::path> PcfgSet::sources(const fs::path& path) const { return {path, answers_beside(path)}; }

std::vector<WordPair> PcfgSet::read(const fs::path& path) const {
  const fs::path beside = answers_beside(path);
  const auto prompts = read_lines(path), answers = read_lines(beside);
  require<DataError>(prompts.size() == answers.size(),
                     "{} has {} lines and {} has {}; line by line they must be prompts and their answers",
                     path.string(), prompts.size(), beside.string(), answers.size());
  std::vector<WordPair> pairs;
  for (size_t i = 0; i < prompts.size(); ++i) pairs.push_back(word_pair(prompts[i], answers[i], path, i + 1));
  return pairs;
}

}  // namespace ordo
