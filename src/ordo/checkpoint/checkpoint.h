// SPDX-License-Identifier: Apache-2.0
// A checkpoint is a folder runs/<name>/step-00002000/ with model.safetensors, optimizer.safetensors, ema.safetensors
// (when averaged), memory.safetensors (when it keeps the segments before), state.json, config.yaml, tokenizer/ and
// manifest.json (sizes and checksums). It is written beside, flushed and renamed; a folder without a valid manifest
// does not exist.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ordo/checkpoint/safetensors.h"
#include "ordo/core/json.h"

namespace ordo {

inline constexpr int kCheckpointFormat =
    1;  // of state.json; a test keeps one small checkpoint of each past number and loads it

// What one checkpoint holds, in memory: copies, so that training may go on while it is written.
struct CheckpointContent {
  NamedTensors model, optimizer, ema;                     // ema empty: no such file
  std::string state;                                      // state.json, already text
  std::string config;                                     // config.yaml, resolved
  std::function<void(const fs::path& folder)> tokenizer;  // writes the tokenizer's files; may be empty
  NamedTensors memory = {};                               // empty: no such file
};

std::string checkpoint_name(int64_t step);                      // "step-00002000"
std::optional<int64_t> checkpoint_step(std::string_view name);  // the reverse; nothing when it is no such name

// Writes <run>/<checkpoint_name(step)> whole or not at all. Throws CheckpointError (disk full, permissions …) with the
// previous checkpoints intact.
fs::path write_checkpoint(const fs::path& run, int64_t step, const CheckpointContent& content);

enum class Verify { sizes, checksums };  // checksums reads every byte
// Opens a checkpoint folder; throws CheckpointError that names the file or the tensor that is missing, cut or changed.
class Checkpoint {
 public:
  explicit Checkpoint(const fs::path& folder, Verify verify = Verify::checksums);
  const fs::path& folder() const { return folder_; }
  int64_t step() const { return step_; }
  NamedTensors model() const;
  NamedTensors optimizer() const;
  NamedTensors ema() const;     // empty when there is none
  NamedTensors memory() const;  // what each block read of the segments before, in order; empty when there is none
  std::string state() const;
  std::string config() const;
  fs::path tokenizer() const { return folder_ / "tokenizer"; }

 private:
  fs::path folder_;
  int64_t step_ = 0;
};

// The steps of a run's checkpoints that have a manifest, ascending as numbers.
std::vector<int64_t> list_checkpoints(const fs::path& run);
// The newest one that verifies; damaged ones are told in the log (what is wrong with each) and passed over. Nothing
// when there is none.
std::optional<Checkpoint> newest_valid(const fs::path& run);
// <run>/best or <run>/last: one line, a checkpoint's name.
void point(const fs::path& run, std::string_view pointer, int64_t step);
std::optional<int64_t> pointed(const fs::path& run, std::string_view pointer);
// Which checkpoint a user means by RUN: a run folder (best | last | a step, by `which`; "" = best if there is one, else
// last) or a checkpoint folder itself.
fs::path resolve_checkpoint(const fs::path& run_or_checkpoint, std::string_view which);
// Deletes all but the newest `keep` and the ones pointed at by best and last. Called only after a newer one is durable.
void retain(const fs::path& run, int64_t keep);
// Copies named tensors into parameters and buffers of the same names; wrong shapes, missing and unknown names are one
// CheckpointError that lists them.
void load_into(const NamedTensors& from, const NamedTensors& into, std::string_view what);

}  // namespace ordo
