// SPDX-License-Identifier: Apache-2.0
// What the trainer is fed: batches from resumable streams.
#pragma once
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ordo/core/json.h"
#include "ordo/ops/draw.h"
#include "ordo/ops/encoder_input.h"
#include "ordo/ops/segment_memory.h"
#include "ordo/ops/sequence.h"

namespace ordo {

struct Batch {
  Tensor ids;      // int64 [B, L]; undefined where a model reads a signal
  Tensor targets;  // int64 [B, L]; kIgnore where nothing is asked. Or what else a task asks: classes, values
  Positions at;
  Mask mask = {};
  double weight = 0.0;  // targets that count
  std::vector<std::string> examples =
      {};                    // where each row came from ("input.txt, offset 512"), so that a bad loss can be traced
  Draw draw = {};            // set by the trainer
  EncoderInput source = {};  // of an encoder-decoder, whose decoder gets the ids
  Tensor signal = {};        // float: images [B, C, H, W]; frames or series [B, L, C]
  Tensor types = {};         // int64 [B, L]: which of several texts a token is of
  bool continues = false;    // each row goes on where it ended in the batch before
  SegmentMemory* memory = nullptr;  // set by the trainer, of tasks whose rows go on
  // Of the longer side, where there are two; of a signal its frames, steps or pixels.
  int64_t tokens() const;
};
// Copies to a device (pinned and non-blocking towards CUDA).
Batch to_device(const Batch& batch, c10::Device device);

enum class Split { train, validation, test };
const char* split_name(Split split);

// Share of the data for one of several processes.
struct Ranks {
  int64_t rank = 0, count = 1;
};

// An endless (training) or finite (evaluation) sequence of batches. Its order is a function of (seed, epoch, cursor)
// alone.
class BatchStream {
 public:
  virtual ~BatchStream() = default;
  virtual std::optional<Batch> next() = 0;  // nothing: the end (evaluation only)
  virtual Json state() const = 0;           // of the batches handed out so far, not of those read ahead
  virtual void restore(const Json& state) = 0;
  virtual int64_t epoch() const = 0;             // of the next batch
  virtual double batches_per_epoch() const = 0;  // to turn epochs into steps
};
// Reads `ahead` batches ahead on a thread of its own; order, state and errors are those of the inner stream.
std::unique_ptr<BatchStream> prefetched(std::unique_ptr<BatchStream> inner, int64_t ahead);

}  // namespace ordo
