// SPDX-License-Identifier: Apache-2.0
#include "ordo/core/log.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "ordo/core/errors.h"
#include "ordo/core/files.h"
#include "support/catch.h"
#include "support/program.h"

namespace ordo {

namespace {

// Standard error goes elsewhere while it lives.
class Redirected {
 public:
  explicit Redirected(int target) : before_(dup(STDERR_FILENO)) {
    std::fflush(stderr);
    dup2(target, STDERR_FILENO);
  }
  ~Redirected() {
    log::progress("");
    std::fflush(stderr);
    dup2(before_, STDERR_FILENO);
    close(before_);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

 private:
  int before_;
};

// What `say` writes to a standard error that is a file.
template <class Say>
std::string in_a_file(Say say) {
  const test::Scratch scratch;
  const int file = open((scratch / "stderr").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  {
    const Redirected redirected(file);
    say();
  }
  close(file);
  return read_file(scratch / "stderr");
}

// What it writes to a terminal.
template <class Say>
std::string on_a_terminal(Say say, const char* kind = "xterm") {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  REQUIRE(grantpt(terminal) == 0);
  REQUIRE(unlockpt(terminal) == 0);
  const int user = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  REQUIRE(user >= 0);
  setenv("TERM", kind, 1);
  {
    const Redirected redirected(user);
    say();
    std::fputs("<end>", stderr);
  }
  std::string text;
  char piece[4096];
  while (text.find("<end>") == std::string::npos) {
    const ssize_t got = read(terminal, piece, sizeof piece);
    if (got <= 0) break;
    text.append(piece, static_cast<size_t>(got));
  }
  close(user);
  close(terminal);
  return text.substr(0, text.find("<end>"));
}

constexpr const char* kClear = "\r\x1b[K";

}  // namespace

TEST_CASE("log: lines are plain, warnings and errors say so", "[unit]") {
  const std::string text = in_a_file([] {
    log::set_level(log::Level::info);
    log::debug("hidden {}", 1);
    log::info("step {}", 2);
    log::warn("odd {}", "{}");
    log::write(log::Level::error, "bad");
  });
  CHECK(text == "step 2\nwarning: odd {}\nerror: bad\n");
}

TEST_CASE("log: the level decides what is shown", "[unit]") {
  const std::string text = in_a_file([] {
    log::set_level(log::Level::debug);
    log::debug("a");
    log::set_level(log::Level::warning);
    log::info("b");
    log::progress("c");
    log::warn("d");
    log::set_level(log::Level::info);
  });
  CHECK(text == "debug: a\nwarning: d\n");
}

TEST_CASE("log: off a terminal progress that is over soon leaves no line", "[unit]") {
  const std::string text = in_a_file([] {
    for (int i = 0; i < 100; ++i) log::progress(fmt::format("step {}", i));
    log::info("evaluated");
    log::progress("");
  });
  CHECK(text == "evaluated\n");
}

TEST_CASE("log: off a terminal progress is a plain line every few seconds", "[slow]") {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const std::string text = in_a_file([&] {
    for (int i = 0; Clock::now() - begin < std::chrono::seconds(6); ++i) log::progress("step");
    log::progress("");
  });
  CHECK(text == "step\n");
}

TEST_CASE("log: on a terminal progress is drawn in place, and lines scroll above it", "[unit]") {
  const std::string text = on_a_terminal([] {
    log::progress("step 1");
    log::info("evaluated");
    log::warn("odd");
    log::progress("");
  });
  const std::string redrawn = std::string(kClear) + "step 1";
  CHECK(text ==
        redrawn + kClear + "evaluated\r\n" + redrawn + kClear + "\x1b[33mwarning:\x1b[0m odd\r\n" + redrawn + kClear);
}

TEST_CASE("log: progress never wraps", "[unit]") {
  const std::string text = on_a_terminal([] { log::progress(std::string(500, 'x')); });
  CHECK(text.size() < 100);
}

TEST_CASE("log: a dumb terminal and NO_COLOR get no control characters", "[unit]") {
  const auto say = [] {
    log::progress("step 1");
    log::warn("odd");
  };
  CHECK(on_a_terminal(say, "dumb") == "warning: odd\r\n");
  setenv("NO_COLOR", "1", 1);
  const std::string text = on_a_terminal(say);
  unsetenv("NO_COLOR");
  CHECK(text == "warning: odd\r\n");
}

TEST_CASE("log: the file gets everything from debug up, with time and level", "[unit]") {
  const test::Scratch scratch;
  in_a_file([&] {
    log::to_file(scratch / "log.txt");
    log::debug("a");
    log::warn("b");
    log::progress("never");
    log::to_file("");
    log::info("after");
  });
  const std::string text = read_file(scratch / "log.txt");
  const std::string stamp = R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} )";
  CHECK(std::regex_match(text, std::regex(stamp + "debug +a\n" + stamp + "warning +b\n")));
}

TEST_CASE("log: a file is gone on with", "[unit]") {
  const test::Scratch scratch;
  write_file(scratch / "log.txt", "before\n");
  in_a_file([&] {
    log::to_file(scratch / "log.txt");
    log::info("now");
    log::to_file("");
  });
  CHECK(read_file(scratch / "log.txt").starts_with("before\n"));
}

TEST_CASE("log: a file that cannot be opened is an error that names it", "[unit]") {
  const test::Scratch scratch;
  CHECK_THROWS_AS(log::to_file(scratch.path()), Error);
  CHECK_THROWS_WITH(log::to_file(scratch.path()), Catch::Contains(scratch.path().string()));
}

TEST_CASE("log: a full disk is said once and stops nothing", "[unit]") {
  const std::string text = in_a_file([] {
    log::to_file("/dev/full");
    log::info("a");
    log::info("b");
    log::to_file("");
  });
  CHECK(text.find("a\n") != std::string::npos);
  CHECK(text.find("b\n") != std::string::npos);
  const size_t first = text.find("warning: the log file cannot be written");
  CHECK(first != std::string::npos);
  CHECK(text.find("cannot be written", first + 30) == std::string::npos);
}

TEST_CASE("log: lines of several threads stay whole", "[unit]") {
  const std::string text = in_a_file([] {
    std::vector<std::jthread> threads;
    for (char c = 'a'; c < 'e'; ++c)
      threads.emplace_back([c] {
        for (int i = 0; i < 200; ++i) {
          log::info("{}", std::string(50, c));
          log::progress("p");
        }
      });
  });
  const std::regex line("(a{50}|b{50}|c{50}|d{50}|p)\n");
  size_t lines = 0;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), line); it != std::sregex_iterator(); ++it)
    lines += it->str().size() == 51;
  CHECK(lines == 800);
  CHECK(std::regex_replace(text, line, "").empty());
}

}  // namespace ordo
