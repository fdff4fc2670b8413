// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/streamed_text.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "ordo/core/errors.h"
#include "ordo/core/log.h"
#include "support/packing.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

using RowTexts = std::vector<std::string>;  // the text of each row of a batch

std::shared_ptr<const Tokenizer> streaming_bytes() { return tokenizers().build("byte", {}); }

std::string row_text(const Batch& batch, int64_t row) {
  const Tensor ids = batch.ids[row].contiguous();
  return streaming_bytes()->decode({ids.data_ptr<int64_t>(), static_cast<size_t>(ids.numel())});
}

RowTexts rows_of(const Batch& batch) {
  RowTexts rows;
  for (int64_t row = 0; row < batch.ids.size(0); ++row) rows.push_back(row_text(batch, row));
  return rows;
}

// Lines of eight bytes, each with its number: "00001234".
std::string numbered(int from, int count) {
  std::string text;
  for (int i = from; i < from + count; ++i) text += fmt::format("{:07}\n", i);
  return text;
}
constexpr int kNumbered = 150;

// Three files of 40, 50 and 60 numbered lines.
TextFiles numbered_files(const Scratch& scratch, const std::string& packing) {
  TextFiles files{.block = 500};
  for (const auto& [name, from, count] : {std::tuple{"a", 0, 40}, std::tuple{"b", 40, 50}, std::tuple{"c", 90, 60}}) {
    std::string text = numbered(from, count);
    if (packing.starts_with(".jsonl")) {
      std::string records;
      for (int i = from; i < from + count; ++i) records += fmt::format("{{\"n\": 1, \"text\": \"{:07}\"}}\n", i);
      text = records;
      files.column = "text";
    }
    const std::string bytes = packing.ends_with(".gz")    ? gzip_of(text)
                              : packing.ends_with(".zst") ? zstd_of(text)
                                                          : text;
    files.paths.push_back(scratch.write(name + packing, bytes));
  }
  return files;
}

TrainingWindows windows_of(int64_t batch_size, int64_t length, const Ranks& ranks = {}) {
  return {.sampling = Sampling::streamed, .batch_size = batch_size, .length = length, .seed = 5, .ranks = ranks};
}

std::unique_ptr<BatchStream> streaming(const TextFiles& files, const TrainingWindows& windows, int64_t ahead = 0) {
  return prefetched(streamed_text(checked_text_files(files), streaming_bytes(), windows), ahead);
}

std::vector<RowTexts> batches_of(BatchStream& stream, size_t count) {
  std::vector<RowTexts> batches;
  while (batches.size() < count) batches.push_back(rows_of(*stream.next()));
  return batches;
}

// Stopped behind any of so many batches and gone on in a new stream, it is as if there had been no stop.
void check_resumes(const TextFiles& files, const TrainingWindows& windows, int64_t ahead, size_t count) {
  constexpr size_t kBehind = 12;
  const auto whole = streaming(files, windows, ahead);
  std::vector<std::string> states{whole->state().dump()};
  std::vector<RowTexts> batches;
  std::vector<int64_t> epochs{whole->epoch()};
  while (batches.size() < count + kBehind) {
    batches.push_back(rows_of(*whole->next()));
    states.push_back(whole->state().dump());
    epochs.push_back(whole->epoch());
  }
  CHECK(epochs.back() >= 2);
  for (size_t stop = 0; stop <= count; ++stop) {
    CAPTURE(stop, states[stop]);
    const auto again = streaming(files, windows, ahead);
    if (stop % 2 == 1) again->next();  // a stream that was under way
    again->restore(parse_json(states[stop], "state"));
    CHECK(again->epoch() == epochs[stop]);
    const auto rest = batches_of(*again, kBehind);
    REQUIRE(std::equal(rest.begin(), rest.end(), batches.begin() + static_cast<std::ptrdiff_t>(stop)));
    CHECK(again->state().dump() == states[stop + kBehind]);
  }
}

// The most that this process has held since the peak was reset.
int64_t peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (int64_t kilobytes = 0; word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  return 0;
}

std::string reading_fails(const TextFiles& files, size_t batches = 1000) {
  return thrown<DataError>([&] { batches_of(*streaming(files, windows_of(4, 8)), batches); });
}

}  // namespace

TEST_CASE("streamed text: stopped behind any batch and gone on, the order is that of no stop", "[unit]") {
  for (const std::string packing : {".txt", ".txt.gz", ".txt.zst", ".jsonl", ".jsonl.zst"}) {
    CAPTURE(packing);
    const Scratch scratch;
    check_resumes(numbered_files(scratch, packing), windows_of(8, 8), /*ahead=*/0, 48);
  }
}

TEST_CASE("streamed text: the order is the same whatever is read ahead, and for two processes", "[unit]") {
  const Scratch scratch;
  const TextFiles files = numbered_files(scratch, ".txt.zst");
  for (const int64_t ahead : {1, 3}) check_resumes(files, windows_of(8, 8), ahead, 40);
  for (const int64_t rank : {0, 1}) check_resumes(files, windows_of(4, 8, {.rank = rank, .count = 2}), /*ahead=*/2, 40);
  const auto plain = batches_of(*streaming(files, windows_of(8, 8)), 80);
  CHECK(batches_of(*streaming(files, windows_of(8, 8), 3), 80) == plain);
}

TEST_CASE("streamed text: two processes share the rows of one, to within a row", "[unit]") {
  const Scratch scratch;
  const TextFiles files = numbered_files(scratch, ".txt");
  const auto one = streaming(files, windows_of(8, 8));
  const auto first = streaming(files, windows_of(4, 8, {.rank = 0, .count = 2}));
  const auto second = streaming(files, windows_of(4, 8, {.rank = 1, .count = 2}));
  for (int i = 0; i < 60; ++i) {
    RowTexts a = rows_of(*first->next());
    const RowTexts b = rows_of(*second->next());
    CHECK(std::abs(std::ssize(a) - std::ssize(b)) <= 1);
    a.insert(a.end(), b.begin(), b.end());
    CHECK(a == rows_of(*one->next()));
  }
}

TEST_CASE("streamed text: an epoch takes what windows hold of every block once, and all lines come", "[unit]") {
  const Scratch scratch;
  for (const std::string packing : {".txt", ".jsonl.gz"}) {
    const TextFiles files = numbered_files(scratch, packing);
    const int64_t tokens = packing == ".txt" ? 8 * kNumbered : 9 * kNumbered;
    const auto stream = streaming(files, windows_of(5, 16));
    std::set<std::string> lines;
    std::set<RowTexts> starts;
    for (int64_t epoch = 0; epoch < 10; ++epoch) {
      std::multiset<std::string> rows;
      while (stream->epoch() == epoch) {
        const RowTexts batch = rows_of(*stream->next());
        if (rows.empty()) starts.insert(batch);
        rows.insert(batch.begin(), batch.end());
      }
      CHECK(std::ssize(rows) <= tokens / 16);
      CHECK(std::ssize(rows) >= tokens / 16 - 4);  // at most one less for each block
      for (const auto& row : rows) {
        CHECK(rows.count(row) == 1);
        for (size_t at = row.find('\n'); at != std::string::npos && at + 8 < row.size(); at = row.find('\n', at + 1))
          if (row[at + 1] != '\n') lines.insert(row.substr(at + 1, 7));
      }
    }
    CHECK(lines.size() >= kNumbered - 3);  // the first of a file has no break before it
    CHECK(starts.size() == 10);            // files and windows come in another order each time
  }
}

TEST_CASE("streamed text: rows keep documents apart as those of a whole corpus do", "[unit]") {
  const Scratch scratch;
  std::string text;
  for (int i = 0; i < 100; ++i) text += fmt::format("{:05}\n\n", i);
  TextFiles files{.paths = {scratch.write("a.txt", text)}, .documents = Documents::blank_line, .block = 200};
  const auto stream = streaming(files, windows_of(3, 20));
  for (int i = 0; i < 20; ++i) {
    const auto batch = stream->next();
    REQUIRE(batch->mask.q_segment.defined());
    CHECK(contains(batch->examples.front(), "a.txt"));
    for (int64_t row = 0; row < batch->ids.size(0); ++row) {
      const std::string shown = row_text(*batch, row);
      const Tensor segments = batch->mask.q_segment[row];
      for (size_t k = 1; k < shown.size(); ++k) {
        const bool begins = shown[k] != '\n' && shown[k - 1] == '\n';
        CHECK((segments[static_cast<int64_t>(k)].item<int64_t>() !=
               segments[static_cast<int64_t>(k) - 1].item<int64_t>()) == begins);
      }
    }
  }
}

TEST_CASE("streamed text: what is wrong is told with file and line when reading comes to it", "[unit]") {
  const Scratch scratch;
  TextFiles files{.paths = {}, .block = 200};
  const auto one = [&](const std::string& name, const std::string& bytes) {
    files.paths = {scratch.write(name, bytes)};
    return files;
  };
  const std::string good = numbered(0, 60);
  const TextFiles latin = one("a.txt", good + "caf\xE9\n" + good);
  CHECK(batches_of(*streaming(latin, windows_of(4, 8)), 8).size() == 8);  // the first block
  CHECK(contains(reading_fails(latin), "a.txt: line 61: byte 0xE9 (byte 483 of the file) is not valid UTF-8"));
  const auto begun = streaming(latin, windows_of(4, 8));
  batches_of(*begun, 8);
  const auto again = streaming(latin, windows_of(4, 8));
  again->restore(begun->state());
  CHECK(contains(thrown<DataError>([&] { batches_of(*again, 99); }), "a.txt: line 61: byte 0xE9 (byte 483 of"));
  CHECK(contains(reading_fails(one("b.txt.gz", gzip_of(good + "caf\xE9\n"))), "b.txt.gz: line 61: byte 0xE9"));
  std::string noise;
  for (int i = 0; i < 20'000; ++i) noise += fmt::format("{:07}\n", (i * 7919) % 1'000'003);
  for (const auto& [name, bytes] : {std::pair{"c.gz", gzip_of(noise)}, std::pair{"c.zst", zstd_of(noise)}})
    CHECK(contains(reading_fails(one(name, bytes.substr(0, bytes.size() / 2)), 100'000), "damaged or cut off"));
  CHECK(contains(reading_fails(one("d.txt.gz", gzip_of(""))), "d.txt.gz is empty"));
  CHECK(contains(reading_fails(one("e.txt", "tiny")), "e.txt: no block of the training text has 9 tokens"));
  files.column = "text";
  CHECK(contains(reading_fails(one("f.jsonl", "{\"text\": \"some words\"}\n{\"txt\": \"more\"}\n")),
                 "f.jsonl: line 2: 'text' is missing"));
  const std::string record = "{\"text\": \"some words\"}\n", large = "{\"text\": \"" + std::string(5000, 'x') + "\"}\n";
  CHECK(contains(reading_fails(one("g.jsonl", record + large + record)), "g.jsonl: line 2 is longer than 200 bytes"));
}

TEST_CASE("streamed text: a failure stays one however often the next batch is asked for", "[unit]") {
  const Scratch scratch;
  const TextFiles files{.paths = {scratch.write("a.txt", numbered(0, 20) + "caf\xE9\n" + numbered(0, 90))},
                        .block = 100};
  const auto stream = streaming(files, windows_of(2, 8));
  const auto to_the_end = [&] {
    while (true) stream->next();
  };
  const std::string message = thrown<DataError>(to_the_end);
  CHECK(contains(message, "line 21"));
  CHECK(thrown<DataError>(to_the_end) == message);
}

TEST_CASE("streamed text: bad lines are left out, and the rest is read", "[unit]") {
  const Scratch scratch;
  TextFiles files{.on_bad_line = OnBadLine::skip, .block = 300};
  files.paths = {scratch.write("a.txt", numbered(0, 60) + "caf\xE9 one\n" + numbered(60, 60) + "\xFF\n")};
  std::string all;
  for (const auto& rows : batches_of(*streaming(files, windows_of(4, 10)), 200))
    for (const auto& row : rows) all += row + "|";
  CHECK(!contains(all, "caf"));
  CHECK(contains(all, "\n\n"));  // the line break of what was left out
  CHECK(contains(all, "0000119"));

  const std::string large = "{\"text\": \"" + std::string(5000, 'x') + "\"}\n";
  std::string records;
  for (int i = 0; i < 60; ++i)
    records += fmt::format("{{\"text\": \"{:07}\"}}\n", i) + (i == 20 ? large : "") + (i == 50 ? "{}\n" : "");
  files.column = "text";
  files.paths = {scratch.write("a.jsonl", records)};
  log::set_level(log::Level::error);
  check_resumes(files, windows_of(4, 8), /*ahead=*/0, 40);
  all.clear();
  for (const auto& rows : batches_of(*streaming(files, windows_of(4, 9)), 100))
    for (const auto& row : rows) all += row;
  CHECK(!contains(all, "x"));
  CHECK(contains(all, "0000021"));
  log::set_level(log::Level::info);
}

TEST_CASE("streamed text: a line longer than a block is cut between characters", "[unit]") {
  const Scratch scratch;
  std::string line;
  while (line.size() < 3000) line += "中";
  const TextFiles files{.paths = {scratch.write("a.txt", "short\n" + line + "\nend\n")}, .block = 400};
  int64_t rows = 0;
  const auto stream = streaming(files, windows_of(4, 16));
  while (stream->epoch() == 0) rows += stream->next()->ids.size(0);
  CHECK(rows >= 3000 / 16 - 9);
}

TEST_CASE("streamed text: files that are empty, of tokens or tables are refused at once", "[unit]") {
  const Scratch scratch;
  const auto good = scratch.write("a.txt", numbered(0, 9)), empty = scratch.write("b.txt", "");
  CHECK(contains(thrown<DataError>([&] { checked_text_files({.paths = {good, empty}}); }), "b.txt is empty"));
  CHECK(contains(thrown<DataError>([&] {
                   checked_text_files({.paths = {good, scratch / "none.txt"}});
                 }),
                 "no such file"));
  const auto ids = scratch.write("c.bin", "abcd");
  CHECK(contains(thrown<ConfigError>([&] { checked_text_files({.paths = {ids}}); }), "use task.sampling: packed"));
  const auto table = scratch.write("d.csv", "text\nx\n");
  CHECK(contains(thrown<ConfigError>([&] { checked_text_files({.paths = {table}, .column = "text"}); }), "is a table"));
}

TEST_CASE("streamed text: other files are told from those of the checkpoint", "[unit]") {
  const Scratch scratch, other;
  std::string text = numbered(0, 30'000);
  const TextFiles files{.paths = {scratch.write("a.txt", text)}, .block = 100'000};
  CHECK(fingerprint(files) == fingerprint({.paths = {other.write("a.txt", text)}, .block = 100'000}));
  CHECK(fingerprint(files) != fingerprint({.paths = files.paths, .block = 200'000}));
  const auto stream = streaming(files, windows_of(64, 8));
  stream->next();
  const Json state = stream->state();
  const uint64_t before = fingerprint(files);

  text[100'000 / 2 + 30'000] = 'x';  // in the first block, and in neither end of the file
  scratch.write("a.txt", text);
  CHECK(fingerprint(files) == before);
  CHECK(contains(thrown<CheckpointError>([&] { streaming(files, windows_of(64, 8))->restore(state); }),
                 "is not what it was: the file has changed"));
  text[5] = 'x';
  scratch.write("a.txt", text);
  CHECK(fingerprint(files) != before);
  const auto forced = streaming(files, windows_of(64, 8));  // whoever goes on all the same begins the epoch again
  forced->restore(state);
  CHECK(forced->state()["offset"] == 0);
  CHECK(contains(thrown<CheckpointError>([&] { forced->restore(Json::object()); }), "the place in streamed text"));
}

TEST_CASE("streamed text: memory holds blocks of a file, never the file", "[unit]") {
  constexpr size_t kSize = 64 << 20;
  std::ofstream reset("/proc/self/clear_refs");
  if (!(reset << "5" << std::flush)) {  // the peak begins anew
    WARN("skipped: this system does not let its peak of memory be reset");
    return;
  }
  const Scratch scratch;
  TextFiles files{.block = 1 << 20};
  files.paths = {scratch.write("a.zst", zstd_of(numbered(0, kSize / 8)))};
  REQUIRE((std::ofstream("/proc/self/clear_refs") << "5" << std::flush));
  const int64_t before = peak_memory_bytes();
  const auto stream = streaming(files, windows_of(1024, 64));
  int64_t tokens = 0;
  while (stream->epoch() == 0) tokens += stream->next()->ids.numel();
  CHECK(tokens > static_cast<int64_t>(kSize) - 100 * 64);
  CHECK(peak_memory_bytes() - before < static_cast<int64_t>(kSize) * 3 / 4);
}

TEST_CASE("streamed text: how many batches an epoch has is not known", "[unit]") {
  const Scratch scratch;
  CHECK(std::isinf(streaming(numbered_files(scratch, ".txt"), windows_of(8, 8))->batches_per_epoch()));
  CHECK(size_text(numbered_files(scratch, ".txt")) == "3 files, 1.2 kB");
  CHECK(contains(size_text(numbered_files(scratch, ".txt.gz")), " packed"));
}

}  // namespace ordo::test
