// SPDX-License-Identifier: Apache-2.0
// What may change between a checkpoint and the config that goes on from it.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ordo/checkpoint/checkpoint.h"
#include "ordo/train/run_config.h"

namespace ordo {

enum class Drift {
  allowed,      // goes on, with a line in the log
  needs_force,  // another experiment than the one begun, but possible: --force
  refused,      // the weights or the optimiser's state would not fit
};
struct DriftRule {
  std::string_view path;  // of the config; holds for everything below it too, unless a longer path says otherwise
  Drift drift;
  std::string_view why;
};
std::span<const DriftRule> drift_rules();
// The longest rule that covers a path; places in lists ("model.position.0.theta") do not count. Null: none does (a test
// demands one for every key).
const DriftRule* drift_rule(std::string_view path);

struct Drifted {
  Difference change;  // a: the checkpoint's, b: now
  const DriftRule* rule;
};
std::vector<Drifted> drifted(const std::string& checkpoint_config, const RunConfig& now);

// Logs what is allowed; throws ConfigError that says how to go on and lists, key by key, what is refused, and what
// needs
// --force unless `force`. Of a choice that is of another kind only that is listed, not the settings that went with it.
// `checkpoint`: its name in messages.
void check_drift(const std::string& checkpoint_config, const RunConfig& now, bool force, std::string_view checkpoint);

// A run goes on with the checkpoint's copy of its tokenizer (`kept`), so the file of the config may have moved or gone;
// but one that is there must be the same tokenizer. Throws ConfigError when it is another.
void check_tokenizer(const RunConfig& now, const Tokenizer* kept, std::string_view checkpoint);

}  // namespace ordo
