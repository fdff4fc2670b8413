// SPDX-License-Identifier: Apache-2.0
// SCAN (Lake & Baroni 2018): commands in words and the actions that they ask for, one a line:
//   IN: jump twice OUT: I_JUMP I_JUMP
// Its splits are files of their own: by length (longer action sequences in the test), by primitive (jump).
#pragma once
#include "ordo/tasks/pairs.h"

namespace ordo {

class Scan final : public PairTask {
 public:
  struct Config {
    PairConfig files;
  };
  static constexpr std::string_view kKind = "scan", kSummary = "SCAN: commands in words to sequences of actions";
  Scan(const Config& config, const TaskFacts& facts) : PairTask(config.files, facts) {}
  std::string_view kind() const override { return kKind; }

 private:
  std::vector<WordPair> read(const fs::path& path) const override;
};
void fields(Fields& f, Scan::Config& c);

}  // namespace ordo
