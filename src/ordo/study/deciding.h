// SPDX-License-Identifier: Apache-2.0
// What each setting of a training config decides: the one list for all who must know whether two configs are the same.
#pragma once
#include <string_view>

#include "ordo/core/json.h"
#include "ordo/train/run_config.h"

namespace ordo {

// From the least to the most. Three questions are asked, and their answers differ on purpose:
// - Is this run made already? (hash of a run) All but `place`: a run with another record is made anew, for what its
//   folder holds would not be what its config says.
// - Do two levels of a study differ at all? (identical models) Only from `judgement` on: two records of one training
//   compare nothing.
// - What do runs that were not planned together differ in? (factors of ordo report) `training` alone: seeds repeat, and
//   how often a run was judged, or which memory it took, is no property of what was trained.
enum class Decides {
  place,      // what a run is called and where it runs
  record,     // what is written down of it: lines of the log, checkpoints, a certificate
  judgement,  // which repetition it is, when and how it is judged, how its memory is used
  training    // what is trained, and how
};
Decides decided_by(std::string_view path);  // "train.log_every"; what is below a key decides what the key does

// The config as JSON, of the settings that decide at least so much.
Json settings_that_decide(const RunConfig& config, Decides least);

}  // namespace ordo
