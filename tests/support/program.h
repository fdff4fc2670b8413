// SPDX-License-Identifier: Apache-2.0
// Runs the program `ordo` as a user's shell would, and looks at what it prints and how it ends.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace ordo::test {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

// A folder of the test's own under the system's temporary one; removed at the end.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const fs::path& path() const { return path_; }
  fs::path operator/(const std::string& name) const { return path_ / name; }
  fs::path write(const std::string& name, const std::string& text) const;  // creates folders on the way

 private:
  fs::path path_;
};

struct Outcome {
  int code = -1;  // exit code; 128 + n when signal n ended it
  std::string out, err;
};
struct Setting {
  fs::path folder = {};        // current folder; empty: that of the test
  std::string input = {};      // standard input
  Arguments environment = {};  // "NAME=value", on top of the test's own
  double seconds = 120.0;      // then it is killed, and the code is that of SIGKILL
};

// A program under way.
class Process {
 public:
  Process(const fs::path& program, const Arguments& arguments, const Setting& setting);
  ~Process();  // killed if it still runs
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  void signal(int number) const;
  // Reads its output until `text` stands in it (standard error counts too) or it ends: whether it came.
  bool wait_for(const std::string& text);
  Outcome finish();  // reads to the end and waits

 private:
  bool read_some();  // false when both outputs are closed
  pid_t child_ = -1;
  int out_ = -1, err_ = -1;
  double deadline_;
  Outcome outcome_;
};

const fs::path& ordo_program();  // build folder/ordo
Outcome run_program(const fs::path& program, const Arguments& arguments, const Setting& setting = {});
Outcome run_ordo(const Arguments& arguments, const Setting& setting = {});

}  // namespace ordo::test
