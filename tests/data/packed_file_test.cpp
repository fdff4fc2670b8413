// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/data/packed_file.h"

#include <unistd.h>

#include "ordo/core/errors.h"
#include "support/packing.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

constexpr uint64_t kMostBytes = 10'000'000;

// Bytes that no packer makes much smaller.
std::string noise(size_t size) {
  std::string bytes;
  uint32_t state = 1;
  for (size_t i = 0; i < size; ++i) bytes += static_cast<char>((state = state * 1664525U + 1013904223U) >> 24U);
  return bytes;
}

std::string packed_refusal(const Scratch& scratch, const std::string& name, const std::string& bytes) {
  return thrown<DataError>([&] { read_packed(scratch.write(name, bytes), kMostBytes); });
}

}  // namespace

TEST_CASE("packed files: bytes come back whole from .gz, .zst and plain files", "[unit]") {
  const Scratch scratch;
  for (const auto& bytes : {std::string("x"), std::string("a\0\xFF\r\n", 5), noise(700'000), std::string(900'000, 'x'),
                            std::string(1 << 17, 'y'), std::string()}) {
    CAPTURE(bytes.size());
    CHECK(read_packed(scratch.write("a", bytes), kMostBytes) == bytes);
    CHECK(read_packed(scratch.write("a.gz", gzip_of(bytes)), kMostBytes) == bytes);
    CHECK(read_packed(scratch.write("a.zst", zstd_of(bytes)), kMostBytes) == bytes);
  }
  CHECK(read_packed(scratch.write("empty.zst", ""), kMostBytes).empty());
}

TEST_CASE("packed files: zstd frames one after another are one file", "[unit]") {
  const Scratch scratch;
  const std::string skippable("\x50\x2A\x4D\x18\x03\0\0\0abc", 11);
  const auto bytes = zstd_of("one ") + skippable + zstd_of("") + zstd_of("two");
  CHECK(read_packed(scratch.write("a.zst", bytes), kMostBytes) == "one two");
}

TEST_CASE("packed files: a damaged .zst is refused with path and reason", "[unit]") {
  const Scratch scratch;
  const std::string whole = zstd_of(noise(300'000));
  std::string flipped = whole, checksum = whole;
  flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 1);
  checksum.back() = static_cast<char>(checksum.back() ^ 1);
  struct Case {
    std::string what, bytes, reason;
  };
  const std::vector<Case> cases{
      {"plain text", "hello, this is text", "not zstd data"},
      {"gzip", gzip_of("hello"), "not zstd data"},
      {"text behind a frame", zstd_of("hello") + "and more text", "not zstd data"},
      {"cut in half", whole.substr(0, whole.size() / 2), "cut off"},
      {"cut by a byte", whole.substr(0, whole.size() - 1), "cut off"},
      {"cut in the header", whole.substr(0, 5), "cut off"},
      {"cut in the second frame", whole + whole.substr(0, 7), "cut off"},
      {"a bit of the data", flipped, "damaged"},
      {"a bit of the checksum", checksum, "damaged"},
      {"a window of 256 MiB", zstd_of("hello", 28), "pack it again without --long"},
  };
  for (const auto& [what, bytes, reason] : cases) {
    CAPTURE(what);
    const auto message = packed_refusal(scratch, "a.txt.zst", bytes);
    CHECK(contains(message, reason));
    CHECK(contains(message, (scratch / "a.txt.zst").string()));
  }
}

TEST_CASE("packed files: a small file that unpacks to more than is allowed is refused", "[unit]") {
  const Scratch scratch;
  const std::string bomb(kMostBytes + 1, 'x');
  for (const auto& [name, bytes] :
       {std::pair{"a.zst", zstd_of(bomb)}, std::pair{"a.gz", gzip_of(bomb)}, std::pair{"a", bomb}}) {
    CAPTURE(name);
    CHECK(contains(packed_refusal(scratch, name, bytes), "holds more than 10 MB"));
  }
  const std::string most(kMostBytes, 'x');
  CHECK(read_packed(scratch.write("b.zst", zstd_of(most)), kMostBytes) == most);
}

TEST_CASE("packed files: folders and missing files are refused by any name", "[unit]") {
  const Scratch scratch;
  fs::create_directory(scratch / "folder.zst");
  CHECK(contains(thrown<DataError>([&] { read_packed(scratch / "folder.zst", kMostBytes); }), "it is a folder"));
  CHECK(contains(thrown<DataError>([&] { read_packed(scratch / "absent.zst", kMostBytes); }), "no such file"));
}

// The kernel makes such files: one says that it has no bytes and has some, the other says a page of them and has fewer.
TEST_CASE("packed files: a file that has more or fewer bytes than it had at first is refused", "[unit]") {
  CHECK(contains(thrown<DataError>([] { read_packed("/proc/self/status", kMostBytes); }),
                 "changed while it was read: it had 0 bytes, "));
  const fs::path shrinking = "/sys/kernel/mm/transparent_hugepage/enabled";
  if (!fs::exists(shrinking)) {
    WARN("without a file that shrinks: " << shrinking << " is not there");
    return;
  }
  CHECK(contains(thrown<DataError>([&] { read_packed(shrinking, kMostBytes); }),
                 fmt::format("it had {} bytes, ", fs::file_size(shrinking))));
}

TEST_CASE("packed files: a file that may not be read is refused by any name", "[unit]") {
  if (::geteuid() == 0) {
    WARN("without files that may not be read: root reads them all");
    return;
  }
  const Scratch scratch;
  for (const auto* name : {"closed", "closed.gz", "closed.zst"}) {
    const auto closed = scratch.write(name, "x");
    fs::permissions(closed, fs::perms::none);
    CHECK(contains(thrown<DataError>([&] { read_packed(closed, kMostBytes); }), "Permission denied"));
  }
}

TEST_CASE("packed files: the name behind the packing", "[unit]") {
  CHECK(without_packing("a/b.csv.gz") == fs::path("a/b.csv"));
  CHECK(without_packing("b.tsv.zst") == fs::path("b.tsv"));
  CHECK(without_packing("a.gz/b.csv") == fs::path("a.gz/b.csv"));
}

TEST_CASE("packed files: pieces of any size are the whole, and what is skipped is not read", "[unit]") {
  const Scratch scratch;
  const std::string bytes = noise(300'000);
  const std::string half = bytes.substr(0, 150'000), rest = bytes.substr(150'000);
  for (const auto& path : {scratch.write("a", bytes), scratch.write("a.gz", gzip_of(half) + gzip_of(rest)),
                           scratch.write("a.zst", zstd_of(half) + zstd_of(rest))})
    for (const size_t size : {999, 4096, 150'000, 300'000, 400'000}) {
      CAPTURE(path, size);
      const auto reader = PackedReader::open(path);
      REQUIRE(reader->skip(77));
      std::string all, piece(size, '\0');
      while (const size_t got = reader->read(piece.data(), size)) all.append(piece, 0, got);
      CHECK((all == bytes.substr(77)));
      CHECK(reader->read(piece.data(), size) == 0);
      CHECK(!PackedReader::open(path)->skip(300'001));
      CHECK(PackedReader::open(path)->skip(300'000));
    }
}

}  // namespace ordo::test
