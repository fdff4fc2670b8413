// SPDX-License-Identifier: Apache-2.0
// Tasks over files of pairs, a prompt and its answer, both in words. A decoder reads a mark of the start, the prompt
// and "=" and writes the answer and an end mark; the loss is that of the answer. exact_match counts whole answers, each
// word judged after the right words before it: an answer is right in that way if and only if greedy decoding would
// write it. A word that training has not cannot be written, so an answer that holds one is never right; in the loss it
// counts as <unknown>.
// train.length and evaluate.lengths count words of the answer: an evaluation takes the pairs whose answer has at most
// so many.
#pragma once
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ordo/tasks/pair_files.h"
#include "ordo/tasks/sequence_task.h"

namespace ordo {

struct PairConfig {
  fs::path train, validation, test;  // .gz: gzipped; without a file for validation a part of train can be held out
  double validation_fraction = 0.0;  // drawn from the task's seed
  int64_t longest = 0;               // answers of more words are left out of training; 0: none are
};
void fields(Fields& f, PairConfig& c);

class PairTask : public SequenceTask {
 public:
  std::optional<std::string> refuses(const Model& model) const override;  // a model that does not write
  bool has(Split split) const override;
  std::optional<std::string> refuses_length(Split split, int64_t length) const override;
  uint64_t fingerprint() const override;
  std::vector<std::string> summary() const override;
  bool draws_examples() const override { return config_.validation_fraction > 0.0; }
  const std::vector<std::string>& symbols() const override { return data().files->symbols; }
  int64_t given_length(int64_t size) const override;
  int64_t asked_length(int64_t size) const override { return size + 1; }  // with the end mark
  int64_t training_count(int64_t longest) const override;
  Example training_example(uint64_t seed, uint64_t index, int64_t longest) const override;
  int64_t held_out_count(Split split, int64_t size) const override;
  Example held_out_example(Split split, uint64_t index, int64_t size) const override;
  std::optional<int64_t> never_right() const override { return data().files->unknown(); }
  std::string where(Split split, uint64_t index) const override;
  std::shared_ptr<const TextWriter> writer() const override;

 protected:
  PairTask(const PairConfig& config, const TaskFacts& facts);
  virtual std::vector<WordPair> read(const fs::path& path) const = 0;  // of each line one
  // All files that are read for a path of the config.
  virtual std::vector<fs::path> sources(const fs::path& path) const { return {path}; }

 private:
  struct Pairs {  // of a split, the shorter answers first
    std::vector<const Example*> all;
    int64_t with_unknown = 0, never_right = 0, left_out = 0;
    // How many have answers of at most so many words.
    int64_t up_to(int64_t words) const;
  };
  struct Data {
    std::shared_ptr<const PairFiles> files;
    std::array<Pairs, 3> splits;  // by Split
  };
  const Data& data() const;  // read when first needed
  const Pairs& pairs(Split split) const { return data().splits[static_cast<size_t>(split)]; }
  std::shared_ptr<const PairFiles> files() const;
  std::array<Pairs, 3> chosen(const PairFiles& files) const;
  void order_pairs(Pairs& pairs, Split split) const;
  const fs::path& file(Split split) const;
  PairConfig config_;
  mutable std::once_flag once_;
  mutable Data data_;
};

}  // namespace ordo
