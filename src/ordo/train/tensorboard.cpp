// SPDX-License-Identifier: Apache-2.0
#include "ordo/train/tensorboard.h"

#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <utility>

#include "ordo/core/log.h"

namespace ordo {

namespace {
// Protobuf's wire format: https://protobuf.dev/programming-guides/encoding. Field numbers are those of TensorFlow's
// event.proto and summary.proto.
enum class Wire : uint32_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

class Message {
 public:
  Message& number(uint32_t field, uint64_t value) {
    key(field, Wire::varint);
    varint(value);
    return *this;
  }
  Message& real64(uint32_t field, double value) {
    key(field, Wire::fixed64);
    raw(std::bit_cast<uint64_t>(value));
    return *this;
  }
  Message& real32(uint32_t field, float value) {
    key(field, Wire::fixed32);
    raw(std::bit_cast<uint32_t>(value));
    return *this;
  }
  Message& text(uint32_t field, std::string_view value) {
    key(field, Wire::bytes);
    varint(value.size());
    bytes_.append(value);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void key(uint32_t field, Wire wire) { varint(field << 3U | static_cast<uint32_t>(wire)); }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7U) bytes_.push_back(static_cast<char>(value | 0x80U));
    bytes_.push_back(static_cast<char>(value));
  }
  template <class T>
  void raw(T value) {  // little-endian
    for (size_t i = 0; i < sizeof(T); ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
  }
  std::string bytes_;
};

namespace field {
constexpr uint32_t kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;  // Event
constexpr uint32_t kValue = 1;                                                                 // Summary
constexpr uint32_t kTag = 1, kSimpleValue = 2;                                                 // Summary.Value
constexpr uint32_t kStatus = 1;                                                                // SessionLog
}  // namespace field
constexpr uint64_t kSessionStart = 1;

constexpr std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1U) != 0 ? 0x82F63B78U ^ (c >> 1U) : c >> 1U;
    table[i] = c;
  }
  return table;
}

template <class T>
std::string little_endian(T value) {
  std::string out(sizeof(T), '\0');
  for (size_t i = 0; i < sizeof(T); ++i) out[i] = static_cast<char>(value >> (8 * i));
  return out;
}

// TensorFlow stores checksums rotated and shifted, since the checksum of a text that holds its own checksum is weak.
uint32_t masked_crc(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xA282EAD8U; }

constexpr std::string_view kEventFile = "events.out.tfevents.";

bool has_other_events(const fs::path& own) {
  for (const auto& entry : fs::directory_iterator(own.parent_path()))
    if (entry.path() != own && entry.path().filename().string().starts_with(kEventFile)) return true;
  return false;
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}
}  // namespace

uint32_t crc32c(std::string_view bytes) {
  static constexpr auto kTable = crc_table();
  uint32_t c = 0xFFFFFFFFU;
  for (const char b : bytes) c = kTable[(c ^ static_cast<uint8_t>(b)) & 0xFFU] ^ (c >> 8U);
  return ~c;
}

std::string event_record(std::string_view data) {
  const std::string length = little_endian(static_cast<uint64_t>(data.size()));
  return length + little_endian(masked_crc(length)) + std::string(data) + little_endian(masked_crc(data));
}

std::string scalar_event(double wall_time, int64_t step, std::span<const EventScalar> scalars) {
  Message summary;
  for (const auto& s : scalars) {
    Message value;
    value.text(field::kTag, s.tag).real32(field::kSimpleValue, static_cast<float>(s.value));
    summary.text(field::kValue, value.bytes());
  }
  Message event;
  event.real64(field::kWallTime, wall_time)
      .number(field::kStep, static_cast<uint64_t>(step))
      .text(field::kSummary, summary.bytes());
  return event.bytes();
}

TensorBoard::TensorBoard(const fs::path& run)
    : file_(run / fmt::format("{}{}.{}", kEventFile, static_cast<int64_t>(wall_seconds()), getpid())) {}

void TensorBoard::started(const RunConfig& config, int64_t step, int64_t steps) {
  log_every_ = config.train.log_every;
  trained_length_ = config.train.length;
  steps_ = steps;
  Message version, start, session;
  add(version.real64(field::kWallTime, wall_seconds()).text(field::kFileVersion, "brain.Event:2").bytes());
  if (step == 0 && !has_other_events(file_)) return;
  // After a resume, or a restart without a checkpoint: what an earlier file has past this step does not count.
  session.number(field::kStatus, kSessionStart);
  add(start.real64(field::kWallTime, wall_seconds())
          .number(field::kStep, static_cast<uint64_t>(step) + 1)
          .text(field::kSessionLog, session.bytes())
          .bytes());
}

void TensorBoard::stepped(const StepReport& r) {
  if (r.step != 1 && r.step % log_every_ != 0 && r.step != steps_) return;
  const EventScalar scalars[] = {{"train/loss", r.loss},
                                 {"train/lr", r.lr},
                                 {"train/grad_norm", r.grad_norm},
                                 {"train/tokens_per_second", r.tokens_per_second}};
  add(scalar_event(wall_seconds(), r.step, scalars));
}

void TensorBoard::evaluated(const EvalReport& r) {
  const std::string at = r.length == trained_length_ ? "" : fmt::format("@{}", r.length);
  std::vector<EventScalar> scalars;
  for (const auto& [name, value] : r.evaluation.metrics)
    scalars.push_back({fmt::format("{}/{}{}", split_name(r.split), name, at), value});
  if (!scalars.empty()) add(scalar_event(wall_seconds(), r.step, scalars));
}

void TensorBoard::add(std::string_view event) {
  std::ofstream out(file_, std::ios::binary | std::ios::app);
  const std::string record = event_record(event);
  out.write(record.data(), static_cast<std::streamsize>(record.size()));
  if (!out.flush() && !std::exchange(failed_, true))
    log::warn("{} cannot be written, training goes on without TensorBoard's curves", file_.string());
}

}  // namespace ordo
