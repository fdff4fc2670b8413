// SPDX-License-Identifier: Apache-2.0
#include "support/catch.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "ordo/study/gpus.h"
#include "ordo/study/processes.h"
#include "ordo/study/runner.h"
#include "support/program.h"

namespace ordo::test {
namespace {

ChildSetting shell(const std::string& commands) {
  return {.words = {"-c", commands}, .captured = true, .program = "/bin/sh"};
}

}  // namespace

TEST_CASE("a child tells its code or its signal", "[unit]") {
  CHECK(Child(shell("exit 3")).wait().code == 3);
  CHECK(ChildEnd{.code = 3}.text() == "ended with exit 3");
  const ChildEnd killed = Child(shell("kill -9 $$")).wait();
  CHECK(killed.signal == SIGKILL);
  CHECK(killed.text().starts_with("was killed by signal 9"));
  CHECK(Child({.words = {}, .program = "/no/such/program"}).wait().code == 127);
}

TEST_CASE("a child has the folder and the environment it was given, and its output is kept", "[unit]") {
  const Scratch scratch;
  ChildSetting setting = shell("echo $ONE $HOME; pwd; echo wrong >&2");
  setting.folder = scratch.path();
  setting.environment = {"ONE=1", "HOME=here"};
  setting.log = scratch / "log.txt";
  Child child(setting);
  CHECK(child.wait().code == 0);
  CHECK(child.output() == "1 here\n" + scratch.path().string() + "\n");
  CHECK(read_file(scratch / "log.txt") == "wrong\n");
  Child(setting).wait();
  CHECK(read_file(scratch / "log.txt") == "wrong\nwrong\n");
}

TEST_CASE("a child is watched without waiting, and waiting ends with it", "[unit]") {
  Child child(shell("read line"));  // its input is empty: it ends at once
  const Child* const one = &child;
  while (!child.poll()) wait_for_any({&one, 1}, 10.0);
  CHECK(child.poll()->code == 1);

  Child patient(shell("exec sleep 60"));
  CHECK_FALSE(patient.poll());
  patient.stop();
  CHECK(patient.wait().signal == SIGTERM);
}

TEST_CASE("a child is stopped even before it is another program, whatever this one does at a signal", "[unit]") {
  const auto before = std::signal(SIGTERM, [](int) {});
  for (int i = 0; i < 10; ++i) {
    Child child(shell("exec sleep 5"));
    child.stop();
    CHECK(child.wait().signal == SIGTERM);
  }
  std::signal(SIGTERM, before);
}

TEST_CASE("a child ends when its parent is killed", "[unit]") {
  constexpr int kPassedOn = 9;
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t parent = fork();
  if (parent == 0) {
    dup2(ends[1], kPassedOn);
    close(ends[0]);
    close(ends[1]);
    const Child child({.words = {"-c", "echo >&9; exec sleep 60"}, .program = "/bin/sh"});
    pause();
    _exit(0);
  }
  close(ends[1]);
  char byte = 0;
  REQUIRE(read(ends[0], &byte, 1) == 1);  // the child is there
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  pollfd end{ends[0], POLLIN, 0};
  REQUIRE(poll(&end, 1, 30000) == 1);
  CHECK(read(ends[0], &byte, 1) == 0);  // the end of the file: nobody holds the other end any more
  close(ends[0]);
}

TEST_CASE("cores and GPUs are shared out over the places", "[unit]") {
  const RunnerOptions options{.processes = 3, .threads = 2, .gpus = {"0", "1"}};
  using Words = std::vector<std::string>;
  CHECK(child_environment(options, 2) ==
        Words{"OMP_NUM_THREADS=2", "OMP_WAIT_POLICY=passive", "CUDA_VISIBLE_DEVICES=0"});
  CHECK(child_environment({.threads = 4}, 1) == Words{"OMP_NUM_THREADS=4", "OMP_WAIT_POLICY=passive"});
  CHECK(gpu_names(2, nullptr) == Words{"0", "1"});
  CHECK(gpu_names(2, "5,7") == Words{"5", "7"});
  CHECK(gpu_names(1, "GPU-1f2e,7") == Words{"GPU-1f2e"});
  CHECK(gpu_names(0, "").empty());
  CHECK(usable_cores() >= 1);
}

}  // namespace ordo::test
