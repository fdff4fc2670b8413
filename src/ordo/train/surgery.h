// SPDX-License-Identifier: Apache-2.0
// Weights of a checkpoint in a model with other position settings: another scaling or base, a longer table, an encoding
// dropped or swapped. Only tensors of the position encoding may differ; all others must fit as they do without a
// change.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ordo/checkpoint/checkpoint.h"
#include "ordo/train/run_config.h"

namespace ordo {

// What became of one tensor of the position encoding.
struct TensorFate {
  enum class Fate { kept, resized, fresh, dropped };
  std::string name;  // in the model; of a dropped one, in the checkpoint
  Fate fate = Fate::kept;
  std::string how;           // resized: in words; kept under another name: the former one; else empty
  std::string text() const;  // "decoder.position.weight: 64 rows kept, 64 new"
};
std::string fate_name(TensorFate::Fate fate);  // "kept", "resized", "new", "dropped"

struct Surgery {
  std::vector<std::string> changes;  // of the config: "model.position.0.kind: rope -> alibi"; empty: no surgery
  std::vector<TensorFate> tensors;   // all of the encoding, and those that were dropped
  bool made() const { return !changes.empty(); }
  int64_t count(TensorFate::Fate fate) const;
  // For people: what changed, each tensor that was not simply kept, and how many were. Empty when none was made.
  std::vector<std::string> lines() const;
};

// The length that a checkpoint's weights were trained at, from its config: train.trained_length where its own weights
// came from elsewhere, else model.max_length, else train.length, in tokens.
int64_t trained_length(const RunConfig& saved);
int64_t trained_length(const Checkpoint& checkpoint);

// Copies weights (averaged ones where there are any) into a model built from `now`. Where `now` says about positions
// what the checkpoint's config says, every tensor must fit. Else entries of the lists of encodings that have the same
// kind are matched in their order; a tensor of theirs is kept, or resized as the encoding says, or starts anew; all
// other tensors must fit. Throws CheckpointError that lists what does not. `what` names the weights in messages.
Surgery adopt_weights(const CheckpointContent& from, const RunConfig& now, Model& model, std::string_view what);
Surgery adopt_weights(const Checkpoint& from, const RunConfig& now, Model& model);

}  // namespace ordo
