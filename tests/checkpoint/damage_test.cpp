// SPDX-License-Identifier: Apache-2.0
// Whatever happens to a file of a checkpoint is noticed before a number of it is used.
#include "support/catch.h"

#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/content.h"
#include "ordo/checkpoint/checkpoint.h"
#include "ordo/checkpoint/manifest.h"
#include "ordo/core/errors.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

const std::string kNothing = "(nothing was thrown)";

// A checkpoint, and calls `damage` for each of its files in turn; what `damage` did is undone.
template <class Damage>
void for_each_file(Damage damage) {
  const Scratch scratch;
  const fs::path folder = write_checkpoint(scratch.path(), 12, small_content());
  REQUIRE(opening(folder) == kNothing);
  for (const std::string& name : files_of(folder)) {
    const std::string bytes = read_file(folder / name);
    damage(folder, name, bytes);
    fs::remove_all(folder / name);
    write_bytes(folder / name, bytes);
    REQUIRE(opening(folder) == kNothing);
  }
}

void check_noticed(const fs::path& folder, const std::string& name, Verify verify = Verify::checksums) {
  const std::string message = opening(folder, verify);
  INFO(name << ": " << message);
  CHECK(contains(message, name));
}

}  // namespace

TEST_CASE("damage: any flipped bit is noticed, and the file named", "[unit]") {
  for_each_file([](const fs::path& folder, const std::string& name, const std::string& bytes) {
    const size_t stride = std::max<size_t>(1, bytes.size() / 150);
    for (size_t at = 0; at < bytes.size(); at += stride) {
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
      write_bytes(folder / name, flipped);
      check_noticed(folder, name);
    }
  });
}

TEST_CASE("damage: a flipped bit in a tensor names the tensor", "[unit]") {
  const Scratch scratch;
  const fs::path folder = write_checkpoint(scratch.path(), 12, small_content()), path = folder / "model.safetensors";
  const std::string bytes = read_file(path);
  const SafetensorsFile file(path);
  const size_t data = bytes.size() - file.tensors().back().end;
  for (const TensorInfo& info : file.tensors()) {
    std::string flipped = bytes;
    flipped[data + info.begin] = static_cast<char>(flipped[data + info.begin] ^ 1);
    write_bytes(path, flipped);
    CHECK(contains(opening(folder), "tensor '" + info.name + "' is damaged"));
  }
}

TEST_CASE("damage: cuts at any length are noticed, also without reading the bytes", "[unit]") {
  for_each_file([](const fs::path& folder, const std::string& name, const std::string& bytes) {
    const size_t stride = std::max<size_t>(1, bytes.size() / 40);
    for (size_t length = 0; length < bytes.size(); length += stride) {
      write_bytes(folder / name, bytes.substr(0, length));
      check_noticed(folder, name);
      check_noticed(folder, name, Verify::sizes);
    }
    write_bytes(folder / name, bytes + "x");
    check_noticed(folder, name, Verify::sizes);
  });
}

TEST_CASE("damage: zeroed stretches are noticed", "[unit]") {
  for_each_file([](const fs::path& folder, const std::string& name, const std::string& bytes) {
    const size_t half = bytes.size() / 2;
    std::string zeroed = bytes;
    std::fill(zeroed.begin() + static_cast<std::ptrdiff_t>(half), zeroed.end(), '\0');
    if (zeroed == bytes) return;
    write_bytes(folder / name, zeroed);
    check_noticed(folder, name);
  });
}

TEST_CASE("damage: files that are missing or are none are noticed at once", "[unit]") {
  for_each_file([](const fs::path& folder, const std::string& name, const std::string&) {
    const fs::path path = folder / name;
    fs::remove(path);
    check_noticed(folder, name, Verify::sizes);
    fs::create_directory(path);
    check_noticed(folder, name, Verify::sizes);
    fs::remove(path);
    fs::create_symlink(path.filename(), path);
    check_noticed(folder, name, Verify::sizes);
    fs::remove(path);
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    check_noticed(folder, name, Verify::sizes);
    fs::remove(path);
  });
}

TEST_CASE("damage: files that may not be read are noticed", "[unit]") {
  if (::geteuid() == 0) {
    WARN("skipped: root may read everything");
    return;
  }
  for_each_file([](const fs::path& folder, const std::string& name, const std::string&) {
    fs::permissions(folder / name, fs::perms::none);
    check_noticed(folder, name);
    fs::permissions(folder / name, fs::perms::owner_all);
  });
}

TEST_CASE("damage: files that do not belong are noticed", "[unit]") {
  const Scratch scratch;
  const fs::path folder = write_checkpoint(scratch.path(), 12, small_content());
  for (const auto* name : {"notes.txt", "tokenizer/more.txt", "model.safetensors.orig"}) {
    write_bytes(folder / name, "x");
    check_noticed(folder, name, Verify::sizes);
    fs::remove(folder / name);
  }
  CHECK(opening(folder) == kNothing);
}

TEST_CASE("damage: files exchanged with one another or with another checkpoint's are noticed", "[unit]") {
  const Scratch scratch;
  const fs::path a = write_checkpoint(scratch.path(), 1, small_content(1)),
                 b = write_checkpoint(scratch.path(), 2, small_content(2));
  fs::copy_file(b / "model.safetensors", a / "model.safetensors", fs::copy_options::overwrite_existing);
  check_noticed(a, "model.safetensors");
  fs::rename(b / "ema.safetensors", b / "kept");
  fs::rename(b / "model.safetensors", b / "ema.safetensors");
  fs::rename(b / "kept", b / "model.safetensors");
  CHECK(contains(opening(b), "damaged"));
}

TEST_CASE("damage: a checkpoint under another step's name is refused, under a free name it is not", "[unit]") {
  const Scratch scratch;
  const fs::path folder = write_checkpoint(scratch.path(), 10, small_content());
  fs::rename(folder, scratch / "step-00000020");
  CHECK(contains(opening(scratch / "step-00000020"), "step 10"));
  fs::rename(scratch / "step-00000020", scratch / "the-good-one");
  CHECK(Checkpoint(scratch / "the-good-one").step() == 10);
}

TEST_CASE("damage: a folder that is no checkpoint is told apart", "[unit]") {
  const Scratch scratch;
  CHECK(contains(opening(scratch / "absent"), "there is no checkpoint"));
  CHECK(contains(opening(scratch.path()), "no manifest.json"));
}

TEST_CASE("damage: the newest checkpoint that verifies is taken", "[unit]") {
  const Scratch scratch;
  for (const int64_t step : {1, 2, 3})
    write_checkpoint(scratch.path(), step, small_content(static_cast<uint64_t>(step)));
  write_bytes(scratch / "step-00000003" / "state.json", "{}");
  fs::remove(scratch / "step-00000002" / "model.safetensors");
  CHECK(newest_valid(scratch.path())->step() == 1);
  write_bytes(scratch / "step-00000001" / "config.yaml", "");
  CHECK_FALSE(newest_valid(scratch.path()).has_value());
}

}  // namespace ordo::test
