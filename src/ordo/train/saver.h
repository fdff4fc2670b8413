// SPDX-License-Identifier: Apache-2.0
// Checkpoints written on a thread of their own while training goes on.
#pragma once
#include <future>
#include <memory>
#include <vector>

#include "ordo/checkpoint/checkpoint.h"

namespace ordo {

// In this order: the checkpoint is written and durable, then `last` (and `best`) point at it, then older ones go.
class Saver {
 public:
  Saver(fs::path run, int64_t keep);
  ~Saver();  // waits; a failure goes to the log
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  void save(int64_t step, CheckpointContent content,
            bool best);  // returns at once, unless the one before is still being written
  // What was written since the last call. A save that failed is one warning in the log: training goes on, older
  // checkpoints are intact. If it was of the best, it is kept in memory and written before the next save, unless that
  // is better still.
  std::vector<fs::path> written();
  // The same once the last save is done; throws its CheckpointError if it failed.
  std::vector<fs::path> finish();

 private:
  struct Job {
    int64_t step;
    CheckpointContent content;
    bool best;
  };
  void settle();           // waits for the save under way
  void retry_lost_best();  // waits, too
  fs::path run_;
  int64_t keep_;
  std::future<fs::path> pending_;
  std::shared_ptr<const Job> job_;        // the one under way
  std::shared_ptr<const Job> lost_best_;  // its save failed
  std::vector<fs::path> written_;
};

}  // namespace ordo
