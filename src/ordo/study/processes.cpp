// SPDX-License-Identifier: Apache-2.0
#include "ordo/study/processes.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "ordo/core/errors.h"

namespace ordo {

namespace {

constexpr int kNotStarted = 127;  // what a shell gives for a program that cannot be run

std::vector<char*> child_pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (auto& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

std::vector<std::string> changed_environment(const std::vector<std::string>& changes) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  for (const auto& change : changes) {
    const std::string name = change.substr(0, change.find('=') + 1);
    std::erase_if(all, [&](const std::string& known) { return known.starts_with(name); });
    all.push_back(change);
  }
  return all;
}

struct ChildFiles {
  int in, out, err, alive;
};

// In the new process, before it becomes another program: only calls that are safe after a fork of a process with
// threads.
[[noreturn]] void become(const char* program, char* const* words, char* const* environment, const char* folder,
                         const ChildFiles& files, pid_t parent, const sigset_t& mask) {
  std::signal(SIGTERM, SIG_DFL);  // what this process does at one would leave the child running
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(kNotStarted);  // it ended before the line above
  const bool ready = dup2(files.in, STDIN_FILENO) >= 0 && dup2(files.out, STDOUT_FILENO) >= 0 &&
                     dup2(files.err, STDERR_FILENO) >= 0 && fcntl(files.alive, F_SETFD, 0) == 0 &&
                     (*folder == '\0' || chdir(folder) == 0);
  if (ready) execve(program, words, environment);
  _exit(kNotStarted);
}

}  // namespace

std::string ChildEnd::text() const {
  if (signal == 0) return fmt::format("ended with exit {}", code);
  return fmt::format("was killed by signal {} ({}{})", signal, strsignal(signal),
                     signal == SIGKILL ? ", as the system does when memory runs out" : "");
}

OwnDescriptor::OwnDescriptor(int number, std::string_view what) : number_(number) {
  require(number >= 0, "cannot open {} for a child process: {}", what, std::strerror(errno));
}
OwnDescriptor& OwnDescriptor::operator=(OwnDescriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}
OwnDescriptor::~OwnDescriptor() {
  if (number_ >= 0) ::close(number_);
}

Child::Child(const ChildSetting& setting) {
  std::vector<std::string> words{"ordo"}, environment = changed_environment(setting.environment);
  words.insert(words.end(), setting.words.begin(), setting.words.end());
  const auto argv = child_pointers(words), envp = child_pointers(environment);
  const std::string log = setting.log.empty() ? "/dev/null" : setting.log.string();

  int ends[2] = {-1, -1};
  require(pipe2(ends, O_CLOEXEC) == 0, "no pipe for a child process: {}", std::strerror(errno));
  ending_ = OwnDescriptor(ends[0], "a pipe");
  const OwnDescriptor alive(ends[1], "a pipe");
  const OwnDescriptor in(::open("/dev/null", O_RDONLY | O_CLOEXEC), "/dev/null");
  const OwnDescriptor err(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666), log);
  if (setting.captured) output_ = OwnDescriptor(memfd_create("output", MFD_CLOEXEC), "memory");
  const int out = setting.captured ? output_.get() : err.get();
  const pid_t parent = getpid();
  // A stop that comes before the child is another program waits for its own answer to it.
  sigset_t stop, mask;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, &mask);
  pid_ = fork();
  if (pid_ == 0)
    become(setting.program.c_str(), argv.data(), envp.data(), setting.folder.c_str(),
           {.in = in.get(), .out = out, .err = err.get(), .alive = alive.get()}, parent, mask);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  require(pid_ > 0, "no new process: {}", std::strerror(errno));
}

Child::~Child() {
  if (end_ || pid_ <= 0) return;
  stop();
  wait();
}

void Child::stop() const {
  if (!end_) ::kill(pid_, SIGTERM);
}

std::optional<ChildEnd> Child::poll() {
  pollfd end{ending_.get(), POLLIN, 0};
  if (!end_ && ::poll(&end, 1, 0) > 0) wait();
  return end_;
}

ChildEnd Child::wait() {
  if (end_) return *end_;
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  end_ = WIFEXITED(status) ? ChildEnd{.code = WEXITSTATUS(status)} : ChildEnd{.signal = WTERMSIG(status)};
  return *end_;
}

std::string Child::output() const {
  return output_.get() < 0 ? "" : read_file(fmt::format("/proc/self/fd/{}", output_.get()));
}

void wait_for_any(std::span<const Child* const> children, double seconds) {
  std::vector<pollfd> ends;
  for (const Child* child : children) ends.push_back({child->ending(), POLLIN, 0});
  ::poll(ends.data(), ends.size(), static_cast<int>(1000.0 * std::max(seconds, 0.0)));
}

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

int64_t usable_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  return sched_getaffinity(0, sizeof cores, &cores) == 0 ? std::max(1, CPU_COUNT(&cores)) : 1;
}

}  // namespace ordo
