// SPDX-License-Identifier: Apache-2.0
// Whole examples as batches: drawn or read, in a shuffled order for training and in their own for evaluation.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ordo/core/files.h"
#include "ordo/data/batch.h"
#include "ordo/data/mixture.h"

namespace ordo {

// The numbers of the examples of each part; every example is of one.
struct MixedExamples {
  std::vector<MixedPart> parts = {};
  std::vector<std::vector<uint64_t>> numbers = {};
};
// Of `count` examples, of which each comes from one of the entries of a list of files; without weights no parts.
MixedExamples mixed_examples(const std::vector<fs::path>& entries, const std::vector<double>& weights, int64_t count,
                             const std::function<size_t(uint64_t number)>& entry_of);

// Examples by their number.
class ExampleSet {
 public:
  virtual ~ExampleSet() = default;
  virtual int64_t count() const = 0;  // of an epoch; 0: without end
  virtual Batch batch(std::span<const uint64_t> numbers) const = 0;
  // Tokens of an example; 0: all take the same room, or it does not matter.
  virtual int64_t length(uint64_t number) const {
    (void)number;
    return 0;
  }
  // Where an example came from ("a.tsv: line 7"), so that a bad loss can be traced.
  virtual std::string name(uint64_t number) const = 0;
};

struct ExampleStreamOptions {
  int64_t batch_size = 1;
  int64_t batch_tokens = 0;  // training: in place of batch_size, rows times the longest of them at most; 0: off
  bool by_length = false;    // training: batches of examples of like lengths, in shuffled order
  bool training = true;      // endless and shuffled; else finite and in order
  uint64_t seed = 0;         // of the order
  Ranks ranks = {};          // each process gets its share of every batch, to within one row
  MixedExamples mixed = {};  // training: the proportions of its parts; none: each example once an epoch
};
// Its order is a function of (seed, epoch, cursor); the state is {"epoch", "cursor"}, the cursor counting examples of
// all processes: in plain order it holds for another batch size as well. By length an epoch is a permutation, cut into
// runs of 64 batches that are sorted by length and cut into batches, which are shuffled. Where training mixes parts,
// the rows of their Mixture stand in place of the permutation. Throws DataError for a training set of fewer examples
// than processes and for a part without one, ConfigError for by_length or batch_tokens without an end to an epoch.
std::unique_ptr<BatchStream> example_stream(std::shared_ptr<const ExampleSet> examples,
                                            const ExampleStreamOptions& options);

}  // namespace ordo
