// SPDX-License-Identifier: Apache-2.0
// Windows of a token sequence as batches: for training endless and shuffled, for evaluation each token once.
// A window's inputs are t[i, i+L), its targets t[i+1, i+L+1). Where it crosses from one document into the next, the
// batch carries segments: tokens see their own document only, positions restart, and the first token of a document is
// nobody's target.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "ordo/data/batch.h"
#include "ordo/data/mixture.h"
#include "ordo/data/tokens.h"

namespace ordo {

// One row: inputs [begin, end) of the sequence; of its targets those of inputs from `judged` on count.
struct Window {
  int64_t begin = 0, end = 0, judged = 0;
};
// Rows of equal length, each token's target the next one.
Batch batch_of(const TokenSequence& tokens, const std::vector<Window>& windows);
// What a task makes of its windows instead; epoch: of a training, else 0.
using BatchMaker = std::function<Batch(const TokenSequence& tokens, const std::vector<Window>& windows, int64_t epoch)>;

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
// each gets an equal share of it to within one row, and fewer windows than processes are left out. consecutive: the
// sequence is cut into as many equal parts as a batch of all processes has rows (from a start drawn as for packed), and
// each row reads its part in order, window after window (Dai et al. 2019): Batch::continues, but at the start of an
// epoch. All batches are full. streamed: of files that are read as they are needed (streamed_text.h), not of a
// sequence.
enum class Sampling { random, packed, consecutive, streamed };

struct TrainingWindows {
  Sampling sampling = Sampling::random;
  int64_t batch_size = 1, length = 1;
  uint64_t seed = 0;
  Ranks ranks = {};
  BatchMaker make = {};  // empty: batch_of
  // Parts of the sequence, one behind the other, their counts in tokens: windows are drawn from them in the proportions
  // of a Mixture, and none leaves its part. packed: each pass of a part begins at a start drawn anew. Not for
  // consecutive windows. Empty: the sequence is one.
  std::vector<MixedPart> parts = {};
};
// Endless. The state is {"epoch", "cursor"}, the cursor counting the windows of all processes: it holds for another
// batch size as well, where rows do not go on. Throws DataError when the sequence, or a part of it, is too short for
// one window (for one a process; for one a row).
std::unique_ptr<BatchStream> training_stream(std::shared_ptr<const TokenSequence> tokens,
                                             const TrainingWindows& windows);

// A stream that says which windows its batches are made of.
class WindowStream : public BatchStream {
 public:
  virtual const std::vector<Window>& windows() const = 0;  // of the batch handed out last, by row
};

struct EvaluationWindows {
  int64_t batch_size = 1, length = 1;
  int64_t stride = 0;  // 0 or length: windows side by side; n < length: each next window starts n later and judges its
                       // last n targets
  Ranks ranks = {};    // batch i belongs to process i mod count
  BatchMaker make = {};  // empty: batch_of
};
// From the first token to the last: every token but the first of each document is judged exactly once. The last window
// is as long as what is left and forms a batch of its own. Throws DataError for less than two tokens, ConfigError for a
// stride beyond the length.
std::unique_ptr<WindowStream> evaluation_stream(std::shared_ptr<const TokenSequence> tokens,
                                                const EvaluationWindows& windows);

// The documents one after another, each from its first token to its last in windows side by side, that none crosses:
// one row a batch, which continues the one before, but at the start of a document. Every token but the first of each
// document is judged exactly once; document i belongs to process i mod count. Throws DataError for less than two
// tokens.
std::unique_ptr<WindowStream> reading_stream(std::shared_ptr<const TokenSequence> tokens, int64_t length,
                                             const Ranks& ranks);

}  // namespace ordo
