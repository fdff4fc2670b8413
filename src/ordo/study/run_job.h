// SPDX-License-Identifier: Apache-2.0
// One planned run on its way: trained, then evaluated as trained and under each scaling, each by a child process.
//
// Its folder holds, beside what a training writes: planned.yaml (the config, under a line with the plan's hash),
// console.txt (what the children said), the evaluations, and last of all status.json. A run counts as made only if
// status.json says so with the plan's hash.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ordo/study/processes.h"
#include "ordo/study/results.h"

namespace ordo {

class RunJob {
 public:
  // `study`: the folder of the study; both references must outlive the job.
  RunJob(const fs::path& study, const StudyConfig& config, const PlannedRun& planned);

  // What is already there with this plan's hash; nothing: the run is to be made, or to be tried once more.
  std::optional<RunStatus> made() const;
  // Whether another process works in the folder: a child of an earlier `ordo ablate` that was killed ends soon.
  bool busy() const;
  // What to do next: start the `next` child of this run, try it `again` from where it stands (a failure that a second
  // try may mend), or nothing, it is `finished`: status.json is written.
  enum class Then { next, again, finished };
  // Makes the folder ready. What other settings left in it is moved to <study>/earlier/ and stays there; where only
  // what is evaluated has changed, the training stays and the evaluations are made anew. A run whose last evaluation is
  // there, too, is finished.
  Then prepare();

  void start(const std::vector<std::string>& environment);  // the next child
  Child* child() const { return child_.get(); }
  Then after(const ChildEnd& end);  // now that the child has ended
  void interrupt();                 // the child is asked to end and waited for: a training leaves a checkpoint

  const PlannedRun& planned() const { return planned_; }
  RunStatus status() const { return status_; }     // once finished
  const std::string& why() const { return why_; }  // of a failure, a divergence, or the last try
  double seconds() const;                          // spent by children so far, those of earlier tries included
  double share_done() const;                       // of the training, 0 to 1; 0 where the number of steps is not known
  std::string progress_text() const;               // "rope-seed1 at step 120/400"

 private:
  std::vector<size_t> missing_evaluations() const;
  Then finish(RunStatus status, std::string why);

  const fs::path& study_;
  const StudyConfig& config_;
  const PlannedRun& planned_;
  fs::path folder_;
  bool trained_ = false;
  std::vector<size_t> evaluations_;  // still to be made: 0 as trained, n the n-th scaling
  int64_t attempts_ = 1;
  double seconds_ = 0.0, began_ = 0.0;
  uintmax_t console_from_ = 0;  // what this child says begins here
  RunStatus status_ = RunStatus::missing;
  std::string why_;
  std::unique_ptr<Child> child_;
};

int64_t last_step(const fs::path& run);       // that metrics.jsonl tells of; 0: none yet
double trained_seconds(const fs::path& run);  // as metrics.jsonl tells it, all processes that trained it together

// The words that train a run and evaluate it (scaling 0: as trained), for a child whose current folder is the study's;
// the config of the training is written first.
void write_planned(const fs::path& study, const PlannedRun& run);
std::vector<std::string> training_words(const PlannedRun& run);
std::vector<std::string> evaluation_words(const StudyConfig& config, const PlannedRun& run, size_t scaling);

// The last "error: …" line that a child wrote to this file, behind so many bytes; "" when there is none.
std::string last_error(const fs::path& console, uintmax_t from);

// The config key of the scaling of a model's position encoding: "model.position.scaling", or of the entry of a list
// that takes one. Empty: none does.
std::string scaling_key(RunConfig config);

double steady_seconds();  // of a clock that nobody sets

}  // namespace ordo
