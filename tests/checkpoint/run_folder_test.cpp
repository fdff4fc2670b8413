// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include "checkpoint/content.h"
#include "ordo/checkpoint/checkpoint.h"
#include "ordo/core/errors.h"
#include "support/program.h"
#include "support/thrown.h"

namespace ordo::test {

namespace {

using Steps = std::vector<int64_t>;

void write_steps(const fs::path& run, const Steps& steps) {
  CheckpointContent content = small_content();
  content.tokenizer = nullptr;
  for (const int64_t step : steps) write_checkpoint(run, step, content);
}

std::string meant(const fs::path& path, std::string_view which) {
  return resolve_checkpoint(path, which).filename().string();
}
std::string refusal(const fs::path& path, std::string_view which) {
  return thrown<CheckpointError>([&] { resolve_checkpoint(path, which); });
}

}  // namespace

TEST_CASE("run folder: checkpoints are listed as numbers, and only those with a manifest", "[unit]") {
  const Scratch scratch;
  write_steps(scratch.path(), {100'000'000, 99'999'999, 2});
  fs::create_directory(scratch / "step-00000007");
  scratch.write("step-00000008", "text");
  fs::create_directory(scratch / "logs");
  CHECK(list_checkpoints(scratch.path()) == Steps{2, 99'999'999, 100'000'000});
  CHECK(list_checkpoints(scratch / "absent").empty());
}

TEST_CASE("run folder: a pointer is one line that names a checkpoint", "[unit]") {
  const Scratch scratch;
  CHECK_FALSE(pointed(scratch.path(), "best").has_value());
  point(scratch.path(), "best", 30);
  CHECK(read_file(scratch / "best") == "step-00000030\n");
  CHECK(pointed(scratch.path(), "best") == 30);
  point(scratch.path(), "best", 40);
  CHECK(pointed(scratch.path(), "best") == 40);
}

TEST_CASE("run folder: a damaged pointer is told", "[unit]") {
  const Scratch scratch;
  for (const auto* text : {"", "step-0000", "step-00000030\nstep-00000040\n"}) {
    scratch.write("last", text);
    CHECK(contains(thrown<CheckpointError>([&] { pointed(scratch.path(), "last"); }), (scratch / "last").string()));
  }
  fs::remove(scratch / "last");
  fs::create_directory(scratch / "last");
  CHECK(contains(thrown<CheckpointError>([&] { pointed(scratch.path(), "last"); }), "folder"));
}

TEST_CASE("run folder: the newest, the best and the last stay", "[unit]") {
  const Scratch scratch;
  write_steps(scratch.path(), {1, 2, 3, 4, 5, 6});
  point(scratch.path(), "best", 2);
  point(scratch.path(), "last", 6);
  retain(scratch.path(), 2);
  CHECK(list_checkpoints(scratch.path()) == Steps{2, 5, 6});
  CHECK_FALSE(fs::exists(scratch / "step-00000001"));
  retain(scratch.path(), 10);
  CHECK(list_checkpoints(scratch.path()) == Steps{2, 5, 6});
}

TEST_CASE("run folder: the best and the last stay even when no others shall", "[unit]") {
  const Scratch scratch;
  write_steps(scratch.path(), {1, 2, 3});
  point(scratch.path(), "best", 1);
  point(scratch.path(), "last", 3);
  retain(scratch.path(), 0);
  CHECK(list_checkpoints(scratch.path()) == Steps{1, 3});
}

TEST_CASE("run folder: newest means the largest number, not the last in the alphabet", "[unit]") {
  const Scratch scratch;
  write_steps(scratch.path(), {99'999'999, 100'000'000});
  retain(scratch.path(), 1);
  CHECK(list_checkpoints(scratch.path()) == Steps{100'000'000});
}

TEST_CASE("run folder: checkpoints of an abandoned future neither count nor go", "[unit]") {
  const Scratch scratch;
  write_steps(scratch.path(), {10, 20, 25, 30, 40});
  point(scratch.path(), "last", 25);
  retain(scratch.path(), 2);
  CHECK(list_checkpoints(scratch.path()) == Steps{20, 25, 30, 40});
}

TEST_CASE("run folder: a damaged pointer stops the clean-up before anything is deleted", "[unit]") {
  const Scratch scratch;
  write_steps(scratch.path(), {1, 2});
  scratch.write("best", "?");
  CHECK_THROWS_AS(retain(scratch.path(), 1), CheckpointError);
  CHECK(list_checkpoints(scratch.path()) == Steps{1, 2});
}

TEST_CASE("run folder: a user's words find the checkpoint", "[unit]") {
  const Scratch scratch;
  write_steps(scratch.path(), {1, 2, 3});
  CHECK(meant(scratch.path(), "") == "step-00000003");
  point(scratch.path(), "last", 2);
  CHECK(meant(scratch.path(), "") == "step-00000002");
  point(scratch.path(), "best", 1);
  CHECK(meant(scratch.path(), "") == "step-00000001");
  CHECK(meant(scratch.path(), "best") == "step-00000001");
  CHECK(meant(scratch.path(), "last") == "step-00000002");
  CHECK(meant(scratch.path(), "3") == "step-00000003");
  CHECK(meant(scratch.path(), "step-00000003") == "step-00000003");
  CHECK(meant(scratch / "step-00000003", "") == "step-00000003");
  CHECK(meant(fs::path((scratch / "step-00000003").string() + "/"), "") == "step-00000003");
}

TEST_CASE("run folder: what cannot be found is told, with what there is", "[unit]") {
  const Scratch scratch;
  CHECK(contains(refusal(scratch / "absent", ""), "there is no folder"));
  CHECK(contains(refusal(scratch.path(), ""), "has no checkpoint"));
  write_steps(scratch.path(), {1, 2});
  CHECK(contains(refusal(scratch.path(), "best"), "step-00000001, step-00000002"));
  CHECK(contains(refusal(scratch.path(), "9"), "has no step-00000009"));
  CHECK(contains(refusal(scratch.path(), "bset"), "expected best, last or a step"));
  CHECK(contains(refusal(scratch / "step-00000001", "best"), "one checkpoint"));
  point(scratch.path(), "best", 7);
  CHECK(contains(refusal(scratch.path(), ""), "has no step-00000007"));
}

}  // namespace ordo::test
