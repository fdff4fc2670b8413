// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "ordo/checkpoint/checkpoint.h"

#include <ATen/ops/zeros.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checkpoint/content.h"
#include "ordo/checkpoint/manifest.h"
#include "ordo/core/errors.h"
#include "support/program.h"
#include "support/thrown.h"
#include "support/tolerance.h"

namespace ordo::test {

namespace {

void check_same(const NamedTensors& found, const NamedTensors& expected) {
  REQUIRE(found.size() == expected.size());
  for (const auto& [name, tensor] : expected)
    for (const auto& [other, value] : found)
      if (name == other) CHECK(same_bytes(value, tensor));
}

// Runs `work` in a process of its own, which ends without clean-up; returns its process number.
template <class Work>
pid_t in_a_process_that_dies(Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(9);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 9);
  return child;
}

size_t entries_of(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("checkpoint: what was written is read", "[unit]") {
  const Scratch scratch;
  const CheckpointContent content = small_content();
  const fs::path folder = write_checkpoint(scratch / "run", 12, content);
  CHECK(folder == scratch / "run" / "step-00000012");
  const Checkpoint checkpoint(folder);
  CHECK(checkpoint.step() == 12);
  check_same(checkpoint.model(), content.model);
  check_same(checkpoint.optimizer(), content.optimizer);
  check_same(checkpoint.ema(), content.ema);
  check_same(checkpoint.memory(), content.memory);
  CHECK(checkpoint.state() == content.state);
  CHECK(checkpoint.config() == content.config);
  CHECK(read_file(checkpoint.tokenizer() / "pieces" / "a.txt") == "abc");
  CHECK(entries_of(scratch / "run") == 1);
}

TEST_CASE("checkpoint: averages, memory and tokenizer may be absent", "[unit]") {
  const Scratch scratch;
  CheckpointContent content = small_content();
  content.ema.clear();
  content.memory.clear();
  content.tokenizer = nullptr;
  const Checkpoint checkpoint(write_checkpoint(scratch.path(), 0, content));
  CHECK(checkpoint.ema().empty());
  CHECK(checkpoint.memory().empty());
  CHECK(files_of(checkpoint.folder()) == std::vector<std::string>{"config.yaml", "manifest.json", "model.safetensors",
                                                                  "optimizer.safetensors", "state.json"});
}

TEST_CASE("checkpoint: names and steps are each other's reverse", "[unit]") {
  CHECK(checkpoint_name(2000) == "step-00002000");
  CHECK(checkpoint_name(1234567890) == "step-1234567890");
  CHECK(checkpoint_step("step-00002000") == 2000);
  CHECK(checkpoint_step("step-1234567890") == 1234567890);
  for (const auto* wrong : {"", "step-", "step-2000", "step-000002000", "step--0000001", "step-0000000x",
                            "step-00002000 ", "Step-00002000", "step-99999999999999999999"})
    CHECK_FALSE(checkpoint_step(wrong).has_value());
}

TEST_CASE("checkpoint: saving a step again replaces it", "[unit]") {
  const Scratch scratch;
  write_checkpoint(scratch.path(), 3, small_content(1));
  const CheckpointContent again = small_content(2);
  const Checkpoint checkpoint(write_checkpoint(scratch.path(), 3, again));
  check_same(checkpoint.model(), again.model);
  CHECK(entries_of(scratch.path()) == 1);
}

TEST_CASE("checkpoint: a process that dies while saving leaves the earlier ones, and its remains go at the next save",
          "[unit]") {
  const Scratch scratch;
  write_checkpoint(scratch.path(), 1, small_content());
  in_a_process_that_dies([&] {
    CheckpointContent content = small_content(2);
    content.tokenizer = [](const fs::path&) { ::_exit(9); };
    write_checkpoint(scratch.path(), 2, content);
  });
  CHECK(entries_of(scratch.path()) == 2);
  CHECK(list_checkpoints(scratch.path()) == std::vector<int64_t>{1});
  CHECK(newest_valid(scratch.path())->step() == 1);
  write_checkpoint(scratch.path(), 2, small_content(2));
  CHECK(list_checkpoints(scratch.path()) == std::vector<int64_t>{1, 2});
  CHECK(entries_of(scratch.path()) == 2);
}

TEST_CASE("checkpoint: what a living process is writing is left alone, what dead ones left goes", "[unit]") {
  const Scratch scratch;
  const pid_t dead = in_a_process_that_dies([] {});
  const fs::path theirs = scratch / fmt::format(".step-00000002.tmp-{}", ::getppid()),
                 ours = scratch / fmt::format(".step-00000001.tmp-{}", ::getpid());
  fs::create_directory(theirs);
  fs::create_directory(ours);  // of a process that had our number
  fs::create_directory(scratch / fmt::format(".step-00000002.tmp-{}", dead));
  scratch.write(fmt::format(".last.tmp-{}-3", dead), "step-");
  scratch.write(fmt::format(".last.tmp-{}-3", ::getpid()), "step-");
  scratch.write(".tmp-notes", "a user's");
  write_checkpoint(scratch.path(), 1, small_content());
  CHECK(fs::exists(theirs));
  CHECK_FALSE(fs::exists(ours));
  CHECK_FALSE(fs::exists(scratch / fmt::format(".step-00000002.tmp-{}", dead)));
  CHECK_FALSE(fs::exists(scratch / fmt::format(".last.tmp-{}-3", dead)));
  CHECK(fs::exists(scratch / fmt::format(".last.tmp-{}-3", ::getpid())));
  CHECK(fs::exists(scratch / ".tmp-notes"));
}

TEST_CASE("checkpoint: an error while saving leaves nothing and is a CheckpointError", "[unit]") {
  const Scratch scratch;
  CheckpointContent content = small_content();
  content.tokenizer = [](const fs::path&) { throw DataError("the vocabulary is gone"); };
  CHECK(contains(thrown<CheckpointError>([&] { write_checkpoint(scratch.path(), 1, content); }),
                 "the vocabulary is gone"));
  CHECK(entries_of(scratch.path()) == 0);
}

TEST_CASE("checkpoint: a file in the place of the run's folder is told", "[unit]") {
  const Scratch scratch;
  const fs::path run = scratch.write("run", "text");
  CHECK(contains(thrown<CheckpointError>([&] { write_checkpoint(run, 1, small_content()); }), run.string()));
}

TEST_CASE("checkpoint: a full disk leaves the earlier ones, and with space again the next save succeeds", "[unit]") {
  const Scratch scratch;
  const fs::path run = scratch / "small";
  fs::create_directory(run);
  if (::mount("none", run.c_str(), "tmpfs", 0, "size=256k") != 0) {
    WARN("skipped: mounting a small file system needs root");
    return;
  }
  CheckpointContent large = small_content();
  large.model.emplace_back("large", at::zeros({100'000}));
  write_checkpoint(run, 1, small_content());
  const std::string message = thrown<CheckpointError>([&] { write_checkpoint(run, 2, large); });
  const size_t left = entries_of(run);
  write_checkpoint(run, 3, small_content(3));
  const auto newest = newest_valid(run);
  const std::vector<int64_t> steps = list_checkpoints(run);
  REQUIRE(::umount2(run.c_str(), MNT_DETACH) == 0);
  CHECK(contains(message, "No space left"));
  CHECK(left == 1);
  CHECK(steps == std::vector<int64_t>{1, 3});
  CHECK(newest->step() == 3);
}

TEST_CASE("checkpoint: a newer format is refused in one line", "[unit]") {
  const Scratch scratch;
  const fs::path folder = write_checkpoint(scratch.path(), 1, small_content());
  std::string text = read_manifest(folder).text();
  text = text.substr(0, text.rfind("  \"xxh3\""));
  const auto at = text.find("\"format\": 1");
  REQUIRE(at != std::string::npos);
  text.replace(at, 11, "\"format\": 2");
  text += fmt::format("  \"xxh3\": \"{}\"\n}}\n", hash_text(hash_bytes(text.data(), text.size())));
  write_bytes(folder / "manifest.json", text);
  const std::string message = opening(folder);
  CHECK(contains(message, "is of format 2"));
  CHECK_FALSE(contains(message, "\n"));
}

TEST_CASE("checkpoint: the manifest names versions, sizes and sums of files and tensors", "[unit]") {
  const Scratch scratch;
  const fs::path folder = write_checkpoint(scratch.path(), 5, small_content());
  const Manifest manifest = read_manifest(folder);
  CHECK(manifest.step == 5);
  REQUIRE(manifest.find("model.safetensors") != nullptr);
  CHECK(manifest.find("model.safetensors")->tensors.size() == 2);
  CHECK(manifest.find("model.safetensors")->size == fs::file_size(folder / "model.safetensors"));
  CHECK(manifest.find("tokenizer/pieces/a.txt")->xxh3 == hash_text(hash_bytes("abc", 3)));
  CHECK(manifest.text() == read_file(folder / "manifest.json"));
  CHECK(contains(manifest.text(), ORDO_VERSION));
}

}  // namespace ordo::test
