// SPDX-License-Identifier: Apache-2.0
// From arms to runs: seeds, instances, folders, hashes.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ordo/study/arms.h"
#include "ordo/study/plan.h"

namespace ordo {

// Fit for a file's name: letters, digits and ._+- remain.
std::string file_safe(std::string_view text);

class RunMaker {
 public:
  explicit RunMaker(const StudyConfig& study) : study_(study) {}

  // Seeds fastest, then instances, then arms.
  std::vector<PlannedRun> comparison(const std::vector<Arm>& arms);
  // The values of tune.keys, tried in an arm whose settings hold them already.
  std::vector<PlannedRun> trial(const std::vector<Arm>& arms, const Combination& values);
  void rehash(PlannedRun& run);

 private:
  PlannedRun run(const Arm& arm, int64_t seed, std::optional<int64_t> instance) const;
  std::string folder(const std::string& wanted);
  std::string content(const std::string& path);

  const StudyConfig& study_;
  std::set<std::string> folders_;                // in lower case
  std::map<std::string, std::string> contents_;  // of files
};

// make_plan, which checks the models; a plan that was made before need not build them all again.
enum class Models { to_check, known };
Plan plan_of(const StudyConfig& study, Models models);

// "train.optimizer.lr=0.001"
std::string trial_text(const Combination& values);
// The settings of those values.
std::vector<Setting> trial_settings(const TuneConfig& tune, const Combination& values);
// The arms with further settings of their own laid over them, one list an arm.
std::vector<Arm> with_settings(const StudyConfig& study, std::vector<Arm> arms,
                               const std::vector<std::vector<Setting>>& settings, Problems& problems);

}  // namespace ordo
