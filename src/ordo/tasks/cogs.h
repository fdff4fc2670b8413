// SPDX-License-Identifier: Apache-2.0
// COGS (Kim & Linzen 2020): sentences and their logical forms, one pair a line, apart by tabs; a third column (the kind
// of generalisation) is not used.
#pragma once
#include "ordo/tasks/pairs.h"

namespace ordo {

class Cogs final : public PairTask {
 public:
  struct Config {
    PairConfig files;
  };
  static constexpr std::string_view kKind = "cogs", kSummary = "COGS: sentences to logical forms";
  Cogs(const Config& config, const TaskFacts& facts) : PairTask(config.files, facts) {}
  std::string_view kind() const override { return kKind; }

 private:
  std::vector<WordPair> read(const fs::path& path) const override;
};
void fields(Fields& f, Cogs::Config& c);

}  // namespace ordo
