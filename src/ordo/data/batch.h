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
#include "ordo/ops/sequence.h"

namespace ordo {

struct Batch {
  Tensor ids;      // int64 [B, L]
  Tensor targets;  // int64 [B, L]; kIgnore where nothing is asked
  Positions at;
  Mask mask = {};
  double weight = 0.0;  // targets that count
  std::vector<std::string> examples =
      {};                    // where each row came from ("input.txt, offset 512"), so that a bad loss can be traced
  Draw draw = {};            // set by the trainer
  EncoderInput source = {};  // of an encoder-decoder, whose decoder gets the ids
  // Of the longer side, where there are two.
  int64_t tokens() const { return std::max(ids.numel(), source.defined() ? source.ids.numel() : 0); }
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
