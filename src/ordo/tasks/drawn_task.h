// SPDX-License-Identifier: Apache-2.0
// Tasks whose examples are made from a seed: as many as are wanted, at any size.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ordo/core/hash.h"
#include "ordo/tasks/sequence_task.h"

namespace ordo {

// Settings of every such task.
struct DrawnConfig {
  int64_t shortest = 0;  // smallest size trained on; 0: the task's own least
  int64_t common = 0;    // sizes up to this one are drawn with probability common_share; 0: all sizes alike
  double common_share = 0.0;
  int64_t examples = 0;    // of a training set; 0: fresh ones without end
  int64_t held_out = 500;  // examples of validation and of test, at each length
  ReadAt read = ReadAt::automatic;
};
// For the fields() of each task; `asks`: only a label is read somewhere.
void drawn_fields(Fields& f, DrawnConfig& c, Asks asks);

// Training draws sizes evenly from [shortest, train.length], or the common ones among them more often; an evaluation
// takes all of one size. Examples follow from the task's seed: held-out ones and those of a training set from it alone,
// fresh training ones from it and the run's seed.
class DrawnTask : public SequenceTask {
 public:
  bool has(Split split) const final;  // what is judged is held out: no evaluation of the training split
  std::optional<std::string> refuses_length(Split split, int64_t length) const override;
  uint64_t fingerprint() const final;
  std::vector<std::string> summary() const final;
  bool draws_examples() const final { return true; }

  // An example of exactly this size: a function of what is drawn alone.
  virtual Example example(KeyedSequence& draw, int64_t size) const = 0;
  // Held-out example number `index`; by default drawn as a training one is. Where held-out examples belong together
  // (twins), they are made from the same draws.
  virtual Example held_out(uint64_t key, uint64_t index, int64_t size) const;
  virtual int64_t least_size() const { return 1; }

  int64_t given_length(int64_t size) const override { return size; }
  int64_t asked_length(int64_t size) const override { return size; }
  const std::vector<std::string>& symbols() const final { return symbols_; }
  int64_t training_count(int64_t longest) const final {
    (void)longest;
    return drawn_.examples;
  }
  Example training_example(uint64_t seed, uint64_t index, int64_t longest) const final;
  int64_t held_out_count(Split split, int64_t size) const final;
  Example held_out_example(Split split, uint64_t index, int64_t size) const override;

 protected:
  DrawnTask(const DrawnConfig& config, const TaskFacts& facts, Asks asks, std::vector<std::string> symbols);

 private:
  int64_t smallest() const;
  Example of_training(uint64_t key, uint64_t index, int64_t longest) const;
  DrawnConfig drawn_;
  std::vector<std::string> symbols_;
  uint64_t training_key_;
};

}  // namespace ordo
