// SPDX-License-Identifier: Apache-2.0
// Windows of a token sequence as batches: for training endless and shuffled, for evaluation each token once.
// A window's inputs are t[i, i+L), its targets t[i+1, i+L+1). Where it crosses from one document into the next, the
// batch carries segments: tokens see their own document only, positions restart, and the first token of a document is
// nobody's target.
#pragma once
#include <memory>

#include "ordo/data/batch.h"
#include "ordo/data/tokens.h"

namespace ordo {

// The place in the data: epochs done, and windows or examples (batches, in an evaluation of windows) of this one.
struct StreamPlace {
  int64_t epoch = 0, cursor = 0;
  Json to_json() const;
  // Throws CheckpointError for what is no such place, or lies past `most`.
  static StreamPlace from_json(const Json& json, int64_t most);
};

// random: an epoch is floor((n-1) / L) windows, each starting anywhere with equal chance, drawn with replacement
// (nanoGPT's way). All batches are full. packed: the sequence is laid out in floor((n-1) / L) windows side by side
// (from a start drawn anew each epoch, so that the rest at the ends is another one), each taken once an epoch in
// shuffled order. The last batch of an epoch is smaller when the windows do not divide evenly; with several processes
// each gets an equal share of it to within one row, and fewer windows than processes are left out.
enum class Sampling { random, packed };

struct TrainingWindows {
  Sampling sampling = Sampling::random;
  int64_t batch_size = 1, length = 1;
  uint64_t seed = 0;
  Ranks ranks = {};
};
// Endless. The state is {"epoch", "cursor"}, the cursor counting the windows of all processes: it holds for another
// batch size as well. Throws DataError when the sequence is too short for one window (for one a process).
std::unique_ptr<BatchStream> training_stream(std::shared_ptr<const TokenSequence> tokens,
                                             const TrainingWindows& windows);

struct EvaluationWindows {
  int64_t batch_size = 1, length = 1;
  int64_t stride = 0;  // 0 or length: windows side by side; n < length: each next window starts n later and judges its
                       // last n targets
  Ranks ranks = {};    // batch i belongs to process i mod count
};
// From the first token to the last: every token but the first of each document is judged exactly once. The last window
// is as long as what is left and forms a batch of its own. Throws DataError for less than two tokens, ConfigError for a
// stride beyond the length.
std::unique_ptr<BatchStream> evaluation_stream(std::shared_ptr<const TokenSequence> tokens,
                                               const EvaluationWindows& windows);

// One row: inputs [begin, end) of the sequence; of its targets those of inputs from `judged` on count.
struct Window {
  int64_t begin = 0, end = 0, judged = 0;
};
// Rows of equal length.
Batch batch_of(const TokenSequence& tokens, const std::vector<Window>& windows);

}  // namespace ordo
