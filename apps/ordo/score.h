// SPDX-License-Identifier: Apache-2.0
// ordo generate RUN --score: how likely given answers are, in place of writing any.
#pragma once
#include <string>
#include <vector>

#include "writers.h"

namespace ordo::cli {

struct ScoreCall {
  const Writers& writers;
  const std::vector<PromptText>& prompts;
  Words answers;                    // one a prompt, from options …
  std::optional<std::string> file;  // … or from a file, a line each
  int64_t batch = 1;                // prompts at a time
  bool json = false;
};
// An answer counts with the mark of its end, where the task has one. Returns the exit code.
int score_answers(const ScoreCall& call);

}  // namespace ordo::cli
