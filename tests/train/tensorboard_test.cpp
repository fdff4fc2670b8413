// SPDX-License-Identifier: Apache-2.0
// Event files are taken apart here by a small reader of their own format.
#include "support/catch.h"

#include <unistd.h>

#include <bit>
#include <map>

#include "ordo/core/files.h"
#include "ordo/train/tensorboard.h"

namespace ordo::test {
namespace {
template <class T>
T little_endian_at(std::string_view bytes, size_t at) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(static_cast<uint8_t>(bytes[at + i])) << (8 * i);
  return value;
}

uint32_t masked(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return ((crc >> 15U) | (crc << 17U)) + 0xa282ead8U;
}

// Field number -> raw values (numbers as 8 bytes) of one message.
struct Field {
  uint64_t number = 0;
  std::string bytes;
};
std::multimap<uint32_t, Field> fields_of(std::string_view m) {
  std::multimap<uint32_t, Field> all;
  size_t at = 0;
  const auto varint = [&] {
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<uint8_t>(m[at++]);
      v |= static_cast<uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return v;
    }
  };
  while (at < m.size()) {
    const uint64_t key = varint();
    Field f;
    switch (key & 7U) {
      case 0:
        f.number = varint();
        break;
      case 1:
        f.number = little_endian_at<uint64_t>(m, at);
        at += 8;
        break;
      case 5:
        f.number = little_endian_at<uint32_t>(m, at);
        at += 4;
        break;
      default: {
        const size_t n = varint();
        f.bytes = m.substr(at, n);
        at += n;
      }
    }
    all.emplace(static_cast<uint32_t>(key >> 3U), f);
  }
  return all;
}

std::vector<std::string> records_of(const std::string& file) {
  std::vector<std::string> all;
  for (size_t at = 0; at < file.size();) {
    const auto n = little_endian_at<uint64_t>(file, at);
    REQUIRE(little_endian_at<uint32_t>(file, at + 8) == masked(std::string_view(file).substr(at, 8)));
    all.push_back(file.substr(at + 12, n));
    REQUIRE(little_endian_at<uint32_t>(file, at + 12 + n) == masked(all.back()));
    at += n + 16;
  }
  return all;
}
}  // namespace

TEST_CASE("crc32c: known values", "[unit]") {
  CHECK(crc32c("123456789") == 0xE3069283U);
  CHECK(crc32c(std::string(32, '\0')) == 0x8A9136AAU);  // RFC 3720, B.4
  CHECK(crc32c(std::string(32, '\xff')) == 0x62A8AB43U);
  CHECK(crc32c("") == 0U);
}

TEST_CASE("tensorboard: a scalar event holds time, step, tags and values", "[unit]") {
  const EventScalar scalars[] = {{"train/loss", 2.5}, {"train/lr", 0.125}};
  const auto event = fields_of(scalar_event(1234.5, 300, scalars));
  CHECK(std::bit_cast<double>(event.find(1)->second.number) == 1234.5);
  CHECK(event.find(2)->second.number == 300);
  const auto summary = fields_of(event.find(5)->second.bytes);
  REQUIRE(summary.count(1) == 2);
  const auto first = fields_of(summary.find(1)->second.bytes);
  CHECK(first.find(1)->second.bytes == "train/loss");
  CHECK(std::bit_cast<float>(static_cast<uint32_t>(first.find(2)->second.number)) == 2.5F);
}

TEST_CASE(
    "tensorboard: a file of a resumed run opens with the version and the step from which older events do not count",
    "[unit]") {
  const fs::path run = fs::temp_directory_path() / ("ordo-tensorboard-" + std::to_string(getpid()));
  fs::create_directories(run);
  TensorBoard board(run);
  RunConfig config;
  config.train.log_every = 2;
  config.train.length = 64;
  board.started(config, /*step=*/6, /*steps=*/9);
  for (int64_t step = 7; step <= 9; ++step) board.stepped({.step = step, .loss = 1.0});
  board.evaluated({.step = 9, .length = 128, .evaluation = {.metrics = {{"loss", 1.5}}}});
  const std::string bytes = read_file(fs::directory_iterator(run)->path());
  fs::remove_all(run);
  const auto records = records_of(bytes);
  REQUIRE(records.size() == 5);  // version, session, steps 8 and 9, evaluation
  CHECK(fields_of(records[0]).find(3)->second.bytes == "brain.Event:2");
  const auto session = fields_of(records[1]);
  CHECK(session.find(2)->second.number == 7);
  CHECK(fields_of(session.find(7)->second.bytes).find(1)->second.number == 1);
  CHECK(fields_of(records[2]).find(2)->second.number == 8);
  CHECK(records[4].find("validation/loss@128") != std::string::npos);
}

TEST_CASE("tensorboard: a run that starts again beside older events says that they do not count", "[unit]") {
  const fs::path run = fs::temp_directory_path() / ("ordo-tensorboard-again-" + std::to_string(getpid()));
  fs::create_directories(run);
  const fs::path older = run / "events.out.tfevents.1.1";
  const auto events_of_start = [&] {
    TensorBoard(run).started({}, /*step=*/0, /*steps=*/9);
    std::string bytes;
    for (const auto& entry : fs::directory_iterator(run)) {
      if (entry.path() == older) continue;
      bytes = read_file(entry.path());
      fs::remove(entry.path());
    }
    return records_of(bytes).size();
  };
  CHECK(events_of_start() == 1);
  write_file(older, "");
  CHECK(events_of_start() == 2);
  fs::remove_all(run);
}

}  // namespace ordo::test
