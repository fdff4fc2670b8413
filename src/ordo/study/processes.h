// SPDX-License-Identifier: Apache-2.0
// Child processes: this very program, started with other words and an environment of its own, watched without blocking.
// A child never outlives its parent: however that ends, the kernel sends the child a SIGTERM, at which a training
// writes a checkpoint.
#pragma once
#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ordo/core/files.h"

namespace ordo {

struct ChildSetting {
  std::vector<std::string> words;             // after the program's name
  fs::path folder = {};                       // its current folder; empty: this process's
  std::vector<std::string> environment = {};  // "NAME=value", in place of what this process has
  fs::path log = {};                          // standard error is appended to it, standard output unless captured
  bool captured = false;                      // standard output is kept for output()
  fs::path program = "/proc/self/exe";        // by this name it is found even when its file was replaced meanwhile
};

// How a child ended: by itself with a code, or by a signal.
struct ChildEnd {
  int code = 0, signal = 0;
  std::string text() const;  // "ended with exit 3", "was killed by signal 15 (Terminated)"
};

// A file descriptor with one owner.
class OwnDescriptor {
 public:
  OwnDescriptor() = default;
  OwnDescriptor(int number, std::string_view what);  // throws Error, with errno in words, when it is negative
  OwnDescriptor(OwnDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  OwnDescriptor& operator=(OwnDescriptor&& other) noexcept;
  ~OwnDescriptor();
  int get() const { return number_; }

 private:
  int number_ = -1;
};

class Child {
 public:
  explicit Child(const ChildSetting& setting);  // throws Error when there can be no new process
  ~Child();                                     // asks it to end, and waits until it has
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void stop() const;               // SIGTERM
  std::optional<ChildEnd> poll();  // never waits
  ChildEnd wait();
  std::string output() const;                   // of one that was captured and has ended
  int ending() const { return ending_.get(); }  // a descriptor that becomes readable when it ends

 private:
  pid_t pid_ = -1;
  OwnDescriptor ending_, output_;
  std::optional<ChildEnd> end_;
};

// Waits until one of them ends, a signal arrives, or the time is over.
void wait_for_any(std::span<const Child* const> children, double seconds);

// As a shell takes it for one word: quoted where need be.
std::string shell_word(const std::string& word);

// Cores that this process may use.
int64_t usable_cores();

}  // namespace ordo
