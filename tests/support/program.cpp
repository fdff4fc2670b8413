// SPDX-License-Identifier: Apache-2.0
#include "support/program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "ordo/core/errors.h"

namespace ordo::test {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::vector<char*> pointers(Arguments& texts) {
  std::vector<char*> list;
  for (auto& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

// A temporary file, so that a program which never reads its input blocks nobody.
int input_file(const std::string& text) {
  std::FILE* file = std::tmpfile();
  require(file != nullptr, "no temporary file for standard input");
  std::fwrite(text.data(), 1, text.size(), file);
  std::rewind(file);
  const int descriptor = dup(fileno(file));
  std::fclose(file);
  lseek(descriptor, 0, SEEK_SET);
  return descriptor;
}

}  // namespace

Scratch::Scratch() {
  std::string pattern = (fs::temp_directory_path() / "ordo-test-XXXXXX").string();
  require(mkdtemp(pattern.data()) != nullptr, "no temporary folder at {}", pattern);
  path_ = pattern;
}
Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}
fs::path Scratch::write(const std::string& name, const std::string& text) const {
  const fs::path path = path_ / name;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

Process::Process(const fs::path& program, const Arguments& arguments, const Setting& setting)
    : deadline_(now() + setting.seconds) {
  int out[2], err[2];
  require(pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0, "no pipe");
  const int input = input_file(setting.input);
  Arguments words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  Arguments environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  for (const auto& entry : setting.environment) {
    const std::string name = entry.substr(0, entry.find('=') + 1);
    std::erase_if(environment, [&](const std::string& known) { return known.starts_with(name); });
    environment.push_back(entry);
  }
  const auto argv = pointers(words), envp = pointers(environment);
  child_ = fork();
  require(child_ >= 0, "no new process");
  if (child_ == 0) {
    dup2(input, STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    if (setting.folder.empty() || chdir(setting.folder.c_str()) == 0) execve(argv[0], argv.data(), envp.data());
    _exit(127);
  }
  close(input);
  close(out[1]);
  close(err[1]);
  out_ = out[0];
  err_ = err[0];
}

Process::~Process() {
  if (child_ > 0) {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  if (out_ >= 0) close(out_);
  if (err_ >= 0) close(err_);
}

void Process::signal(int number) const { kill(child_, number); }

bool Process::read_some() {
  pollfd open[2] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
  const double left = deadline_ - now();
  if (left <= 0 || poll(open, 2, static_cast<int>(left * 1000) + 1) <= 0) {
    kill(child_, SIGKILL);
    deadline_ = now() + 10;
    return out_ >= 0 || err_ >= 0;
  }
  const auto take = [](pollfd& from, int& descriptor, std::string& into) {
    if (descriptor < 0 || from.revents == 0) return;
    char buffer[4096];
    const ssize_t got = read(descriptor, buffer, sizeof buffer);
    if (got > 0) {
      into.append(buffer, static_cast<size_t>(got));
    } else {
      close(descriptor);
      descriptor = -1;
    }
  };
  take(open[0], out_, outcome_.out);
  take(open[1], err_, outcome_.err);
  return out_ >= 0 || err_ >= 0;
}

bool Process::wait_for(const std::string& text) {
  const auto there = [&] {
    return outcome_.out.find(text) != std::string::npos || outcome_.err.find(text) != std::string::npos;
  };
  while (!there())
    if (!read_some()) return there();
  return true;
}

Outcome Process::finish() {
  while (read_some()) {
  }
  int status = 0;
  waitpid(child_, &status, 0);
  child_ = -1;
  outcome_.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome_;
}

const fs::path& ordo_program() {
  static const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / "ordo";  // beside the tests
  return program;
}
Outcome run_program(const fs::path& program, const Arguments& arguments, const Setting& setting) {
  return Process(program, arguments, setting).finish();
}
Outcome run_ordo(const Arguments& arguments, const Setting& setting) {
  return run_program(ordo_program(), arguments, setting);
}

}  // namespace ordo::test
