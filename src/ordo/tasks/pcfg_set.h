// SPDX-License-Identifier: Apache-2.0
// PCFG SET (Hupkes et al. 2020): string operations, applied to arguments, and their result: a file of prompts named
// .src and beside it one of answers named .tgt, line by line (both also as .gz). The config names the .src files.
#pragma once
#include "ordo/tasks/pairs.h"

namespace ordo {

class PcfgSet final : public PairTask {
 public:
  struct Config {
    PairConfig files;
  };
  static constexpr std::string_view kKind = "pcfg_set", kSummary = "PCFG SET: operations on strings to their results";
  PcfgSet(const Config& config, const TaskFacts& facts) : PairTask(config.files, facts) {}
  std::string_view kind() const override { return kKind; }

 private:
  std::vector<WordPair> read(const fs::path& path) const override;
  std::vector<fs::path> sources(const fs::path& path) const override;
};
void fields(Fields& f, PcfgSet::Config& c);

}  // namespace ordo
