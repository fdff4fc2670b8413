// SPDX-License-Identifier: Apache-2.0
// Event files that TensorBoard reads: records with masked CRC-32C around `Event` messages in protobuf's wire format,
// scalars only.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "ordo/train/trainer.h"

namespace ordo {

// CRC-32C (Castagnoli) of the bytes; "123456789" gives 0xE3069283.
uint32_t crc32c(std::string_view bytes);
// One record of an event file: length, masked checksum of the length, data, masked checksum of the data.
std::string event_record(std::string_view data);

struct EventScalar {
  std::string tag;
  double value;
};
// An `Event` message with scalar summaries.
std::string scalar_event(double wall_time, int64_t step, std::span<const EventScalar> scalars);

// train/loss, train/lr, train/grad_norm, train/tokens_per_second, <split>/<metric> (with "@length" past the first
// length).
class TensorBoard final : public Observer {
 public:
  explicit TensorBoard(const fs::path& run);  // a new file a process: events.out.tfevents.<seconds>.<pid>
  void started(const RunConfig& config, int64_t step, int64_t steps) override;
  void stepped(const StepReport& report) override;
  void evaluated(const EvalReport& report) override;

 private:
  void add(std::string_view event);
  fs::path file_;
  int64_t log_every_ = 1, steps_ = 0, trained_length_ = 0;
  bool failed_ = false;
};

}  // namespace ordo
