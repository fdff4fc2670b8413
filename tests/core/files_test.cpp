// SPDX-License-Identifier: Apache-2.0
#include "ordo/core/files.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "ordo/core/errors.h"
#include "support/catch.h"
#include "support/program.h"

namespace ordo {

namespace {

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

using Names = std::vector<std::string>;

// While it lives, no file may grow beyond so many bytes: a disk that is full, as far as write() is concerned.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    before_ = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallDisk() {
    setrlimit(RLIMIT_FSIZE, &old_);
    signal(SIGXFSZ, before_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit old_{};
  void (*before_)(int) = nullptr;
};

}  // namespace

TEST_CASE("files: what is written is read back, and nothing else is left", "[unit]") {
  const test::Scratch scratch;
  const std::string content("a\0b\xff\n", 5);
  write_file(scratch / "x.txt", content);
  CHECK(read_file(scratch / "x.txt") == content);
  write_file(scratch / "x.txt", "");
  CHECK(read_file(scratch / "x.txt").empty());
  CHECK(names_in(scratch.path()) == Names{"x.txt"});
}

TEST_CASE("files: a file without a folder in its name is written to the current folder", "[unit]") {
  const test::Scratch scratch;
  const fs::path before = fs::current_path();
  fs::current_path(scratch.path());
  write_file("x.txt", "1");
  fs::current_path(before);
  CHECK(read_file(scratch / "x.txt") == "1");
}

TEST_CASE("files: a file of unknown size is read to its end", "[unit]") {
  CHECK(read_file("/proc/self/status").starts_with("Name:"));
}

TEST_CASE("files: what cannot be read is a data error that names it and says why", "[unit]") {
  const test::Scratch scratch;
  const fs::path missing = scratch / "missing.txt";
  CHECK(message_of([&] { read_file(missing); }) == "cannot open " + missing.string() + ": No such file or directory");
  CHECK(message_of([&] { read_file(scratch.path()); }).find("it is a folder") != std::string::npos);
  CHECK_THROWS_AS(read_file(missing), DataError);
}

TEST_CASE("files: a write that fails leaves the old file as it was, and no other", "[unit]") {
  const test::Scratch scratch;
  write_file(scratch / "x.txt", "old");
  std::string message;
  {
    const SmallDisk disk(1000);
    message = message_of([&] { write_file(scratch / "x.txt", std::string(5000, 'n')); });
  }
  CHECK(message.find("cannot write ") == 0);
  CHECK(message.find("File too large") != std::string::npos);
  CHECK(read_file(scratch / "x.txt") == "old");
  CHECK(names_in(scratch.path()) == Names{"x.txt"});
}

TEST_CASE("files: a full device is an error, not an abort", "[unit]") {
  CHECK(message_of([] { write_file("/dev/full", "x"); }) == "cannot write /dev/full: No space left on device");
  CHECK(message_of([] { append_line("/dev/full", "x"); }) == "cannot write /dev/full: No space left on device");
  CHECK(message_of([] {
          FileWriter writer("/dev/full");
          writer.write("x", 1);
        }) == "cannot write /dev/full: No space left on device");
  CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("files: a target that cannot be written is told with its path", "[unit]") {
  const test::Scratch scratch;
  CHECK(message_of([&] { write_file(scratch.path(), "x"); }).find("it is a folder") != std::string::npos);
  CHECK(message_of([&] { write_file(scratch / "no/such/x.txt", "x"); }).find("no/such/") != std::string::npos);
  CHECK(message_of([&] { sync_folder(scratch / "no"); }).find("No such file") != std::string::npos);
}

TEST_CASE("files: a link keeps pointing at the file that was replaced", "[unit]") {
  const test::Scratch scratch;
  write_file(scratch / "x.txt", "old");
  fs::create_symlink("x.txt", scratch / "link");
  write_file(scratch / "link", "new");
  CHECK(fs::is_symlink(scratch / "link"));
  CHECK(read_file(scratch / "x.txt") == "new");
}

TEST_CASE("files: a process that dies while it writes leaves the old file whole", "[unit]") {
  const test::Scratch scratch;
  write_file(scratch / "x.txt", "old");
  const pid_t child = fork();
  if (child == 0) {
    FileWriter writer(scratch / ".x.txt.tmp-1-0");  // how far write_file is when the power goes
    writer.write("ne", 2);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  CHECK(read_file(scratch / "x.txt") == "old");
}

TEST_CASE("files: lines are appended", "[unit]") {
  const test::Scratch scratch;
  append_line(scratch / "m.jsonl", "{\"a\":1}");
  append_line(scratch / "m.jsonl", "");
  append_line(scratch / "m.jsonl", "z");
  CHECK(read_file(scratch / "m.jsonl") == "{\"a\":1}\n\nz\n");
}

TEST_CASE("writer: chunks make one file; without finish there is none", "[unit]") {
  const test::Scratch scratch;
  {
    FileWriter writer(scratch / "done");
    writer.write("ab", 2);
    writer.write("c", 1);
    writer.finish();
  }
  { FileWriter(scratch / "dropped").write("x", 1); }
  CHECK(read_file(scratch / "done") == "abc");
  CHECK(names_in(scratch.path()) == Names{"done"});
}

TEST_CASE("writer: a disk that fills up removes what was written", "[unit]") {
  const test::Scratch scratch;
  std::string message;
  {
    const SmallDisk disk(100);
    message = message_of([&] {
      FileWriter writer(scratch / "big");
      const std::string chunk(60, 'x');
      writer.write(chunk.data(), chunk.size());
      writer.write(chunk.data(), chunk.size());  // 40 bytes of it fit
    });
  }
  CHECK(message == "cannot write " + (scratch / "big").string() + ": File too large");
  CHECK(names_in(scratch.path()).empty());
}

TEST_CASE("mapped: a file's bytes are there", "[unit]") {
  const test::Scratch scratch;
  write_file(scratch / "x.bin", "hello");
  const MappedFile file(scratch / "x.bin");
  CHECK(file.size() == 5);
  CHECK(static_cast<char>(file.data()[4]) == 'o');
  CHECK(file.path() == scratch / "x.bin");
}

TEST_CASE("mapped: missing, empty, folders and devices are refused in words", "[unit]") {
  const test::Scratch scratch;
  write_file(scratch / "empty", "");
  const auto message = [&](const fs::path& path) { return message_of([&] { MappedFile file(path); }); };
  CHECK(message(scratch / "missing").find("No such file") != std::string::npos);
  CHECK(message(scratch / "empty").find("the file is empty") != std::string::npos);
  CHECK(message(scratch.path()).find("it is a folder") != std::string::npos);
  CHECK(message("/dev/null").find("it is no regular file") != std::string::npos);
}

TEST_CASE("lock: a second holder is refused with the name of the first", "[unit]") {
  const test::Scratch scratch;
  const FolderLock first(scratch.path());
  const std::string message = message_of([&] { FolderLock second(scratch.path()); });
  CHECK(message.starts_with(scratch.path().string() + " is in use by process " + std::to_string(getpid()) + " on "));
  CHECK(message.find("wait until it ends") != std::string::npos);
  CHECK_THROWS_AS(FolderLock(scratch.path()), CheckpointError);
}

TEST_CASE("lock: it goes with its holder", "[unit]") {
  const test::Scratch scratch;
  { const FolderLock lock(scratch.path()); }
  CHECK_NOTHROW(FolderLock(scratch.path()));
}

TEST_CASE("lock: a process that was killed does not keep it", "[unit]") {
  const test::Scratch scratch;
  int ready[2] = {};
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const FolderLock lock(scratch.path());
    if (write(ready[1], "x", 1) == 1) pause();
    _exit(0);
  }
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  CHECK(message_of([&] { FolderLock lock(scratch.path()); }).find("process " + std::to_string(child)) !=
        std::string::npos);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CHECK_NOTHROW(FolderLock(scratch.path()));
  close(ready[0]);
  close(ready[1]);
}

TEST_CASE("lock: a folder that is not there cannot be locked", "[unit]") {
  const test::Scratch scratch;
  CHECK(message_of([&] { FolderLock lock(scratch / "none"); }).find("No such file") != std::string::npos);
}

}  // namespace ordo
